import { describe, expect, it } from '@jest/globals';
import type { Write } from '../../../../src/storage/unit.js';
import { outcomeOf } from '../outcomes.js';
import type { StoreUnderTest } from '../store-contract.js';
import { CallScript, TENANT, approvalInsert, metaInsert, newId, runInsert, unit } from '../unit-builders.js';

const impossible = (write: object): Write => write as Write;

export function describeRows({ current }: StoreUnderTest): void {
  describe('rows', () => {
    it('names the guard of an insert whose place is taken', async () => {
      const { store } = current();
      const first = new CallScript(newId('run'), 'same key');
      const second = new CallScript(newId('run'), 'same key');
      expect(await outcomeOf(store.commit(first.proposeAndDispatch()))).toBe('committed');
      expect(await outcomeOf(store.commit(second.proposeAndDispatch()))).toBe('guard idempotency');
      expect(await store.read.toolCall(TENANT, second.toolCallId)).toBeNull();
    });

    it('lets one open run have a label, and another once that has ended', async () => {
      const { store } = current();
      const [first, second] = [newId('run'), newId('run')];
      const labelled = (runId: string) => unit({ writes: [runInsert(runId, { label: 'nightly' })] });
      expect(await outcomeOf(store.commit(labelled(first)))).toBe('committed');
      expect(await outcomeOf(store.commit(labelled(second)))).toBe('guard run_label');
      const end = {
        op: 'set',
        table: 'runs',
        where: { run_id: first },
        set: { status: 'completed' },
        guard: 'run',
      } as const;
      await store.commit(unit({ writes: [end] }));
      expect(await outcomeOf(store.commit(labelled(second)))).toBe('committed');
    });

    it('changes a row only when every expected value is there', async () => {
      const { store } = current();
      const runId = newId('run');
      await store.commit(unit({ writes: [runInsert(runId)] }));
      const set = (version: number, status: 'suspending' | 'suspended') =>
        unit({
          writes: [
            {
              op: 'set',
              table: 'runs',
              where: { run_id: runId, version },
              set: { status, version: version + 1 },
              guard: 'run',
            },
          ],
        });
      expect(await outcomeOf(store.commit(set(1, 'suspending')))).toBe('committed');
      expect(await outcomeOf(store.commit(set(1, 'suspended')))).toBe('guard run');
      expect(await store.read.run(TENANT, runId)).toMatchObject({ status: 'suspending', version: 2 });
    });

    it('replaces and deletes operational rows by their key', async () => {
      const { store } = current();
      const call = new CallScript();
      await store.commit(call.proposeAndDispatch());
      const work = await store.read.workOf(TENANT, call.toolCallId);
      if (work === null) throw new Error('the proposal writes work');
      await store.commit(
        unit({ writes: [{ op: 'put', table: 'work', row: { ...work, fence: 2, kind: 'reconcile' } }] }),
      );
      expect(await store.read.workOf(TENANT, call.toolCallId)).toEqual({ ...work, fence: 2, kind: 'reconcile' });
      const gone = { op: 'delete', table: 'work', where: { tool_call_id: call.toolCallId } } as const;
      await store.commit(unit({ writes: [gone] }));
      expect(await store.read.workOf(TENANT, call.toolCallId)).toBeNull();
      expect(await outcomeOf(store.commit(unit({ writes: [gone] })))).toBe('committed');
    });

    it.each([
      ['a table that is none', { op: 'insert', table: 'users; DROP TABLE events', row: { id: 1 }, takenGuard: 'x' }],
      ['the events table', { op: 'delete', table: 'events', where: { event_id: 'x' } }],
      ['a column that is none', { op: 'put', table: 'meta', row: { name: 'x', value: 'y', 'value) --': 'z' } }],
      ['a condition on a column that is none', { op: 'delete', table: 'work', where: { '1=1 OR name': 'x' } }],
      ['an idempotency record to delete', { op: 'delete', table: 'idempotency', where: { tenant: TENANT } }],
      ['a call to replace', { op: 'put', table: 'tool_calls', row: { tool_call_id: 'x' } }],
      ['a run to delete', { op: 'delete', table: 'runs', where: { tenant: TENANT } }],
      ['a status that is none', runInsert('run_x', { status: 'dreaming' as never })],
      ['a number where text belongs', { op: 'put', table: 'meta', row: { name: 'x', value: 7 } }],
      ['text where a number belongs', runInsert('run_x', { version: 'one' as never })],
      ['a column left out', { op: 'insert', table: 'meta', row: { name: 'x' }, takenGuard: 'x' }],
      ['an undefined value', { op: 'put', table: 'meta', row: { name: 'x', value: undefined } }],
      ['half a surrogate pair', { op: 'put', table: 'meta', row: { name: 'x', value: 'a\udc00' } }],
      ['a number that is not whole', runInsert('run_x', { version: 1.5 })],
      ['a number that would be rounded', runInsert('run_x', { version: 2 ** 53 })],
    ])('refuses %s as a defect', async (_, write) => {
      const { store } = current();
      const before = metaInsert('before', 'it');
      expect(await outcomeOf(store.commit(unit({ writes: [before, impossible(write)] })))).toMatch(/^error /);
      expect(await store.read.meta('before')).toBeNull();
      expect(store.status()).toMatchObject({ ok: true, reasons: [] });
    });

    it('refuses a change that would meet several rows', async () => {
      const { store } = current();
      await store.commit(unit({ writes: [runInsert(newId('run')), runInsert(newId('run'))] }));
      const all = {
        op: 'set',
        table: 'runs',
        where: { tenant: TENANT },
        set: { status: 'stopped' },
        guard: 'run',
      } as const;
      expect(await outcomeOf(store.commit(unit({ writes: [all] })))).toBe('error a compare-and-set on runs met 2 rows');
    });

    it('counts up to the maximum, down again, and names the counter that is full', async () => {
      const { store } = current();
      const count = (add: number, max: number | null) =>
        outcomeOf(store.commit(unit({ counters: [{ tenant: TENANT, key: 'in-flight', add, max }] })));
      expect([await count(2, 3), await count(2, 3), await count(1, 3)]).toEqual([
        'committed',
        'guard counter:in-flight',
        'committed',
      ]);
      expect(await count(-2, null)).toBe('committed');
      expect(await count(4, 3)).toBe('guard counter:in-flight');
      expect(await store.read.counter(TENANT, 'in-flight')).toBe(1);
      expect(await store.read.counter('other', 'in-flight')).toBe(0);
    });

    it('never counts below nothing, and takes nothing from a counter that is not there', async () => {
      const { store } = current();
      const count = (key: string, add: number) =>
        outcomeOf(store.commit(unit({ counters: [{ tenant: TENANT, key, add, max: null }] })));
      expect([await count('taken', 2), await count('taken', -5), await count('none', -1)]).toEqual(
        Array(3).fill('committed'),
      );
      expect([await store.read.counter(TENANT, 'taken'), await store.read.counter(TENANT, 'none')]).toEqual([0, 0]);
      expect(await count('none', 1)).toBe('committed');
      expect(await store.read.counter(TENANT, 'none')).toBe(1);
    });

    it('keeps a vote per person and lets it be withdrawn and cast again', async () => {
      const { store } = current();
      const approvalId = newId('approval');
      const vote = (sub: string, withdrawn: number): Write => ({
        op: 'put',
        table: 'approval_votes',
        row: {
          approval_id: approvalId,
          sub,
          tenant: TENANT,
          decision: 'allow',
          on_behalf_of: '[]',
          groups: '["approvers"]',
          withdrawn,
          event_id: newId('event'),
          voted_at: '2031-01-01T00:00:00.000Z',
        },
      });
      await store.commit(
        unit({ writes: [approvalInsert(approvalId, { status: 'pending' }), vote('bob', 0), vote('carol', 0)] }),
      );
      await store.commit(unit({ writes: [vote('bob', 1)] }));
      await store.commit(unit({ writes: [vote('bob', 0)] }));
      const votes = await store.read.votes(TENANT, approvalId);
      expect(votes.map(({ sub, withdrawn }) => [sub, withdrawn])).toEqual([
        ['carol', 0],
        ['bob', 0],
      ]);
    });
  });
}
