import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { after, every, pause } from './timers.js';

const DAY_MS = 86_400_000;

describe('a timer', () => {
  let calls: number;
  const call = (): void => void (calls += 1);

  beforeEach(() => {
    calls = 0;
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it.each([25, 49.8, 365])('of %d days does not fire a moment before its time, and then once', async (days) => {
    after(days * DAY_MS, call);
    await jest.advanceTimersByTimeAsync(days * DAY_MS - 1);
    expect(calls).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(calls).toBe(1);
    await jest.advanceTimersByTimeAsync(100 * DAY_MS);
    expect(calls).toBe(1);
  });

  it('can be called off in any part of a long time', async () => {
    const timer = after(60 * DAY_MS, call);
    await jest.advanceTimersByTimeAsync(30 * DAY_MS);
    timer.cancel();
    timer.cancel();
    await jest.advanceTimersByTimeAsync(60 * DAY_MS);
    expect([calls, jest.getTimerCount()]).toEqual([0, 0]);
  });

  it('without an end never fires', async () => {
    const timer = after(Infinity, call);
    await jest.advanceTimersByTimeAsync(100 * DAY_MS);
    expect(calls).toBe(0);
    timer.cancel();
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([-5, 0, Number.NaN])('of %d milliseconds fires in the next turn', async (ms) => {
    after(ms, call);
    await jest.advanceTimersByTimeAsync(1);
    expect(calls).toBe(1);
  });

  it('that repeats does so until it is called off, and resolves whoever pauses', async () => {
    const timer = every(1000, call);
    let isOver = false;
    void pause(30 * DAY_MS).then(() => (isOver = true));
    await jest.advanceTimersByTimeAsync(3000);
    timer.cancel();
    await jest.advanceTimersByTimeAsync(29 * DAY_MS);
    expect([calls, isOver]).toEqual([3, false]);
    await jest.advanceTimersByTimeAsync(DAY_MS);
    expect(isOver).toBe(true);
  });
});
