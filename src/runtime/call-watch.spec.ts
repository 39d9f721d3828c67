import { beforeEach, describe, expect, it } from '@jest/globals';
import type { NewEvent } from '../domain/events/envelope.js';
import { Feed } from '../storage/feed.js';
import type { Append, Unit } from '../storage/unit.js';
import { CallWatch } from './call-watch.js';

let feed: Feed;
let watch: CallWatch;

beforeEach(() => {
  feed = new Feed(0, (_, error) => {
    throw error;
  });
  watch = new CallWatch(feed);
});

function publish(kind: Append['stream']['kind'], id: string, toolCallId?: string): void {
  const event = { refs: toolCallId === undefined ? {} : { toolCallId } } as NewEvent;
  const unit = { appends: [{ stream: { kind, id }, expectedVersion: 0, events: [event] }] } as unknown as Unit;
  feed.publish({ unit, committed: { unitId: 'unt_1', firstPosition: 0, eventCount: 1, recordedAt: '' } });
}

/** Whether the promise has settled once everything that waits for nothing has run. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  return Promise.race([
    promise.then(() => true),
    new Promise<boolean>((resolve) => setImmediate(() => resolve(false))),
  ]);
}

describe('whoever waits for a call', () => {
  it('is woken by a unit about it, and everybody with them', async () => {
    const [first, second] = [watch.listen('call_1'), watch.listen('call_1')];
    publish('call', 'call_1');
    expect(await isSettled(first.changed)).toBe(true);
    expect(await isSettled(second.changed)).toBe(true);
    expect(watch.size).toBe(0);
  });

  it('is woken by a vote about it', async () => {
    const { changed } = watch.listen('call_1');
    publish('approval', 'apr_1', 'call_1');
    expect(await isSettled(changed)).toBe(true);
  });

  it('is not woken by anything else', async () => {
    const { changed } = watch.listen('call_1');
    publish('call', 'call_2');
    publish('approval', 'apr_2', 'call_2');
    publish('run', 'run_1');
    expect(await isSettled(changed)).toBe(false);
    expect(watch.size).toBe(1);
  });

  it('hears what happens between listening and reading', async () => {
    const { changed } = watch.listen('call_1');
    publish('call', 'call_1');
    await new Promise((resolve) => setImmediate(resolve));
    expect(await isSettled(changed)).toBe(true);
  });

  it('leaves nothing behind when it stops, and wakes nobody else', async () => {
    const [first, second] = [watch.listen('call_1'), watch.listen('call_1')];
    first.stop();
    expect(await isSettled(first.changed)).toBe(true);
    expect(await isSettled(second.changed)).toBe(false);
    second.stop();
    second.stop();
    expect(watch.size).toBe(0);
  });

  it('does not take a later listener away when it stops after it was woken', async () => {
    const first = watch.listen('call_1');
    publish('call', 'call_1');
    const second = watch.listen('call_1');
    first.stop();
    publish('call', 'call_1');
    expect(await isSettled(second.changed)).toBe(true);
  });

  it('is woken when the process stops', async () => {
    const waiting = ['call_1', 'call_2', 'call_3'].map((id) => watch.listen(id));
    watch.close();
    for (const { changed } of waiting) expect(await isSettled(changed)).toBe(true);
    expect(watch.isClosed).toBe(true);
    expect(watch.size).toBe(0);
  });
});
