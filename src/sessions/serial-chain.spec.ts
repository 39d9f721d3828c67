import { describe, expect, it } from '@jest/globals';
import { SerialChain } from './serial-chain.js';

/** Work that ends when it is told to. */
function slow(
  log: string[],
  name: string,
): { readonly work: () => Promise<string>; readonly end: () => void; readonly fail: () => void } {
  let end = (): void => {};
  let fail = (): void => {};
  const gate = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = () => reject(new Error(name));
  });
  const work = async (): Promise<string> => {
    log.push(`${name} begins`);
    await gate;
    log.push(`${name} ends`);
    return name;
  };
  return { work, end: () => end(), fail: () => fail() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the chain of a key', () => {
  it('runs work about one key one after another, and about different keys side by side [D-32]', async () => {
    const log: string[] = [];
    const [a, b, c] = [slow(log, 'a'), slow(log, 'b'), slow(log, 'c')];
    const chain = new SerialChain();
    const all = [chain.run('x', a.work), chain.run('x', b.work), chain.run('y', c.work)];
    await turn();
    expect(log).toEqual(['a begins', 'c begins']);
    for (const { end } of [a, b, c]) end();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
    expect(log.indexOf('a ends')).toBeLessThan(log.indexOf('b begins'));
  });

  it('tells a failure to its own caller and goes on [D-33]', async () => {
    const chain = new SerialChain();
    const first = chain.run('x', () => Promise.reject(new Error('first')));
    const second = chain.run('x', () => Promise.resolve('second'));
    await expect(first).rejects.toThrow('first');
    expect(await second).toBe('second');
  });

  it('forgets a key with its last work, and not before [D-34]', async () => {
    const log: string[] = [];
    const [a, b] = [slow(log, 'a'), slow(log, 'b')];
    const chain = new SerialChain();
    const first = chain.run('x', a.work);
    const second = chain.run('x', b.work);
    a.end();
    await first;
    await turn();
    expect(chain.size).toBe(1);
    b.end();
    await second;
    await chain.idle();
    expect(chain.size).toBe(0);
  });

  it('is settled when what was queued has ended, whatever came of it', async () => {
    const chain = new SerialChain();
    const failed = chain.run('x', () => Promise.reject(new Error('no')));
    await chain.settled('x');
    await expect(failed).rejects.toThrow('no');
    await expect(chain.settled('never used')).resolves.toBeUndefined();
  });
});
