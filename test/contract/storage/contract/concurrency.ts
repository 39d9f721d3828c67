import { describe, expect, it } from '@jest/globals';
import type { Unit, Write } from '../../../../src/storage/unit.js';
import { commitAll, tally } from '../outcomes.js';
import type { StoreUnderTest } from '../store-contract.js';
import { CallScript, FAR_AHEAD, TENANT, approvalInsert, event, newId, unit } from '../unit-builders.js';

/** What a dispatch does to its approval: consumes it if it is granted, in time and as it was read. */
function consume(approvalId: string): Unit {
  const where = { approval_id: approvalId, version: 1, status: 'granted', execute_by: { clock: 'after_now' } } as const;
  return unit({
    lane: 'settle',
    guards: [{ name: 'approval', table: 'approvals', where, expect: 'present' }],
    appends: [
      {
        stream: { kind: 'approval', id: approvalId },
        expectedVersion: 0,
        events: [event('approval.consumed', { attempt: 1, nonce: 'n' })],
      },
    ],
    writes: [{ op: 'set', table: 'approvals', where, set: { status: 'consumed', version: 2 }, guard: 'approval' }],
  });
}

export function describeConcurrency({ current }: StoreUnderTest): void {
  describe('concurrency', () => {
    it('lets one of 1,000 concurrent consumers have an approval, while neighbours go through', async () => {
      const { store } = current();
      const approvalId = newId('approval');
      await store.commit(
        unit({ writes: [approvalInsert(approvalId, { status: 'granted', executeBy: FAR_AHEAD, decidedBy: ['bob'] })] }),
      );
      const units = Array.from({ length: 1_000 }, () => consume(approvalId));
      const neighbours = Array.from({ length: 100 }, () => new CallScript().proposeAndDispatch());
      const mixed = units.flatMap((one, index) => (index % 10 === 0 ? [one, neighbours[index / 10] as Unit] : [one]));
      const outcomes = await commitAll(store, mixed);
      expect(tally(outcomes)).toEqual({ committed: 101, 'guard approval': 999 });
      expect(await store.read.streamEvents(TENANT, { kind: 'approval', id: approvalId })).toHaveLength(1);
      expect(await store.read.approval(TENANT, approvalId)).toMatchObject({ status: 'consumed', version: 2 });
      for (const neighbour of neighbours) {
        const [stream] = neighbour.appends;
        expect(await store.read.toolCall(TENANT, stream?.stream.id ?? '')).not.toBeNull();
      }
    });

    it('decides 45 of 50 approvals when every tenth unit fails after its first write (L05)', async () => {
      const { store } = current();
      const approvals = Array.from({ length: 50 }, () => newId('approval'));
      await Promise.all(
        approvals.map((approvalId) =>
          store.commit(unit({ writes: [approvalInsert(approvalId, { status: 'pending' })] })),
        ),
      );
      const outcomes = await commitAll(
        store,
        approvals.map((approvalId, index) => {
          const fails: Write = { op: 'set', table: 'meta', where: { name: 'none' }, set: { value: '' }, guard: 'late' };
          const status = index % 2 === 0 ? 'granted' : 'denied';
          const decided = { status, execute_by: FAR_AHEAD, decided_by: '["bob"]', version: 2 } as const;
          const where = { approval_id: approvalId, status: 'pending' };
          const set: Write = { op: 'set', table: 'approvals', where, set: decided, guard: 'approval' };
          return unit({ lane: 'govern', writes: index % 10 === 9 ? [set, fails] : [set] });
        }),
      );
      expect(tally(outcomes)).toEqual({ committed: 45, 'guard late': 5 });
      const statuses = await Promise.all(
        approvals.map(async (approvalId) => (await store.read.approval(TENANT, approvalId))?.status),
      );
      expect(statuses).toEqual(
        approvals.map((_, index) => (index % 10 === 9 ? 'pending' : index % 2 === 0 ? 'granted' : 'denied')),
      );
    });

    it('gives 200 appends of the same millisecond to one stream gapless versions in order (L03)', async () => {
      const { store } = current();
      const outcomes = await commitAll(
        store,
        Array.from({ length: 200 }, (_, version) =>
          unit({
            appends: [
              {
                stream: { kind: 'policy', id: 'p' },
                expectedVersion: version,
                events: [event('policy.activation_refused', { problems: [version] })],
              },
            ],
          }),
        ),
      );
      expect(tally(outcomes)).toEqual({ committed: 200 });
      const stored = await store.read.streamEvents(TENANT, { kind: 'policy', id: 'p' });
      expect(stored.map(({ envelope, payload }) => [envelope.version, payload['problems']])).toEqual(
        Array.from({ length: 200 }, (_, index) => [index + 1, [index]]),
      );
    });

    it('lets one of many writers of the same next version win, every time', async () => {
      const { store } = current();
      for (let version = 0; version < 10; version += 1) {
        const outcomes = await commitAll(
          store,
          Array.from({ length: 20 }, () =>
            unit({
              appends: [
                {
                  stream: { kind: 'policy', id: 'p' },
                  expectedVersion: version,
                  events: [event('policy.activation_refused', { problems: [] })],
                },
              ],
            }),
          ),
        );
        expect(tally(outcomes)).toEqual({ committed: 1, 'guard stream:policy/p': 19 });
      }
    });

    it('never lets a counter pass its maximum under 200 parallel units', async () => {
      const { store } = current();
      const outcomes = await commitAll(
        store,
        Array.from({ length: 200 }, () => unit({ counters: [{ tenant: TENANT, key: 'slots', add: 1, max: 16 }] })),
      );
      expect(tally(outcomes)).toEqual({ committed: 16, 'guard counter:slots': 184 });
      expect(await store.read.counter(TENANT, 'slots')).toBe(16);
    });

    it('lets one of 50 proposals with the same key be recorded', async () => {
      const { store } = current();
      const scripts = Array.from({ length: 50 }, () => new CallScript('run_same', 'same key'));
      const outcomes = await commitAll(
        store,
        scripts.map((script) => script.proposeAndDispatch()),
      );
      expect(tally(outcomes)).toEqual({ committed: 1, 'guard idempotency': 49 });
    });

    it('keeps positions dense and events whole when units of every kind of failure are mixed in', async () => {
      const { store } = current();
      const units = Array.from({ length: 300 }, (_, index) => {
        const whole = new CallScript().proposeAndDispatch();
        switch (index % 5) {
          case 0:
            return { ...whole, writes: [...whole.writes, ...whole.writes] };
          case 1:
            return { ...whole, appends: [...whole.appends, ...whole.appends] };
          case 2:
            return { ...whole, counters: [{ tenant: TENANT, key: 'full', add: 1, max: 0 }] };
          default:
            return whole;
        }
      });
      const outcomes = await commitAll(store, units);
      expect(outcomes.filter((outcome) => outcome === 'committed')).toHaveLength(120);
      const stored = await store.read.eventsAfter(-1, 1_000, null);
      expect(stored.map(({ position }) => position)).toEqual(Array.from({ length: 480 }, (_, index) => index));
      expect(new Set(stored.map(({ envelope }) => envelope.unitId)).size).toBe(120);
    });
  });
}
