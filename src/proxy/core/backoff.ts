import { sha256Hex } from '../../domain/digests/digests.js';

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
const JITTER = 0.2;
const LUCK_DIGITS = 8;

/**
 * Milliseconds until the next look-up: doubling from half a second to a minute, moved by up to a fifth either way so
 * that many calls that became unknown together are not asked about together. The move depends on the call and the query
 * alone, so it is the same after a restart.
 */
export function backoffMs(toolCallId: string, queriesMade: number): number {
  const base = Math.min(FIRST_MS * 2 ** Math.min(queriesMade, 20), LONGEST_MS);
  const luck = Number.parseInt(sha256Hex(`${toolCallId}/${queriesMade}`).slice(0, LUCK_DIGITS), 16) / 16 ** LUCK_DIGITS;
  return Math.round(base * (1 - JITTER + 2 * JITTER * luck));
}
