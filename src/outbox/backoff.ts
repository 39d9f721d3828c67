import type { RandomSource } from '../system/random-source.js';

export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

const DOUBLINGS_MAX = 40;

/**
 * How long to wait after the n-th failure in a row (from 1): doubled each time up to the longest, and a random half of it
 * taken off, so that many who failed together do not come back together.
 */
export function backoffMs(n: number, { firstMs, maxMs }: BackoffLimits, random: RandomSource): number {
  const whole = Math.min(firstMs * 2 ** Math.min(n - 1, DOUBLINGS_MAX), Math.max(firstMs, maxMs));
  return Math.round(whole / 2 + (whole / 2) * fraction(random));
}

/** From 0 to 1. */
export function fraction(random: RandomSource): number {
  const [high = 0, low = 0] = random.bytes(2);
  return (high * 256 + low) / 65_535;
}
