import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Clock } from '../system/clock.js';
import { ExecutionSlots } from './execution-slots.js';
import type { Slot, SlotLimits } from './execution-slots.js';
import { TokenBucket } from './token-bucket.js';

class ManualClock extends Clock {
  ms = 1_000;

  override now(): number {
    throw new Error('slots must not follow the wall clock, which can jump');
  }

  override monotonic(): number {
    return this.ms;
  }
}

const FREE: SlotLimits = { concurrency: 100, ratePerSecond: null };

function slotsOf(maxInFlight: number, limits: Readonly<Record<string, SlotLimits>> = {}, clock = new ManualClock()) {
  return {
    clock,
    slots: new ExecutionSlots(clock, maxInFlight, (name) => limits[name] ?? (name === 'unknown' ? null : FREE)),
  };
}

describe('execution slots', () => {
  it('are given out up to the limit of the process and again after a release', () => {
    const { slots } = slotsOf(2);
    const first = slots.tryAcquire('a') as Slot;
    expect(slots.tryAcquire('b')).not.toBeNull();
    expect(slots.tryAcquire('a')).toBeNull();
    slots.release(first);
    expect(slots.tryAcquire('c')).not.toBeNull();
    expect(slots.tryAcquire('c')).toBeNull();
  });

  it('are limited per capability, without one holding up the others', () => {
    const { slots } = slotsOf(10, { a: { concurrency: 1, ratePerSecond: null } });
    const slot = slots.tryAcquire('a') as Slot;
    expect(slots.tryAcquire('a')).toBeNull();
    expect(slots.tryAcquire('b')).not.toBeNull();
    slots.release(slot);
    expect(slots.tryAcquire('a')).not.toBeNull();
  });

  it('are not given to a capability that is not in force', () => {
    const { slots } = slotsOf(10);
    expect(slots.tryAcquire('unknown')).toBeNull();
    expect(slots.waitMs('unknown')).toBeNull();
    expect(slots.counts().inFlight).toBe(0);
  });

  it('are free after one release, however often it is repeated', () => {
    const { slots } = slotsOf(2);
    const first = slots.tryAcquire('a') as Slot;
    slots.tryAcquire('a');
    slots.release(first);
    slots.release(first);
    slots.cancel(first);
    expect(slots.counts()).toEqual({ inFlight: 1, maxInFlight: 2, byCapability: { a: 1 } });
  });

  it('cannot be given back by a look-alike', () => {
    const { slots } = slotsOf(1);
    slots.tryAcquire('a');
    slots.release({ capability: 'a' });
    expect(slots.counts().inFlight).toBe(1);
  });

  it('tell everybody who listens when one becomes free, and nobody who has left', () => {
    const { slots } = slotsOf(1);
    const heard = jest.fn();
    const left = jest.fn();
    slots.onFree(heard);
    slots.onFree(left)();
    const slot = slots.tryAcquire('a') as Slot;
    expect(heard).not.toHaveBeenCalled();
    slots.release(slot);
    slots.release(slot);
    expect(heard).toHaveBeenCalledTimes(1);
    expect(left).not.toHaveBeenCalled();
  });

  it('can be taken by a listener', () => {
    const { slots } = slotsOf(1);
    const taken: (Slot | null)[] = [];
    slots.onFree(() => taken.push(slots.tryAcquire('b')));
    slots.release(slots.tryAcquire('a') as Slot);
    expect(taken).toEqual([{ capability: 'b' }]);
    expect(slots.counts().byCapability).toEqual({ b: 1 });
  });

  it('begin no faster than the rate, and a release does not help', () => {
    const { slots, clock } = slotsOf(100, { a: { concurrency: 100, ratePerSecond: 2 } });
    slots.release(slots.tryAcquire('a') as Slot);
    expect(slots.tryAcquire('a')).toBeNull();
    expect(slots.waitMs('a')).toBe(500);
    clock.ms += 499;
    expect(slots.tryAcquire('a')).toBeNull();
    clock.ms += 1;
    expect(slots.waitMs('a')).toBe(0);
    expect(slots.tryAcquire('a')).not.toBeNull();
  });

  it('spend no rate when another limit refuses, or when the slot was not used', () => {
    const { slots } = slotsOf(1, { a: { concurrency: 1, ratePerSecond: 1 } });
    const other = slots.tryAcquire('b') as Slot;
    expect(slots.tryAcquire('a')).toBeNull();
    slots.release(other);
    const slot = slots.tryAcquire('a') as Slot;
    expect(slot).not.toBeNull();
    slots.cancel(slot);
    expect(slots.tryAcquire('a')).not.toBeNull();
  });

  it('say that only a release helps when the limit is one of number', () => {
    const { slots } = slotsOf(1);
    expect(slots.waitMs('a')).toBe(0);
    slots.tryAcquire('a');
    expect(slots.waitMs('b')).toBeNull();
  });

  it('never exceed a limit and never lose one, whatever the order of events', () => {
    const limits = { a: { concurrency: 2, ratePerSecond: null }, b: { concurrency: 9, ratePerSecond: null } };
    const step = fc.oneof(
      fc.record({ take: fc.constantFrom('a' as const, 'b' as const) }),
      fc.record({ release: fc.nat({ max: 9 }), twice: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { slots } = slotsOf(3, limits);
        const held: Slot[] = [];
        const taken = (name: 'a' | 'b'): boolean => {
          const slot = slots.tryAcquire(name);
          if (slot !== null) held.push(slot);
          return slot !== null;
        };
        const released = ({ release, twice }: { release: number; twice: boolean }): void => {
          const [slot] = held.splice(release, 1);
          if (slot === undefined) return;
          slots.release(slot);
          if (twice) slots.release(slot);
        };
        for (const one of steps) {
          const before = held.map(({ capability }) => capability);
          const isTake = 'take' in one;
          const hasRoom =
            isTake &&
            before.length < 3 &&
            before.filter((name) => name === one.take).length < limits[one.take].concurrency;
          expect(isTake ? taken(one.take) : released(one)).toBe(isTake ? hasRoom : undefined);
          expect(slots.counts().inFlight).toBe(held.length);
        }
      }),
    );
  });
});

