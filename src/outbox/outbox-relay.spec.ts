import { describe, expect, it } from '@jest/globals';
import { OutboxBench, webhookSettings } from '../../test/builders/outbox-bench.js';
import { GuardFailed } from '../storage/unit.js';
import type { OutboxRelay } from './outbox-relay.js';

const MINUTE_MS = 60_000;

async function begin(count = 0): Promise<{ bench: OutboxBench; relay: OutboxRelay }> {
  const bench = new OutboxBench();
  await bench.announceCalls(count);
  return { bench, relay: await bench.opened() };
}

/** Lets time pass in steps, with a round at each. */
async function pass(bench: OutboxBench, relay: OutboxRelay, ms: number, stepMs = 5_000): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    bench.clock.advance(stepMs);
    await bench.settle(relay);
  }
}

const isRising = (numbers: readonly number[]): boolean =>
  numbers.every((n, i) => i === 0 || n > Number(numbers[i - 1]));

describe('the relay', () => {
  it('tells a sink of every event once, in order per call, and moves its cursor behind them', async () => {
    const { bench, relay } = await begin(20);
    for (let n = 0; n < 20; n += 1) await bench.announce(`call_${n % 3}`);
    await bench.settle(relay);
    expect(bench.receiver.positions.toSorted((a, b) => a - b)).toEqual(
      bench.store.events.map(({ position }) => position),
    );
    for (const call of ['call_0', 'call_1', 'call_2']) expect(isRising(bench.receiver.of(call))).toBe(true);
    expect(bench.cursor()).toBe(39);
  });

  it('goes on behind its cursor after a restart, in a new process', async () => {
    const { bench, relay } = await begin(3);
    await bench.settle(relay);
    await relay.stop();
    await bench.announce('call_9');
    await bench.settle(await bench.opened({ ops: webhookSettings() }, bench.register(2)));
    expect(bench.receiver.positions).toEqual([0, 1, 2, 3]);
  });

  it('begins a new webhook with what comes, unless the settings say otherwise', async () => {
    const bench = new OutboxBench();
    await bench.announceCalls(3);
    const relay = await bench.opened({ ops: webhookSettings({ from: 'now' }) });
    await bench.announce('call_9');
    await bench.settle(relay);
    expect(bench.receiver.positions).toEqual([3]);
    expect(bench.store.rows('sink_cursors')[0]).toMatchObject({ first_position: 3, position: 3 });
  });

  it('tells a webhook only of the types of its filter, and passes over the others', async () => {
    const bench = new OutboxBench();
    await bench.announceCalls(3);
    const relay = await bench.opened({ ops: webhookSettings({ types: ['approval.*'] }) });
    await bench.settle(relay);
    expect(bench.receiver.attempts).toEqual([]);
    expect(bench.cursor()).toBe(2);
  });

  it('writes no row per event: one unit moves the cursor over a whole batch', async () => {
    const { bench, relay } = await begin(60);
    const before = bench.store.units.length;
    await bench.settle(relay);
    expect(bench.store.units.length - before).toBe(1);
    expect(bench.store.rows('sink_parked')).toEqual([]);
  });
});

