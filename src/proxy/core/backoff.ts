const FIRST_MS = 500;
const LONGEST_MS = 60_000;
const JITTER = 0.2;

/**
 * Milliseconds until the next look-up: doubling from half a second to a minute, moved by up to a fifth either way so
 * that many calls that became unknown together are not asked about together. `luck` is a number from 0 up to 1.
 */
export function backoffMs(queriesMade: number, luck: number): number {
  const base = Math.min(FIRST_MS * 2 ** Math.min(queriesMade, 20), LONGEST_MS);
  return Math.round(base * (1 - JITTER + 2 * JITTER * luck));
}