describe('a token bucket', () => {
  it.each([1, 5, 50, 400])('lets no second see more than 1.1 times a rate of %d, and one more', (rate) => {
    const gap = fc.integer({ min: 0, max: 30 });
    fc.assert(
      fc.property(fc.array(gap, { minLength: 50, maxLength: 300 }), (gaps) => {
        const bucket = new TokenBucket(rate, 0);
        const starts: number[] = [];
        let now = 0;
        for (const ms of gaps) {
          now += ms;
          while (bucket.take(now)) starts.push(now);
        }
        for (const from of starts) {
          const within = starts.filter((at) => at >= from && at < from + 1_000).length;
          expect(within).toBeLessThanOrEqual(rate * 1.1 + 1);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('gives the whole rate to whoever comes when it says', () => {
    for (const rate of [0.5, 3, 7, 60, 1_000]) {
      const bucket = new TokenBucket(rate, 0);
      let now = 0;
      let taken = 0;
      while (now < 20_000) {
        if (bucket.take(now)) taken += 1;
        else now += bucket.waitMs(now);
      }
      expect(taken).toBeGreaterThanOrEqual(Math.floor(rate * 20 * 0.95));
      expect(taken).toBeLessThanOrEqual(rate * 20 + Math.max(1, rate * 0.1) + 1);
    }
  });

  it('counts no time when the clock goes back', () => {
    const bucket = new TokenBucket(1, 10_000);
    expect(bucket.take(10_000)).toBe(true);
    expect(bucket.take(0)).toBe(false);
    expect(bucket.take(10_999)).toBe(false);
    expect(bucket.take(11_000)).toBe(true);
  });

  it('never holds more than a tenth of a second, however long nobody came or how much was given back', () => {
    const bucket = new TokenBucket(100, 0);
    for (let at = 0; at < 50; at += 1) bucket.giveBack();
    let burst = 0;
    while (bucket.take(1_000_000)) burst += 1;
    expect(burst).toBe(10);
  });
});