describe('an event that a sink refuses while it takes others', () => {
  it('stands in nobody’s way: it is parked, visible, and the others are delivered', async () => {
    const { bench, relay } = await begin(50);
    bench.receiver.answer = ({ position }) => (position === 0 ? 500 : 200);
    await bench.settle(relay);
    expect(bench.receiver.positions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 49 }, (_, n) => n + 1));
    expect(bench.cursor()).toBe(49);
    expect(bench.store.rows('sink_parked')).toMatchObject([
      { position: 0, partition: 'call/call_0', tries: 1, state: 'parked', last_error: 'http_500' },
    ]);
    expect(relay.statuses()).toMatchObject([{ name: 'ops', parked: 1, dead: 0, lagPositions: 0, lastError: null }]);
  });

  it('holds back what comes later about the same call, and nothing else', async () => {
    const { bench, relay } = await begin(2);
    let isBroken = true;
    bench.receiver.answer = ({ position }) => (position === 0 && isBroken ? 500 : 200);
    await bench.settle(relay);
    await bench.announce('call_0');
    await bench.announce('call_1');
    await bench.settle(relay);
    expect(bench.parked()).toEqual([0, 2]);
    expect(bench.receiver.positions).toEqual([1, 3]);
    isBroken = false;
    await pass(bench, relay, MINUTE_MS);
    expect(bench.receiver.of('call_0')).toEqual([0, 2]);
    expect(bench.parked()).toEqual([]);
  });

  it('is a dead letter after so many refusals, and what waited behind it is delivered', async () => {
    const bench = new OutboxBench();
    await bench.announceCalls(2);
    await bench.announce('call_0');
    const relay = await bench.opened({ ops: webhookSettings({ maxTries: 3 }) });
    bench.receiver.answer = ({ position }) => (position === 0 ? 400 : 200);
    await pass(bench, relay, MINUTE_MS);
    expect(bench.receiver.attempts.filter(({ position }) => position === 0)).toHaveLength(3);
    expect(bench.parked('dead')).toEqual([0]);
    expect(bench.receiver.of('call_0')).toEqual([2]);
    expect(relay.statuses()).toMatchObject([{ parked: 0, dead: 1 }]);
  });

  it.each([
    ['by answers about it alone', 400, 1],
    ['by answers that may be an outage', 500, 0],
    ['by nobody', 'connect_failed' as const, 0],
  ])('is a dead letter also when there is no other to tell: %s', async (_who, answer, dead) => {
    const bench = new OutboxBench();
    await bench.announceCalls(1);
    const relay = await bench.opened({ ops: webhookSettings({ maxTries: 3 }) });
    bench.receiver.answer = () => answer;
    await pass(bench, relay, 10 * MINUTE_MS, 10_000);
    expect(bench.parked('dead')).toHaveLength(dead);
    expect(bench.cursor()).toBe(dead - 1);
    bench.receiver.answer = () => 200;
    await bench.announceCalls(1);
    await pass(bench, relay, 2 * MINUTE_MS, 10_000);
    expect(bench.receiver.positions).toEqual(dead === 1 ? [1] : [0, 1]);
  });

  it('is offered again later and later', async () => {
    const { bench, relay } = await begin(2);
    bench.receiver.answer = ({ position }) => (position === 0 ? 500 : 200);
    const times: number[] = [];
    for (let second = 0; second < 120; second += 1) {
      const before = bench.receiver.attempts.length;
      await bench.settle(relay);
      if (bench.receiver.attempts.length > before) times.push(second);
      bench.clock.advance(1_000);
    }
    const waits = times.slice(1).map((time, index) => time - Number(times[index]));
    expect(waits.length).toBeGreaterThan(4);
    expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
  });

  it('is told apart from an outage as soon as the sink takes something else, however many are refused', async () => {
    const { bench, relay } = await begin(12);
    bench.receiver.answer = ({ position }) => (position < 12 ? 'timeout' : 200);
    await pass(bench, relay, 10 * MINUTE_MS);
    expect(bench.parked()).toEqual([]);
    for (let minute = 0; minute < 30; minute += 1) {
      await bench.announceCalls(3, `later_${minute}`);
      await pass(bench, relay, MINUTE_MS);
    }
    expect(bench.receiver.positions).toHaveLength(90);
    expect(bench.cursor()).toBe(101);
    expect([...bench.parked(), ...bench.parked('dead')]).toHaveLength(12);
  });

  it('that cannot even be read is a dead letter at once, and the next is delivered', async () => {
    const { bench } = await begin(3);
    const all = bench.store.read.eventsAfter;
    Object.assign(bench.store.read, {
      eventsAfter: async (position: number, limit: number) => {
        const events = await all(position, limit, null);
        if (events.some((event) => event.position === 1)) throw new Error('the key of a payload is gone');
        return events;
      },
    });
    const relay = await bench.opened();
    await bench.settle(relay);
    expect(bench.receiver.positions).toEqual([0, 2]);
    expect(bench.store.rows('sink_parked')).toMatchObject([{ position: 1, state: 'dead', last_error: 'unreadable' }]);
  });
});

describe('a sink that takes nothing', () => {
  it.each([['connect_failed'], [500], [503], [404], ['timeout']] as const)(
    'for half an hour (%p) gets every event afterwards, in order per call, and none is given up',
    async (answer) => {
      const bench = new OutboxBench();
      const relay = await bench.opened({ ops: webhookSettings({ maxTries: 2 }) });
      bench.receiver.answer = () => answer;
      for (let minute = 0; minute < 30; minute += 1) {
        for (let n = 0; n < 40; n += 1) await bench.announce(`call_${n}`);
        await pass(bench, relay, MINUTE_MS);
      }
      expect(bench.receiver.taken).toEqual([]);
      expect(bench.store.rows('sink_parked')).toEqual([]);
      expect(bench.cursor()).toBe(-1);
      expect(relay.statuses()).toMatchObject([{ lagPositions: 1200, lastError: expect.any(String) }]);
      expect(relay.statuses()[0]?.lagMs).toBeGreaterThanOrEqual(30 * MINUTE_MS);
      bench.receiver.answer = () => 200;
      await pass(bench, relay, 2 * MINUTE_MS);
      expect(new Set(bench.receiver.positions).size).toBe(1200);
      for (let n = 0; n < 40; n += 1) expect(isRising(bench.receiver.of(`call_${n}`))).toBe(true);
      expect(relay.statuses()).toMatchObject([{ lagPositions: 0, lagMs: 0, parked: 0, dead: 0, lastError: null }]);
    },
  );

  it('keeps what was parked before, however long the outage is', async () => {
    const bench = new OutboxBench();
    await bench.announceCalls(2);
    const relay = await bench.opened({ ops: webhookSettings({ maxTries: 3 }) });
    bench.receiver.answer = ({ position }) => (position === 0 ? 502 : 200);
    await bench.settle(relay);
    bench.receiver.answer = () => 502;
    await pass(bench, relay, 120 * MINUTE_MS, MINUTE_MS);
    expect(bench.parked()).toEqual([0]);
    bench.receiver.answer = () => 200;
    await pass(bench, relay, 120 * MINUTE_MS, MINUTE_MS);
    expect(bench.receiver.positions).toEqual([1, 0]);
  });

  it('is asked seldom, at most every half minute in the long run', async () => {
    const { bench, relay } = await begin(1);
    bench.receiver.answer = () => 500;
    await pass(bench, relay, 60 * MINUTE_MS);
    expect(bench.receiver.attempts.length).toBeLessThan(130);
  });

  it('is left alone for as long as it asked', async () => {
    const { bench, relay } = await begin(1);
    bench.receiver.answer = () => ({ status: 429, headers: { 'retry-after': '600' } });
    await bench.settle(relay);
    await pass(bench, relay, 9 * MINUTE_MS);
    expect(bench.receiver.attempts).toHaveLength(1);
    bench.receiver.answer = () => 200;
    await pass(bench, relay, 2 * MINUTE_MS);
    expect(bench.receiver.positions).toEqual([0]);
  });

  it('because it is gone (410) is not asked again before a restart, and loses nothing', async () => {
    const { bench, relay } = await begin(3);
    bench.receiver.answer = () => 410;
    await pass(bench, relay, 24 * 60 * MINUTE_MS, 60 * MINUTE_MS);
    expect(bench.receiver.attempts.length).toBeLessThanOrEqual(4);
    expect(relay.statuses()).toMatchObject([{ isGone: true, lastError: 'http_410', lagPositions: 3 }]);
    bench.receiver.answer = () => 200;
    await bench.settle(await bench.opened());
    expect(new Set(bench.receiver.positions)).toEqual(new Set([0, 1, 2]));
  });
});

