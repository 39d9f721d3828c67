/**
 * Loaded into a server before it starts (`node --import`): the executor's listener throws for the first call that is
 * authorized, and for that one only.
 */
import { isMainThread } from 'node:worker_threads';

/** What a listener of the feed is told. @typedef {{ unit: { appends: { stream: { id: string }, events: { type: string }[] }[] } }} Durable */

const BUILT = new URL('../../../dist/proxy/executor/executor.worker.js', import.meta.url);
const AUTHORIZING = ['capability.authorized', 'tool.call.dispatching'];

if (isMainThread) {
  const { Executor } = /** @type {{ Executor: { prototype: { onDurable: (durable: Durable) => void } } }} */ (
    await import(BUILT.href)
  );
  const { onDurable } = Executor.prototype;
  let thrown = false;
  Executor.prototype.onDurable = /** @param {Durable} durable */ function (durable) {
    const begins = durable.unit.appends.some(({ events }) => events.some(({ type }) => AUTHORIZING.includes(type)));
    if (begins && !thrown) {
      thrown = true;
      throw new Error('the listener has failed');
    }
    onDurable.call(this, durable);
  };
}
