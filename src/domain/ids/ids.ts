import { BASE32_ALPHABET, base32Of20Bits, base32Of48Bits } from './base32.js';

/** What each kind of id starts with. An id is a plain string; its prefix says what it names, for ever. */
export const ID_PREFIXES = {
  event: 'evt',
  unit: 'unt',
  run: 'run',
  session: 'ses',
  toolCall: 'call',
  approval: 'apr',
  approvalBatch: 'apb',
  policyDecision: 'dec',
  command: 'cmd',
  attempt: 'att',
  handoff: 'hnd',
  lease: 'lse',
  instance: 'ins',
  dataKey: 'key',
  checkpoint: 'chk',
  turn: 'trn',
  reasoning: 'rsn',
  artifact: 'art',
  subagent: 'sub',
  backup: 'bkp',
  grant: 'gra',
  delegation: 'dlg',
  planReview: 'prv',
  policyActivation: 'pac',
  revocation: 'rvk',
} as const;

export type IdPrefix = (typeof ID_PREFIXES)[keyof typeof ID_PREFIXES];

export const ID_RANDOM_BYTES = 10;

const TIME_MAX = 2 ** 48 - 1;
const WORD_MAX = 2 ** 20 - 1;

/** 80 bits as four whole numbers of 20 bits each, the most significant first. */
type Tail = readonly [number, number, number, number];

/**
 * `prefix_` and 26 characters of lower-case Crockford base 32: 48 bits of time in milliseconds, then 80 random bits (a
 * ULID in all but letter case). Ids of one prefix sort by the millisecond they were made in. They are names, not
 * secrets.
 *
 * `nowMs` is whole milliseconds since 1970, `random` exactly 10 bytes. Throws a plain `Error` on anything else.
 */
export function newId(prefix: IdPrefix, nowMs: number, random: Uint8Array): string {
  return `${prefix}_${timeText(nowMs)}${tailText(tailFrom(random))}`;
}

export interface IdSource {
  next(prefix: IdPrefix): string;
}

/**
 * Ids in strictly rising order, over all prefixes together (compare what follows the `_`): within one millisecond, and
 * while the clock stands behind an id already given, the 80 bits are counted up instead of drawn anew. When they run
 * out the time is taken one millisecond further. Other sources know nothing of this one's order.
 *
 * `clock.now()` gives milliseconds since 1970, fractions are dropped; `random.bytes(10)` is called only when bits are
 * drawn.
 */
export function createIdSource(clock: { now(): number }, random: { bytes(length: number): Uint8Array }): IdSource {
  let lastMs = -1;
  let time = '';
  let tail: Tail | null = null;

  function startMillisecond(ms: number): Tail {
    lastMs = ms;
    time = timeText(ms);
    return tailFrom(random.bytes(ID_RANDOM_BYTES));
  }

  return {
    next(prefix) {
      const nowMs = Math.floor(clock.now());
      const following = tail !== null && nowMs <= lastMs ? tailAfter(tail) : startMillisecond(nowMs);
      tail = following ?? startMillisecond(lastMs + 1);
      return `${prefix}_${time}${tailText(tail)}`;
    },
  };
}

const ID_BODY = new RegExp(`^[0-7][${BASE32_ALPHABET}]{25}$`);

/**
 * True only for the exact form `newId` gives for this prefix: nothing else is ever used as an id, a path or a key of a
 * row.
 */
export function isId(prefix: IdPrefix, text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(`${prefix}_`) && ID_BODY.test(text.slice(prefix.length + 1));
}

function timeText(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > TIME_MAX) throw new Error('an id needs a time of whole milliseconds');
  return base32Of48Bits(ms);
}

function tailFrom(random: Uint8Array): Tail {
  if (random.length !== ID_RANDOM_BYTES) throw new Error(`an id needs exactly ${ID_RANDOM_BYTES} random bytes`);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0] = random;
  return [
    (a << 12) | (b << 4) | (c >> 4),
    ((c & 15) << 16) | (d << 8) | e,
    (f << 12) | (g << 4) | (h >> 4),
    ((h & 15) << 16) | (i << 8) | j,
  ];
}

function tailText(tail: Tail): string {
  return base32Of20Bits(tail[0]) + base32Of20Bits(tail[1]) + base32Of20Bits(tail[2]) + base32Of20Bits(tail[3]);
}

/** The number one higher, or null after the highest. */
function tailAfter([a, b, c, d]: Tail): Tail | null {
  if (d < WORD_MAX) return [a, b, c, d + 1];
  if (c < WORD_MAX) return [a, b, c + 1, 0];
  if (b < WORD_MAX) return [a, b + 1, 0, 0];
  return a < WORD_MAX ? [a + 1, 0, 0, 0] : null;
}
