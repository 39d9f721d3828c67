import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs } from './backoff.js';

describe('the pause before the next look-up', () => {
  it('doubles from half a second to a minute, moved by at most a fifth', () => {
    for (const [queries, base] of [
      [0, 500],
      [1, 1000],
      [4, 8000],
      [6, 32_000],
      [7, 60_000],
      [1000, 60_000],
    ] as const) {
      const pauses = Array.from({ length: 50 }, (_, n) => backoffMs(`call_${n}`, queries));
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(base * 0.8);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(base * 1.2);
    }
  });

  it('spreads calls that became unknown together', () => {
    expect(new Set(Array.from({ length: 50 }, (_, n) => backoffMs(`call_${n}`, 7))).size).toBeGreaterThan(40);
  });

  it('is the same after a restart, and always whole milliseconds', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (id, queries) => {
        const pause = backoffMs(id, queries);
        return pause === backoffMs(id, queries) && Number.isSafeInteger(pause) && pause >= 400 && pause <= 72_000;
      }),
    );
  });
});
