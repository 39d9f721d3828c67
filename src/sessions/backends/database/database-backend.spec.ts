import { describe, expect, it } from '@jest/globals';
import { groupRows, noticeRow, sessionHeader, sessionKey } from '../../../../test/builders/session-rows.js';
import type { LogAppend, SessionDatabase } from '../../../storage/session-log/session-database.js';
import { DatabaseBackend } from './database-backend.js';

const KEY = sessionKey('chat');
const HEADER = sessionHeader(KEY);
const ALL = { materialized: false, barrier: true };

/** Keeps what it is given; the append of number `failing` (from 0) is refused. */
class RecordingDatabase {
  readonly appends: LogAppend[] = [];
  inFlight = 0;
  mostInFlight = 0;

  constructor(private readonly failing = -1) {}

  async append(_key: unknown, batch: LogAppend): Promise<{ readonly revision: string }> {
    const at = this.appends.push(batch) - 1;
    this.inFlight += batch.rows.length;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    this.inFlight -= batch.rows.length;
    if (at === this.failing) throw new Error('the disk is gone');
    return { revision: String(at) };
  }

  get seqs(): readonly number[] {
    return this.appends.flatMap(({ rows }) => rows.map(({ seq }) => seq));
  }
}

const over = (database: RecordingDatabase): DatabaseBackend =>
  new DatabaseBackend(database as unknown as SessionDatabase);

describe('a long batch for the database', () => {
  it('goes in parts that keep order and whole groups, and only the last of them promises', async () => {
    const database = new RecordingDatabase();
    const before = Array.from({ length: 2_045 }, (_, seq) => noticeRow(seq));
    const rows = [...before, ...groupRows(2_045, 9), ...Array.from({ length: 50 }, (_, n) => noticeRow(2_054 + n))];
    const { revision } = await over(database).appendBatch(KEY, HEADER, rows, ALL);
    expect(revision).toBe('1');
    expect(database.seqs).toEqual(rows.map(({ seq }) => seq));
    expect(database.appends.map(({ rows: part }) => part.length)).toEqual([2_054, 50]);
    expect(database.appends.map(({ barrier, materialized }) => [barrier, materialized])).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it('stops at the part that fails, tells why, and leaves room for the next batch', async () => {
    const database = new RecordingDatabase(0);
    const backend = over(database);
    const rows = Array.from({ length: 20_000 }, (_, seq) => noticeRow(seq));
    await expect(backend.appendBatch(KEY, HEADER, rows, ALL)).rejects.toThrow('the disk is gone');
    expect(database.appends).toHaveLength(1);
    await backend.appendBatch(KEY, HEADER, rows, ALL);
    expect(database.seqs.slice(-20_000)).toEqual(rows.map(({ seq }) => seq));
  });

  it('shares the memory there is for text with the batches of other sessions', async () => {
    const database = new RecordingDatabase();
    const backend = over(database);
    const rows = Array.from({ length: 6_000 }, (_, seq) => noticeRow(seq));
    const keys = Array.from({ length: 8 }, (_, n) => sessionKey(`chat-${n}`));
    await Promise.all(keys.map((key) => backend.appendBatch(key, sessionHeader(key), rows, ALL)));
    expect(database.seqs).toHaveLength(48_000);
    expect(database.mostInFlight).toBeLessThanOrEqual(8_192);
  });

  it('of no rows is still a promise', async () => {
    const database = new RecordingDatabase();
    await over(database).appendBatch(KEY, HEADER, [], { materialized: true, barrier: true });
    expect(database.appends).toMatchObject([{ barrier: true, rows: [] }]);
  });
});
