import { isWellFormed } from '../text/well-formed.js';
import type { JsonValue } from './json-value.js';
import type { Cursor, JsonLimits } from './strict-json-cursor.js';
import type { StrictJsonProblem } from './strict-json-problem.js';
import { strictJsonProblem } from './strict-json-problem.js';
import { readDocument } from './strict-json-reader.js';

export type { JsonLimits } from './strict-json-cursor.js';
export type { StrictJsonProblem, StrictJsonReason } from './strict-json-problem.js';

export type StrictJsonResult =
  { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly problem: StrictJsonProblem };

export const DEFAULT_JSON_LIMITS: JsonLimits = Object.freeze({
  bytesMax: 1_048_576,
  depthMax: 64,
  keysMax: 10_000,
  stringUnitsMax: 1_048_576,
});

/** Reading recurses once or twice per level, so a limit beyond this could exhaust the stack. */
export const JSON_DEPTH_CEILING = 512;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LENIENT_UTF8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Reads one JSON text (RFC 8259) more strictly than `JSON.parse`, so that what is judged, shown, hashed and sent is one
 * value that every reader of the text agrees on (I-JSON, RFC 7493). Refused beyond the grammar: duplicate keys,
 * integers beyond ±(2^53 - 1) in any spelling, numbers that overflow or vanish, half surrogate pairs (raw or escaped),
 * invalid UTF-8, a byte order mark, the keys `__proto__`, `constructor` and `prototype` at any depth, and everything
 * over `limits`. What is accepted equals what `JSON.parse` returns, except that `-0` is `0`. Text is kept as it is: no
 * normalisation, and NUL, U+0085, U+2028 and U+2029 survive.
 *
 * Never throws on any text. Throws a plain `Error` when `limits.depthMax` is over `JSON_DEPTH_CEILING`.
 */
export function parseStrictJson(source: Uint8Array | string, limits: JsonLimits): StrictJsonResult {
  if (limits.depthMax > JSON_DEPTH_CEILING) throw new Error(`depthMax must be at most ${JSON_DEPTH_CEILING}`);
  if (isTooLarge(source, limits.bytesMax)) return refusal('too_large', limits.bytesMax);
  const text = typeof source === 'string' ? source : decodeUtf8(source);
  if (text === null) return refusal('invalid_utf8', firstMalformedByte(source as Uint8Array));
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) return refusal('byte_order_mark', 0);
  const cursor: Cursor = {
    text,
    limits,
    mayHoldRawSurrogates: typeof source === 'string' && !isWellFormed(text),
    path: [],
    at: 0,
    keysRead: 0,
    problem: null,
  };
  const value = readDocument(cursor);
  if (value !== undefined) return { ok: true, value };
  if (cursor.problem === null) throw new Error('strict JSON was refused without a problem');
  return { ok: false, problem: cursor.problem };
}

function refusal(reason: 'too_large' | 'invalid_utf8' | 'byte_order_mark', offset: number): StrictJsonResult {
  return { ok: false, problem: strictJsonProblem(reason, [], offset) };
}

/** One UTF-16 unit is one to three bytes, so most texts need not be measured. */
function isTooLarge(source: Uint8Array | string, bytesMax: number): boolean {
  if (source.length > bytesMax) return true;
  if (typeof source !== 'string' || source.length * 3 <= bytesMax) return false;
  return Buffer.byteLength(source, 'utf8') > bytesMax;
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Replacing what is malformed and encoding again differs from the original first inside the first malformed sequence.
 */
function firstMalformedByte(bytes: Uint8Array): number {
  const repaired = Buffer.from(LENIENT_UTF8.decode(bytes), 'utf8');
  const index = bytes.findIndex((byte, at) => byte !== repaired[at]);
  return index === -1 ? bytes.length : index;
}
