import { describe, expect, it } from '@jest/globals';
import type { Store } from '../../../../src/storage/store.js';
import { commitAll } from '../outcomes.js';
import type { StoreUnderTest } from '../store-contract.js';
import { CallScript, TENANT } from '../unit-builders.js';

/** Everything a reader can ask about one call, by its ids. */
async function record(store: Store, { toolCallId }: CallScript, tenant = TENANT) {
  const { read } = store;
  const events = await read.streamEvents(TENANT, { kind: 'call', id: toolCallId });
  const ids = events.map(({ envelope }) => envelope.eventId);
  return {
    call: await read.toolCall(tenant, toolCallId),
    attempts: [await read.attempt(tenant, toolCallId, 1), await read.attempt(tenant, toolCallId, 2)],
    events: await Promise.all(ids.map((id) => read.event(tenant, id))),
    positions: await Promise.all(ids.map((id) => read.positionOf(tenant, id))),
  };
}

/** More calls than any store keeps at hand. */
const MANY = 700;

export function describeRecent({ current, reopen }: StoreUnderTest): void {
  describe('what was just committed', () => {
    it('is answered as it is on disk, at every stage of a call', async () => {
      for (const settled of [false, true]) {
        const call = new CallScript();
        await current().store.commit(call.proposeAndDispatch());
        if (settled) await current().store.commit(call.settle());
        const own = await record(current().store, call);
        expect(own.call).toMatchObject({ status: settled ? 'completed' : 'dispatching' });
        expect(own.events).toHaveLength(settled ? 7 : 4);
        expect(own.events).not.toContain(null);
        await reopen();
        expect(await record(current().store, call)).toEqual(own);
      }
    });

    it('is nobody else’s to see', async () => {
      const call = new CallScript();
      await current().store.commit(call.proposeAndDispatch());
      expect(await record(current().store, call, 'other')).toEqual({
        call: null,
        attempts: [null, null],
        events: [null, null, null, null],
        positions: [null, null, null, null],
      });
    });

    it('does not show a unit that failed', async () => {
      const { store } = current();
      const call = new CallScript();
      await store.commit(call.proposeAndDispatch());
      const before = await record(store, call);
      const settle = call.settle();
      await expect(
        store.commit({
          ...settle,
          guards: [{ name: 'never', table: 'meta', where: { name: 'x' }, expect: 'present' }],
        }),
      ).rejects.toThrow('guard never failed');
      expect(await record(store, call)).toEqual(before);
    });

    it('is found on disk when it is no longer at hand', async () => {
      const { store } = current();
      const calls = Array.from({ length: MANY }, () => new CallScript());
      await commitAll(
        store,
        calls.map((call) => call.proposeAndDispatch()),
      );
      await commitAll(
        store,
        calls.map((call) => call.settle()),
      );
      for (const call of [calls[0], calls[MANY / 2], calls[MANY - 1]]) {
        const { call: row, events, positions } = await record(store, call as CallScript);
        expect(row?.status).toBe('completed');
        expect(events.map((event) => event?.position)).toEqual(positions);
        expect(new Set(positions).size).toBe(7);
      }
    });
  });
}
