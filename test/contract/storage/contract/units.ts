import { describe, expect, it } from '@jest/globals';
import type { Guard } from '../../../../src/storage/unit.js';
import { commitAll, outcomeOf, tally } from '../outcomes.js';
import type { StoreUnderTest } from '../store-contract.js';
import {
  CallScript,
  FAR_AHEAD,
  LONG_AGO,
  TENANT,
  approvalInsert,
  event,
  metaInsert,
  newId,
  runInsert,
  unit,
} from '../unit-builders.js';

const FAILING: Guard = { name: 'never', table: 'meta', where: { name: 'no such fact' }, expect: 'present' };

export function describeUnits({ current }: StoreUnderTest): void {
  describe('units', () => {
    it('answers with the positions of the events, dense from 0 in the order of the commits', async () => {
      const { store } = current();
      const first = new CallScript();
      const second = new CallScript();
      const committed = [
        await store.commit(first.proposeAndDispatch()),
        await store.commit(second.proposeAndDispatch()),
        await store.commit(first.settle()),
      ];
      expect(committed.map(({ firstPosition, eventCount }) => [firstPosition, eventCount])).toEqual([
        [0, 4],
        [4, 4],
        [8, 3],
      ]);
      expect(store.feed.head()).toBe(11);
    });

    it('commits a unit without events and gives it no position', async () => {
      const { store } = current();
      const committed = await store.commit(unit({ writes: [metaInsert('fact', 'yes')] }));
      expect(committed).toMatchObject({ firstPosition: 0, eventCount: 0 });
      expect(await store.read.meta('fact')).toBe('yes');
    });

    it('leaves nothing of a unit whose last write fails', async () => {
      const { store } = current();
      const call = new CallScript();
      const whole = call.proposeAndDispatch();
      const missing = {
        op: 'set',
        table: 'meta',
        where: { name: 'missing' },
        set: { value: 'x' },
        guard: 'missing',
      } as const;
      const failing = {
        ...whole,
        writes: [...whole.writes, metaInsert('left', 'over'), missing],
        counters: [{ tenant: TENANT, key: 'n', add: 1, max: null }],
      };
      expect(await outcomeOf(store.commit(failing))).toBe('guard missing');
      expect(await store.read.toolCall(TENANT, call.toolCallId)).toBeNull();
      expect(await store.read.attempt(TENANT, call.toolCallId, 1)).toBeNull();
      expect(await store.read.meta('left')).toBeNull();
      expect(await store.read.counter(TENANT, 'n')).toBe(0);
      expect(await store.read.eventsAfter(-1, 10, null)).toEqual([]);
      expect(store.feed.head()).toBe(0);
    });

    it('can be committed after it has failed once, because nothing of it was kept', async () => {
      const { store } = current();
      const whole = new CallScript().proposeAndDispatch();
      expect(await outcomeOf(store.commit({ ...whole, guards: [FAILING] }))).toBe('guard never');
      expect(await outcomeOf(store.commit(whole))).toBe('committed');
    });

    it('rejects a unit alone when its guard fails, and not its neighbours in the same flush', async () => {
      const { store } = current();
      const units = Array.from({ length: 30 }, (_, index) => {
        const whole = new CallScript().proposeAndDispatch();
        return index % 3 === 1 ? { ...whole, guards: [FAILING] } : whole;
      });
      const outcomes = await commitAll(store, units);
      expect(tally(outcomes)).toEqual({ committed: 20, 'guard never': 10 });
      const positions = (await store.read.eventsAfter(-1, 200, null)).map(({ position }) => position);
      expect(positions).toEqual(Array.from({ length: 80 }, (_, index) => index));
    });

    it('names the first guard that does not hold', async () => {
      const { store } = current();
      const present: Guard = { name: 'present', table: 'meta', where: { name: 'fact' }, expect: 'present' };
      const absent: Guard = { name: 'absent', table: 'meta', where: { name: 'fact' }, expect: 'absent' };
      expect(await outcomeOf(store.commit(unit({ guards: [absent, present] })))).toBe('guard present');
      await store.commit(unit({ writes: [metaInsert('fact', 'yes')] }));
      expect(await outcomeOf(store.commit(unit({ guards: [present, absent] })))).toBe('guard absent');
    });

    it.each([
      ['a text', { status: 'running' }, true],
      ['another text', { status: 'stopping' }, false],
      ['a number', { implicit: 1 }, true],
      ['one of several', { status: { oneOf: ['suspending', 'running'] } }, true],
      ['none of several', { status: { oneOf: ['suspending', 'stopping'] } }, false],
      ['null', { label: null }, true],
      ['null where there is a value', { status: null }, false],
    ] as const)('guards %s', async (_, expected, holds) => {
      const { store } = current();
      const runId = newId('run');
      await store.commit(unit({ writes: [runInsert(runId)] }));
      const guard: Guard = { name: 'run', table: 'runs', where: { run_id: runId, ...expected }, expect: 'present' };
      expect(await outcomeOf(store.commit(unit({ guards: [guard] })))).toBe(holds ? 'committed' : 'guard run');
    });

    it.each([
      ['after_now', FAR_AHEAD, true],
      ['after_now', LONG_AGO, false],
      ['not_after_now', LONG_AGO, true],
      ['not_after_now', FAR_AHEAD, false],
    ] as const)('compares %s with the clock of the writer: %s', async (clock, time, holds) => {
      const { store } = current();
      const approvalId = newId('approval');
      await store.commit(
        unit({ writes: [approvalInsert(approvalId, { status: 'granted', executeBy: time, decidedBy: [] })] }),
      );
      const where = { approval_id: approvalId, execute_by: { clock } };
      const guard: Guard = { name: 'clock', table: 'approvals', where, expect: 'present' };
      const expected = holds ? 'committed' : 'guard clock';
      expect(await outcomeOf(store.commit(unit({ guards: [guard] })))).toBe(expected);
      const set = { op: 'set', table: 'approvals', where, set: { status: 'expired' }, guard: 'clock' } as const;
      expect(await outcomeOf(store.commit(unit({ writes: [set] })))).toBe(expected);
    });

    it('holds neither clock word for a time that is null', async () => {
      const { store } = current();
      const approvalId = newId('approval');
      await store.commit(unit({ writes: [approvalInsert(approvalId, { status: 'pending' })] }));
      for (const clock of ['after_now', 'not_after_now'] as const) {
        const where = { approval_id: approvalId, execute_by: { clock } };
        const guard: Guard = { name: 'clock', table: 'approvals', where, expect: 'present' };
        expect(await outcomeOf(store.commit(unit({ guards: [guard] })))).toBe('guard clock');
      }
    });

    it('is told apart from a defect: an impossible unit is a plain error and harms no neighbour', async () => {
      const { store } = current();
      const impossible = unit({ guards: [{ ...FAILING, where: {} }] });
      const uncloneable = { ...unit({}), counters: [(() => 1) as never] };
      const [first, second, third, fourth] = await commitAll(store, [
        new CallScript().proposeAndDispatch(),
        impossible,
        uncloneable,
        new CallScript().proposeAndDispatch(),
      ]);
      expect([first, fourth]).toEqual(['committed', 'committed']);
      expect(second).toBe('error a condition on meta names no column');
      expect(third).toBe('error a unit is plain data');
    });

    it('refuses a second event with the id of another', async () => {
      const { store } = current();
      const stop = event('policy.activation_refused', { problems: [] });
      const append = (id: string) => ({ stream: { kind: 'policy', id } as const, expectedVersion: 0, events: [stop] });
      expect(await outcomeOf(store.commit(unit({ appends: [append('a')] })))).toBe('committed');
      expect(await outcomeOf(store.commit(unit({ appends: [append('b')] })))).toBe(
        'error policy.activation_refused: its event id is taken',
      );
    });
  });
}
