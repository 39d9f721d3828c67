import { describe, expect, it } from '@jest/globals';
import type { EventRefs, NewEvent } from '../../../../src/domain/events/envelope.js';
import type { TableRow } from '../../../../src/storage/rows/tables.js';
import type { Append, Write } from '../../../../src/storage/unit.js';
import type { StoreUnderTest } from '../store-contract.js';
import { TENANT, event, newId, runInsert, unit } from '../unit-builders.js';

const at = (minute: number): string => `2031-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;

function session(parts: Partial<TableRow<'sessions'>> = {}): Write & { readonly row: TableRow<'sessions'> } {
  const row: TableRow<'sessions'> = {
    tenant: TENANT,
    session_id: 'chat',
    principal: '["alice"]',
    status: 'open',
    owner_epoch: 1,
    harness_instance_id: 'harness-a',
    parent: null,
    version: 2,
    created_at: at(0),
    updated_at: at(0),
    ...parts,
  };
  return { op: 'insert', table: 'sessions', row, takenGuard: 'session' };
}

function checkpoint(parts: Partial<TableRow<'checkpoints'>> = {}): Write {
  const row: TableRow<'checkpoints'> = {
    checkpoint_id: newId('checkpoint'),
    tenant: TENANT,
    session_id: 'chat',
    run_id: 'run_a',
    turn_id: null,
    kind: 'suspended',
    status: 'open',
    verdict: null,
    version: 1,
    created_at: at(0),
    updated_at: at(0),
    ...parts,
  };
  return { op: 'insert', table: 'checkpoints', row, takenGuard: 'checkpoint' };
}

const inSession = (refs: EventRefs, parts: Partial<NewEvent> = {}): NewEvent =>
  event('model.cancelled', { basis: 'reported' }, { refs, ...parts });

const appendTo = (id: string, events: readonly NewEvent[], expectedVersion = 0): Append => ({
  stream: { kind: 'run', id },
  expectedVersion,
  events,
});

export function describeSessions({ current }: StoreUnderTest): void {
  describe('sessions', () => {
    it('have ids of their callers, which are names within a tenant', async () => {
      const { store } = current();
      const [own, other] = [session(), session({ tenant: 'globex', principal: '["bob"]' })];
      await store.commit(unit({ writes: [own] }));
      await store.commit(unit({ tenant: 'globex', writes: [other] }));
      expect(await store.read.session(TENANT, 'chat')).toEqual(own.row);
      expect(await store.read.session('globex', 'chat')).toEqual(other.row);
      await expect(store.commit(unit({ writes: [session()] }))).rejects.toMatchObject({ guard: 'session' });
    });

    it('are listed newest first, page by page, for one principal or for all', async () => {
      const { store } = current();
      const rows = [1, 2, 3, 4].map((minute) =>
        session({
          session_id: `s${minute}`,
          created_at: at(minute),
          principal: minute === 2 ? '["bob"]' : '["alice"]',
        }),
      );
      await store.commit(unit({ writes: rows }));
      const ids = async (...asked: Parameters<typeof store.read.sessions>) =>
        (await store.read.sessions(...asked)).map(({ session_id }) => session_id);
      expect(await ids(TENANT, null, null, 10)).toEqual(['s4', 's3', 's2', 's1']);
      expect(await ids(TENANT, '["alice"]', null, 2)).toEqual(['s4', 's3']);
      expect(await ids(TENANT, '["alice"]', [at(3), 's3'], 2)).toEqual(['s1']);
      expect(await ids('globex', null, null, 2)).toEqual([]);
    });

    it('have one open run at a time, while runs that calls opened are sessions of their own', async () => {
      const { store } = current();
      const run = (id: string, more: object) =>
        runInsert(id, { session_id: 'chat', implicit: 0, label: null, ...more });
      await store.commit(unit({ writes: [run('run_a', {})] }));
      await expect(store.commit(unit({ writes: [run('run_b', {})] }))).rejects.toThrow();
      expect(await store.read.openRunOfSession(TENANT, 'chat')).toMatchObject({ run_id: 'run_a' });
      await store.commit(unit({ writes: [run('run_c', { status: 'completed' })] }));
      await store.commit(unit({ writes: [run('run_d', { session_id: 'run_d' })] }));
      expect(await store.read.openRunOfSession(TENANT, 'run_d')).toBeNull();
    });

    it('have checkpoints, the oldest first, until they are archived', async () => {
      const { store } = current();
      const writes = [
        checkpoint({ checkpoint_id: 'chk_2', created_at: at(2) }),
        checkpoint({ checkpoint_id: 'chk_1', created_at: at(1) }),
        checkpoint({ checkpoint_id: 'chk_0', status: 'archived' }),
        checkpoint({ checkpoint_id: 'chk_9', run_id: 'run_b' }),
      ];
      await store.commit(unit({ writes }));
      const open = await store.read.openCheckpoints(TENANT, 'run_a');
      expect(open.map(({ checkpoint_id }) => checkpoint_id)).toEqual(['chk_1', 'chk_2']);
      expect(await store.read.checkpoint('globex', 'chk_1')).toBeNull();
      expect(await store.read.checkpoint(TENANT, 'chk_0')).toMatchObject({ status: 'archived' });
    });

    it('find their governed events with what the ledger commits to, and nobody finds those of an implicit run', async () => {
      const { store } = current();
      const refs = { sessionId: 'chat', runId: 'run_a' };
      await store.commit(unit({ appends: [appendTo('run_a', [inSession(refs), inSession(refs)])] }));
      const implicit = { sessionId: 'run_x', runId: 'run_x' };
      await store.commit(unit({ appends: [appendTo('run_x', [inSession(implicit)])] }));
      await store.commit(unit({ appends: [appendTo('run_a', [inSession(refs)], 2)] }));
      const all = await store.read.sessionEvents(TENANT, 'chat', -1, 10);
      expect(all.map(({ event: { envelope } }) => envelope.version)).toEqual([1, 2, 3]);
      expect(new Set(all.map(({ payloadCommitment }) => payloadCommitment)).size).toBe(3);
      expect(all.every(({ payloadCommitment }) => /^[0-9a-f]{64}$/.test(payloadCommitment))).toBe(true);
      expect(all[0]?.event.payload).toEqual({ basis: 'reported' });
      const [first, , third] = all.map(({ event: { position } }) => position) as [number, number, number];
      expect(await store.read.sessionEvents(TENANT, 'chat', first, 1)).toEqual([all[1]]);
      expect(await store.read.sessionEventsBetween(TENANT, 'chat', first, third - 1)).toEqual([all[1]]);
      expect(await store.read.sessionEventsBetween(TENANT, 'chat', -1, third)).toEqual(all);
      expect(await store.read.sessionEvents(TENANT, 'run_x', -1, 10)).toEqual([]);
      expect(await store.read.sessionEvents('globex', 'chat', -1, 10)).toEqual([]);
    });
  });
}