describe('one sink', () => {
  it('that hangs leaves every other sink as fast as before', async () => {
    const bench = new OutboxBench();
    const hanging = webhookSettings({ url: 'https://slow.example/hook' });
    const relay = await bench.opened({ slow: hanging, ops: webhookSettings() });
    const release: (() => void)[] = [];
    const send = bench.receiver.send.bind(bench.receiver);
    bench.receiver.send = async (request) => {
      if (request.url.includes('slow')) await new Promise<void>((resolve) => release.push(resolve));
      return send(request);
    };
    relay.start();
    for (let n = 0; n < 5; n += 1) await bench.announce(`call_${n}`);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(bench.receiver.positions).toEqual([0, 1, 2, 3, 4]);
    const stopped = relay.stop();
    for (const go of release) go();
    await stopped;
  });
});

describe('what is not durable', () => {
  it('never leaves, and what is durable leaves after the next start', async () => {
    const { bench, relay } = await begin(1);
    await bench.settle(relay);
    bench.store.beforeCommit = (unit) => {
      if (unit.appends.length > 0) throw new Error('the disk is full');
    };
    await expect(bench.announce('call_1')).rejects.toThrow('the disk is full');
    await bench.settle(relay);
    expect(bench.receiver.positions).toEqual([0]);
    bench.store.beforeCommit = () => {};
    await bench.announce('call_2');
    // The process ends before the relay made its round.
    await bench.settle(await bench.opened({ ops: webhookSettings() }, bench.register(2)));
    expect(bench.receiver.positions).toEqual([0, 1]);
  });

  it('is told in the order of positions, whatever the clock of the wall does', async () => {
    const { bench, relay } = await begin();
    for (let n = 0; n < 4; n += 1) {
      await bench.announce('call_0');
      bench.clock.advance(-5_000);
    }
    await bench.settle(relay);
    expect(bench.receiver.of('call_0')).toEqual([0, 1, 2, 3]);
  });
});

describe('relays of several instances', () => {
  it('keep the order of each call, whichever of four is told to go', async () => {
    const bench = new OutboxBench();
    const relays: OutboxRelay[] = [];
    for (let epoch = 1; epoch <= 4; epoch += 1) {
      for (let n = 0; n < 12; n += 1) await bench.announce(`call_${n % 3}`);
      relays.push(await bench.opened({ ops: webhookSettings() }, bench.register(epoch)));
      await Promise.allSettled(relays.map((relay) => bench.settle(relay)));
    }
    for (const call of ['call_0', 'call_1', 'call_2']) {
      const first = [...new Set(bench.receiver.of(call))];
      expect(first).toHaveLength(16);
      expect(isRising(first)).toBe(true);
    }
  });

  it('give one event the same id, and only the newest moves the cursor', async () => {
    const { bench, relay: old } = await begin(2);
    const next = await bench.opened({ ops: webhookSettings() }, bench.register(2));
    await expect(bench.settle(old)).rejects.toBeInstanceOf(GuardFailed);
    expect(bench.cursor()).toBe(-1);
    await bench.settle(next);
    expect(bench.cursor()).toBe(1);
    const ids = bench.receiver.attempts.map(({ headers }) => headers['webhook-id']);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(2);
    await expect(bench.opened({ ops: webhookSettings() }, bench.desk)).rejects.toBeInstanceOf(GuardFailed);
  });
});
