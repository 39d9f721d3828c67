import { randomInt } from 'node:crypto';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const PROGRAM = fileURLToPath(new URL('../chaos/chaos.mjs', import.meta.url));

interface Sums {
  readonly kills: number;
  readonly inFlight: number;
  readonly duplicates: number;
  readonly lost: number;
  readonly stuck: number;
  readonly seed: number;
}

/** A run of `npm run chaos`: what its last line says, what it said on the way, and how it ended. */
async function chaos(...args: string[]): Promise<{ sums: Sums; words: string; code: number | null }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [printed, words, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const last = printed.trimEnd().split('\n').at(-1) ?? '';
  const sums = last.startsWith('{"chaos":') ? (JSON.parse(last) as { chaos: Sums }).chaos : null;
  if (sums === null) throw new Error(`ended with ${code} and no result: ${words}`);
  return { sums, words, code };
}

describe('killing at random moments and points, while a tool fails at random', () => {
  it('duplicates, loses and leaves behind nothing, and finds fault with a client that simply retries', async () => {
    const seed = randomInt(1, 2 ** 31);
    process.stderr.write(`chaos: seed ${seed}\n`);
    const [product, naive] = await Promise.all([
      chaos('--minutes', '0.15', '--lives', '3', '--seed', `${seed}`, '--callers', '32'),
      chaos('--minutes', '0.08', '--lives', '2', '--seed', `${seed}`, '--callers', '16', '--client', 'naive'),
    ]);
    const { kills, inFlight, ...rest } = product.sums;
    expect([rest, product.words]).toEqual([{ duplicates: 0, lost: 0, stuck: 0, seed }, expect.any(String)]);
    expect(product.code).toBe(0);
    expect(kills).toBeGreaterThanOrEqual(3);
    expect(inFlight).toBeGreaterThan(0);

    expect(naive.sums.seed).toBe(seed);
    expect(naive.sums.duplicates).toBeGreaterThan(0);
    expect(naive.code).toBe(1);
  });
});
