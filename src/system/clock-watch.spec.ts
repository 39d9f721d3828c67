import { describe, expect, it } from '@jest/globals';
import { Clock } from './clock.js';
import { ClockWatch } from './clock-watch.js';
import { Readiness } from './readiness.js';

class TwoClocks extends Clock {
  wall = 1_900_000_000_000;
  ticks = 5_000;

  override now(): number {
    return this.wall;
  }

  override monotonic(): number {
    return this.ticks;
  }

  pass(ms: number): void {
    this.wall += ms;
    this.ticks += ms;
  }
}

function watched(): {
  readonly clock: TwoClocks;
  readonly watch: ClockWatch;
  readonly details: () => readonly string[];
} {
  const [clock, readiness] = [new TwoClocks(), new Readiness()];
  const watch = new ClockWatch(clock, { jumpMsMax: 2000, stallMsMax: 1000 }, readiness);
  return { clock, watch, details: () => readiness.reasons().map(({ name, detail }) => `${name}: ${detail}`) };
}

describe('a watch over the clocks', () => {
  it('says nothing while both clocks go on together', () => {
    const { clock, watch, details } = watched();
    for (let seconds = 0; seconds < 5; seconds += 1) {
      clock.pass(1000);
      clock.wall += 1500;
      watch.look(1000);
      clock.wall -= 1500;
      watch.look(0);
    }
    expect(details()).toEqual([]);
  });

  it.each([3000, -3_600_000])('tells for a minute that the wall clock was moved by %d ms', (byMs) => {
    const { clock, watch, details } = watched();
    clock.pass(1000);
    clock.wall += byMs;
    watch.look(1000);
    expect(details()).toEqual([`clock: the wall clock moved by ${byMs} ms against the monotonic clock`]);
    clock.pass(59_000);
    expect(details()).toHaveLength(1);
    clock.pass(1000);
    expect(details()).toEqual([]);
  });

  it('tells that the event loop was held up', () => {
    const { clock, watch, details } = watched();
    clock.pass(2000);
    watch.look(1000);
    expect(details()).toEqual([]);
    clock.pass(2500);
    watch.look(1000);
    expect(details()).toEqual(['clock: the event loop was held up for 1500 ms']);
  });

  it.each([
    ['moved', (clock: TwoClocks) => void (clock.wall += 5000)],
    ['left behind by a sleeping machine', (clock: TwoClocks) => void (clock.wall += 3_600_000)],
    ['set back', (clock: TwoClocks) => void (clock.wall -= 5000)],
    ['seen late', (clock: TwoClocks) => clock.pass(5000)],
  ])('calls whoever has to look again when a clock was %s, and otherwise not', (_what, disturb) => {
    const { clock, watch } = watched();
    let called = 0;
    watch.onIrregularity(() => (called += 1));
    clock.pass(1000);
    watch.look(1000);
    expect(called).toBe(0);
    clock.pass(1000);
    disturb(clock);
    watch.look(1000);
    expect(called).toBe(1);
  });

  it.each([
    [null, []],
    [-60_000, []],
    [1500, []],
    [86_400_000, ['clock: the wall clock is 86400000 ms before the end of the last process']],
  ])('tells when the last process ended %p ms from now', (inMs, expected) => {
    const { clock, watch, details } = watched();
    watch.start(inMs === null ? null : clock.wall + inMs);
    watch.stop();
    expect(details()).toEqual(expected);
  });
});
