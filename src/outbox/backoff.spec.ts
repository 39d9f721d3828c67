import { describe, expect, it } from '@jest/globals';
import { backoffMs } from './backoff.js';

const LIMITS = { firstMs: 1_000, maxMs: 60_000 };
const randomOf = (byte: number) => ({ bytes: (count: number) => new Uint8Array(count).fill(byte) });

describe('waiting before the next try', () => {
  it('doubles up to the longest wait', () => {
    const waits = [1, 2, 3, 6, 7, 8, 5_000].map((n) => backoffMs(n, LIMITS, randomOf(255)));
    expect(waits).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('takes off up to a half by chance, and no more', () => {
    expect(backoffMs(3, LIMITS, randomOf(0))).toBe(2_000);
    expect(backoffMs(3, LIMITS, randomOf(128))).toBeGreaterThan(2_900);
    expect(backoffMs(3, LIMITS, randomOf(128))).toBeLessThan(3_100);
  });
});
