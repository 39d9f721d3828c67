import { describe, expect, it } from '@jest/globals';
import { commitAll } from '../outcomes.js';
import type { StoreUnderTest } from '../store-contract.js';
import { CallScript, TENANT, newId } from '../unit-builders.js';

export function describeRestart({ current, reopen }: StoreUnderTest): void {
  describe('restart', () => {
    it('reads everything back as it was, and goes on at the next position', async () => {
      const { store } = current();
      const scripts = Array.from({ length: 30 }, () => new CallScript());
      await commitAll(
        store,
        scripts.map((script) => script.proposeAndDispatch()),
      );
      await commitAll(
        store,
        scripts.slice(0, 10).map((script) => script.settle()),
      );
      const everything = async (from: typeof store) => ({
        events: await from.read.eventsAfter(-1, 1_000, null),
        calls: await Promise.all(scripts.map(({ toolCallId }) => from.read.toolCall(TENANT, toolCallId))),
        work: await Promise.all(scripts.map(({ toolCallId }) => from.read.workOf(TENANT, toolCallId))),
      });
      const before = await everything(store);
      expect(before.events).toHaveLength(150);
      const again = (await reopen()).store;
      expect(await everything(again)).toEqual(before);
      expect(again.feed.head()).toBe(150);
      const committed = await again.commit(new CallScript().proposeAndDispatch());
      expect(committed.firstPosition).toBe(150);
    });

    it('seals later events of a session under the key of before', async () => {
      const { store } = current();
      const call = new CallScript();
      await store.commit(call.proposeAndDispatch());
      const again = (await reopen()).store;
      await again.commit(call.settle());
      const stored = await again.read.streamEvents(TENANT, { kind: 'call', id: call.toolCallId });
      expect(stored.map(({ envelope }) => envelope.eventType)).toEqual([
        'tool.call.proposed',
        'policy.decided',
        'capability.authorized',
        'tool.call.dispatching',
        'tool.call.dispatched',
        'tool.call.accepted',
        'tool.call.completed',
      ]);
      expect(stored[0]?.payload['arguments']).toEqual(call.args);
    });

    it('gives each process the next epoch and keeps the one before as ended', async () => {
      const first = await current().store.registerInstance();
      const second = await (await reopen()).store.registerInstance();
      const { store } = await reopen();
      const third = await store.registerInstance();
      expect([first.epoch, second.epoch, third.epoch]).toEqual([1, 2, 3]);
      expect(new Set([first.instanceId, second.instanceId, third.instanceId]).size).toBe(3);
      const rows = await store.read.instances();
      expect(rows.map(({ epoch, state }) => [epoch, state])).toEqual([
        [2, 'ended'],
        [3, 'running'],
      ]);
      expect(rows[1]).toMatchObject({ instance_id: third.instanceId, pid: process.pid });
    });

    it('gives a process an epoch above one that is known from elsewhere, and goes on from there', async () => {
      expect((await current().store.registerInstance(7)).epoch).toBe(8);
      expect((await (await reopen()).store.registerInstance(3)).epoch).toBe(9);
      expect((await (await reopen()).store.registerInstance()).epoch).toBe(10);
    });

    it('still refuses a key that was used before the restart', async () => {
      const { store } = current();
      await store.commit(new CallScript(newId('run'), 'key').proposeAndDispatch());
      const again = (await reopen()).store;
      const repeat = again.commit(new CallScript(newId('run'), 'key').proposeAndDispatch());
      await expect(repeat).rejects.toMatchObject({ guard: 'idempotency' });
    });
  });
}
