import { describe, expect, it } from '@jest/globals';
import { Grace } from './grace.js';

const never = new Promise<void>(() => {});

describe('the grace of a stopping process', () => {
  it('runs down with the clock and is over at its end', () => {
    let now = 500;
    const grace = new Grace(100, new AbortController().signal, () => now);
    expect([grace.leftMs(), grace.isOver()]).toEqual([100, false]);
    now = 560;
    expect(grace.leftMs()).toBe(40);
    now = 900;
    expect([grace.leftMs(), grace.isOver()]).toEqual([0, true]);
  });

  it('is over at once when somebody is in a hurry, also for who is waiting already', async () => {
    const hurry = new AbortController();
    const grace = new Grace(1_000_000, hurry.signal);
    const waiting = grace.within(never);
    hurry.abort();
    await expect(waiting).resolves.toBeUndefined();
    expect(grace.isOver()).toBe(true);
    await expect(grace.within(never)).resolves.toBeUndefined();
  });

  it('waits for work no longer than it lasts, and not at all for work that is done', async () => {
    const { signal } = new AbortController();
    await expect(new Grace(0, signal).within(never)).resolves.toBeUndefined();
    await expect(new Grace(1_000_000, signal).within(Promise.resolve())).resolves.toBeUndefined();
  });

  it('passes on what the work throws', async () => {
    const grace = new Grace(1_000_000, new AbortController().signal);
    await expect(grace.within(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});
