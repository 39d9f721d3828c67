import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import type { UnitWriter } from '../../../src/storage/sqlite/unit-writer.js';
import { StoreBroken, StoreBusy } from '../../../src/storage/sqlite/write-failure.js';
import type { Unit } from '../../../src/storage/unit.js';
import { CallScript, approvalInsert, event, metaInsert, newId, unit } from './unit-builders.js';
import { newWriterHarness } from './writer-harness.js';
import type { WriterHarness } from './writer-harness.js';

const LATE_FAILURE = { op: 'set', table: 'meta', where: { name: 'none' }, set: { value: '' }, guard: 'late' } as const;

describe('the writer of a SQLite store', () => {
  let harness: WriterHarness;
  beforeEach(async () => {
    harness = await newWriterHarness();
  });
  afterEach(() => harness.discard());

  const count = (table: string): number =>
    Number(harness.database.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  const outcomes = (writer: UnitWriter, units: readonly Unit[]): string[] =>
    writer.apply(units).map(({ outcome }) => outcome);

  it('goes by the clock it was given, to the millisecond', () => {
    const writer = harness.writer();
    const approvalId = newId('approval');
    const executeBy = '2031-01-01T00:10:00.000Z';
    writer.apply([unit({ writes: [approvalInsert(approvalId, { status: 'granted', executeBy, decidedBy: [] })] })]);
    const guarded = (clock: 'after_now' | 'not_after_now'): Unit =>
      unit({
        guards: [
          {
            name: clock,
            table: 'approvals',
            where: { approval_id: approvalId, execute_by: { clock } },
            expect: 'present',
          },
        ],
      });
    const both = [guarded('after_now'), guarded('not_after_now')];
    harness.clock.nowMs = Date.parse(executeBy) - 1;
    expect(outcomes(writer, both)).toEqual(['committed', 'guard']);
    harness.clock.nowMs += 1;
    expect(outcomes(writer, both)).toEqual(['guard', 'committed']);
  });

  it('stamps what it records with that clock', () => {
    harness.clock.nowMs = Date.parse('2033-03-03T03:03:03.333Z');
    const [result] = harness.writer().apply([new CallScript().proposeAndDispatch()]);
    expect(result).toMatchObject({ outcome: 'committed', committed: { recordedAt: '2033-03-03T03:03:03.333Z' } });
    const times = harness.database.prepare('SELECT DISTINCT recorded_at FROM events').pluck().all();
    expect(times).toEqual(['2033-03-03T03:03:03.333Z']);
  });

  it.each(['events', 'positions', 'idempotency'])('refuses to change or delete rows of %s, by trigger', (table) => {
    harness.writer().apply([new CallScript().proposeAndDispatch()]);
    const [column] = harness.database.pragma(`table_info(${table})`) as { name: string }[];
    for (const sql of [`UPDATE ${table} SET ${column?.name} = ${column?.name}`, `DELETE FROM ${table}`]) {
      expect(() => harness.database.exec(sql)).toThrow(`${table} is immutable`);
    }
    expect(() => harness.database.exec(`INSERT OR REPLACE INTO ${table} SELECT * FROM ${table}`)).toThrow(
      'is immutable',
    );
    expect(count(table)).toBeGreaterThan(0);
  });

  it('begins every transaction IMMEDIATE (Y47)', () => {
    const prepared: string[] = [];
    const watched = new Proxy(harness.database, {
      get(target, name) {
        if (name === 'prepare') {
          return (sql: string) => {
            prepared.push(sql);
            return target.prepare(sql);
          };
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    harness.writer(watched).apply([new CallScript().proposeAndDispatch()]);
    expect(prepared.filter((sql) => /^\s*BEGIN/i.test(sql))).toEqual(['BEGIN IMMEDIATE']);
  });

  it('makes one transaction of a batch, and one flush', () => {
    const writer = harness.writer();
    const before = harness.database.prepare('PRAGMA data_version').pluck();
    const other = new Database(harness.path, { readonly: true });
    const version = other.prepare('PRAGMA data_version').pluck();
    const first = version.get();
    writer.apply(Array.from({ length: 10 }, () => new CallScript().proposeAndDispatch()));
    const second = version.get();
    writer.apply([unit({ writes: [metaInsert('a', '')] })]);
    expect([first !== second, second !== version.get()]).toEqual([true, true]);
    expect(before.get()).toBeDefined();
    other.close();
  });

  it('gives the positions of a failed unit to the next', () => {
    const writer = harness.writer();
    const failing = (): Unit => {
      const whole = new CallScript().proposeAndDispatch();
      return { ...whole, writes: [...whole.writes, LATE_FAILURE] };
    };
    const results = writer.apply([
      failing(),
      new CallScript().proposeAndDispatch(),
      failing(),
      new CallScript().proposeAndDispatch(),
    ]);
    expect(results.map((result) => (result.outcome === 'committed' ? result.committed.firstPosition : null))).toEqual([
      null,
      0,
      null,
      4,
    ]);
    expect(harness.database.prepare('SELECT max(idx), count(*) FROM positions').raw().get()).toEqual([7, 8]);
    expect(writer.head).toBe(8);
  });

  it('forgets the key of a session whose first unit was rolled back, and makes another', () => {
    const writer = harness.writer();
    const whole = new CallScript('run_new').proposeAndDispatch();
    expect(outcomes(writer, [{ ...whole, writes: [...whole.writes, LATE_FAILURE] }])).toEqual(['guard']);
    expect(count('data_keys')).toBe(0);
    expect(outcomes(writer, [{ ...whole, writes: [...whole.writes, LATE_FAILURE] }, whole])).toEqual([
      'guard',
      'committed',
    ]);
    const used = harness.database.prepare('SELECT DISTINCT data_key_id FROM events').pluck().all();
    expect(used).toEqual(harness.database.prepare('SELECT data_key_id FROM data_keys').pluck().all());
    expect(used).toHaveLength(1);
  });

  it('has one key per session, and one for what a tenant does outside of sessions', () => {
    const refused = event('policy.activation_refused', { problems: [] });
    const appends = [{ stream: { kind: 'policy', id: 'p' } as const, expectedVersion: 0, events: [refused] }];
    harness
      .writer()
      .apply([
        new CallScript('run_1').proposeAndDispatch(),
        new CallScript('run_1').proposeAndDispatch(),
        new CallScript('run_2').proposeAndDispatch(),
        unit({ appends }),
      ]);
    const scopes = harness.database.prepare('SELECT scope FROM data_keys ORDER BY scope').pluck().all();
    expect(scopes).toEqual(['session/acme/run_1', 'session/acme/run_2', 'tenant/acme']);
  });

  it('does not unseal under a key that was moved to another session', () => {
    harness.writer().apply([new CallScript('run_1').proposeAndDispatch()]);
    harness.database.exec(`UPDATE data_keys SET scope = 'session/acme/run_2'`);
    const [result] = harness.writer().apply([new CallScript('run_2').proposeAndDispatch()]);
    expect(result).toEqual({ outcome: 'refused', message: 'sealed bytes do not open with this key and context' });
  });

  describe('when the disk is full', () => {
    const fill = (): void => {
      const pages = Number(harness.database.pragma('page_count', { simple: true }));
      harness.database.pragma(`max_page_count = ${pages + 4}`);
    };
    const big = (): Unit => {
      const problems = ['x'.repeat(200_000)];
      const events = [event('policy.activation_refused', { problems })];
      return unit({ appends: [{ stream: { kind: 'policy', id: newId('unit') }, expectedVersion: 0, events }] });
    };

    it('rejects the whole batch and leaves nothing of it', () => {
      const writer = harness.writer();
      writer.apply([new CallScript().proposeAndDispatch()]);
      const before = count('events');
      fill();
      expect(() => writer.apply([unit({ writes: [metaInsert('small', '')] }), big(), big()])).toThrow(StoreBroken);
      expect(harness.database.inTransaction).toBe(false);
      expect(count('events')).toBe(before);
      expect(harness.database.prepare(`SELECT count(*) FROM meta WHERE name = 'small'`).pluck().get()).toBe(0);
    });

    it('refuses every later unit until it has written for itself, which it does when there is room again', () => {
      const writer = harness.writer();
      fill();
      expect(() => writer.apply([big()])).toThrow('SQLITE_FULL');
      expect(() => writer.recover()).toThrow('SQLITE_FULL');
      harness.database.pragma('max_page_count = 1000000');
      expect(() => writer.apply([unit({ writes: [metaInsert('small', '')] })])).toThrow(StoreBroken);
      expect(count('events')).toBe(0);
      expect(writer.recover()).toBe(0);
      expect(outcomes(writer, [big(), new CallScript().proposeAndDispatch()])).toEqual(['committed', 'committed']);
    });

    it('may still recover when another connection writes in the moment in which it looks', () => {
      harness.database.pragma('busy_timeout = 50');
      const writer = harness.writer();
      fill();
      expect(() => writer.apply([big()])).toThrow('SQLITE_FULL');
      harness.database.pragma('max_page_count = 1000000');
      const other = new Database(harness.path);
      other.exec('BEGIN IMMEDIATE');
      expect(() => writer.recover()).toThrow('SQLITE_FULL');
      other.exec('ROLLBACK');
      other.close();
      expect(writer.recover()).toBe(0);
      expect(outcomes(writer, [big()])).toEqual(['committed']);
    });
  });

  describe.each(['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_WRITE', 'SQLITE_FULL', 'SQLITE_BUSY', 'SQLITE_CORRUPT'])(
    'when the commit fails with %s',
    (code) => {
      /** The connection, except that COMMIT fails once before it is carried out. */
      const failing = (): Database.Database =>
        new Proxy(harness.database, {
          get(target, name) {
            if (name === 'prepare') {
              return (sql: string) => (sql === 'COMMIT' ? { run: () => fail(code) } : target.prepare(sql));
            }
            const value: unknown = Reflect.get(target, name, target);
            return typeof value === 'function' ? value.bind(target) : value;
          },
        });
      const fail = (failure: string): never => {
        throw new Database.SqliteError('the commit has failed', failure);
      };

      it('does not try the flush again, keeps nothing and refuses what comes later', () => {
        const writer = harness.writer(failing());
        expect(() => writer.apply([new CallScript().proposeAndDispatch()])).toThrow(StoreBroken);
        expect(() => writer.apply([unit({})])).toThrow(code);
        // After anything but a full disk nobody knows what a flush has left: it is over for this process.
        expect(() => writer.recover()).toThrow(code);
        expect(() => writer.apply([unit({})])).toThrow(code);
        expect(harness.database.inTransaction).toBe(false);
        expect(count('events')).toBe(0);
      });
    },
  );

  it('takes a lock of another connection for busy and not for broken, and goes on afterwards', () => {
    harness.database.pragma('busy_timeout = 50');
    const writer = harness.writer();
    const other = new Database(harness.path);
    other.exec('BEGIN IMMEDIATE');
    const whole = new CallScript().proposeAndDispatch();
    expect(() => writer.apply([whole])).toThrow(StoreBusy);
    other.exec('ROLLBACK');
    expect(outcomes(writer, [whole])).toEqual(['committed']);
    other.close();
  });

  it('vouches for the store only while it is the owner of it', () => {
    const writer = harness.writer();
    expect(writer.isOwner).toBe(true);
    const row = { instance_id: 'ins_1', epoch: 1, pid: 1, started_at: '', heartbeat_at: '', state: 'running' };
    writer.apply([unit({ writes: [{ op: 'insert', table: 'instances', row, takenGuard: 'instance' }] })]);
    writer.own({ instanceId: 'ins_1', epoch: 1 });
    expect(writer.isOwner).toBe(true);
    harness.database.exec(`UPDATE instances SET state = 'ended'`);
    expect(writer.isOwner).toBe(false);
  });

  it('goes on after the newest position, whoever wrote it', () => {
    harness.writer().apply([new CallScript().proposeAndDispatch()]);
    const again = harness.writer();
    expect(again.head).toBe(4);
    const [result] = again.apply([new CallScript().proposeAndDispatch()]);
    expect(result).toMatchObject({ committed: { firstPosition: 4 } });
  });
});
