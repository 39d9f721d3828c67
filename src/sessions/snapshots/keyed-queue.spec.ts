import { describe, expect, it } from '@jest/globals';
import { KeyedQueue } from './keyed-queue.js';

describe('a keyed queue', () => {
  it('runs what belongs to one key in order and lets other keys pass', async () => {
    const queue = new KeyedQueue();
    const seen: string[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const first = queue.run('a', async () => {
      await gate;
      seen.push('first');
    });
    const second = queue.run('a', async () => void seen.push('second'));
    await queue.run('b', async () => void seen.push('other'));
    expect(seen).toEqual(['other']);
    open();
    await Promise.all([first, second]);
    expect(seen).toEqual(['other', 'first', 'second']);
  });

  it('goes on after a task that fails, and tells its caller', async () => {
    const queue = new KeyedQueue();
    const failed = queue.run('a', () => Promise.reject(new Error('full')));
    const next = queue.run('a', async () => 7);
    await expect(failed).rejects.toThrow('full');
    await expect(next).resolves.toBe(7);
    await queue.idle();
  });
});
