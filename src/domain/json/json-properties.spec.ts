import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { canonicalBytes, canonicalJson, verifiedCanonicalJson } from './canonical-json.js';
import type { JsonObject, JsonValue } from './json-value.js';
import { isJsonObject, jsonEquals } from './json-value.js';
import type { StrictJsonReason, StrictJsonResult } from './strict-json.js';
import { DEFAULT_JSON_LIMITS, parseStrictJson } from './strict-json.js';

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('"', '\\', '/', '\n', '\u0000', '\u2028', 'a', '\u00e9', '\u{1F389}', '\ue000') }),
);
const key = fc.oneof(text, fc.constantFrom('toString', 'toJSON', '10', '9', '')).filter((k) => !FORBIDDEN.has(k));
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -20, max: 20 }),
  fc.double({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, noNaN: true }),
);
const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(fc.constantFrom<JsonValue>(null, true, false), number, text),
    fc.array(tie('json'), { maxLength: 6 }),
    fc.dictionary(key, tie('json'), { maxKeys: 30 }),
  ),
}));

/** Random sequences of pieces of JSON text: mostly wrong, often nearly right. */
const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom('{', '}', '[', ']', ',', ':', ' ', '"a":', '"a"', '"b":1', '0', '-', '.5', 'e3', 'E-', '1'),
      fc.constantFrom('true', 'null', 'fals', '"', '\\', '\\u', 'd83c', '\\udf89', '\u0000', '\t', '"__proto__":'),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

/** Valid text with one character replaced, removed or doubled. */
const damaged = fc
  .tuple(json, fc.nat(), fc.constantFrom('', '"', '\\', ',', '}', ']', '0', '9', ':', '\u0007'))
  .map(([value, at, replacement]) => {
    const whole = JSON.stringify(value);
    const index = at % whole.length;
    return whole.slice(0, index) + replacement + whole.slice(index + 1);
  });

function parsedByPlatform(source: string): { readonly value: JsonValue } | null {
  try {
    return { value: JSON.parse(source) as JsonValue };
  } catch {
    return null;
  }
}

function withKeysReversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withKeysReversed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([k, child]) => [k, withKeysReversed(child)]),
  );
}

function strict(source: string | Uint8Array): StrictJsonResult {
  return parseStrictJson(source, DEFAULT_JSON_LIMITS);
}

/** `accepted` with its value, or the reason of the refusal. */
function verdict(source: string | Uint8Array): { readonly accepted: JsonValue } | StrictJsonReason {
  const result = strict(source);
  return result.ok ? { accepted: result.value } : result.problem.reason;
}

/** What the platform's parser allows the strict one to say. */
function agreesWithPlatform(source: string): boolean {
  const platform = parsedByPlatform(source);
  const result = strict(source);
  if (result.ok) return platform !== null && jsonEquals(platform.value, result.value);
  return platform === null || result.problem.reason !== 'syntax';
}

function read(source: string | Uint8Array): JsonValue {
  const result = strict(source);
  if (!result.ok) throw new Error(`was refused: ${result.problem.reason}`);
  return result.value;
}

describe('strict and canonical JSON together', () => {
  it('read back every value from its canonical text', () => {
    fc.assert(
      fc.property(json, (value) => {
        const canonical = canonicalJson(value);
        expect(jsonEquals(read(canonical), value)).toBe(true);
        expect(jsonEquals(read(canonicalBytes(value)), value)).toBe(true);
        expect(canonicalJson(read(canonical))).toBe(canonical);
        expect(verifiedCanonicalJson(value)).toBe(canonical);
      }),
      { numRuns: 500 },
    );
  });

  it('give one text for one value, whatever the order of keys and the white space', () => {
    fc.assert(
      fc.property(json, (value) => {
        const canonical = canonicalJson(value);
        expect(canonicalJson(withKeysReversed(value))).toBe(canonical);
        expect(canonicalJson(read(JSON.stringify(value, null, 2)))).toBe(canonical);
      }),
      { numRuns: 500 },
    );
  });

  it('give different texts for different values', () => {
    fc.assert(
      fc.property(json, json, (left, right) => {
        expect(canonicalJson(left) === canonicalJson(right)).toBe(jsonEquals(left, right));
      }),
      { numRuns: 500 },
    );
  });

  it('order keys by UTF-16 code units and escape nothing more than JSON.stringify', () => {
    fc.assert(
      fc.property(fc.dictionary(key, text, { maxKeys: 60, noNullPrototype: true }), (object: JsonObject) => {
        const members = Object.keys(object)
          .sort((a, b) => (a < b ? -1 : 1))
          .map((k) => `${JSON.stringify(k)}:${JSON.stringify(object[k])}`);
        expect(canonicalJson(object)).toBe(`{${members.join(',')}}`);
      }),
      { numRuns: 500 },
    );
  });
});

describe('strict JSON against JSON.parse', () => {
  it('accepts only what JSON.parse accepts, with an equal value, and calls nothing else a syntax error', () => {
    fc.assert(
      fc.property(fc.oneof(pieces, damaged, fc.json()), (source) => {
        expect(agreesWithPlatform(source)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it('never throws on random bytes, and answers for bytes as for the text they hold', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const decoded = Buffer.from(bytes).toString('utf8');
        const isUtf8 = Buffer.from(decoded, 'utf8').equals(bytes);
        expect(verdict(bytes)).toEqual(isUtf8 ? verdict(decoded) : 'invalid_utf8');
      }),
      { numRuns: 3_000 },
    );
  });

  it('never throws on random UTF-16, and lets no half pair in', () => {
    const units = fc.array(fc.oneof(fc.nat(0xffff), fc.constantFrom(0x22, 0x5c, 0xd800, 0xdc00)), { maxLength: 12 });
    fc.assert(
      fc.property(units, (codes) => {
        const accepted = verdict(`["${String.fromCharCode(...codes)}"]`);
        expect(JSON.stringify(accepted)).not.toMatch(/\\ud[89a-f]/);
      }),
      { numRuns: 3_000 },
    );
  });

  it('finds every duplicate key wherever it stands', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { minLength: 1, maxLength: 40 }), fc.nat(), fc.nat(), (keys, which, where) => {
        const repeated = keys[which % keys.length] as string;
        const members = keys.map((k) => `${JSON.stringify(k)}:1`);
        expect(verdict(`{${members.join(',')}}`)).toEqual({ accepted: Object.fromEntries(keys.map((k) => [k, 1])) });
        members.splice(where % (keys.length + 1), 0, `${JSON.stringify(repeated)}:1`);
        expect(verdict(`{${members.join(',')}}`)).toBe('duplicate_key');
      }),
    );
  });

  it('refuses every integer beyond 2^53 - 1 in every spelling and keeps every other exactly', () => {
    const spellings = [
      (digits: string) => digits,
      (digits: string) => `${digits}.000`,
      (digits: string) => `${digits}.0e0`,
      (digits: string) => (digits === '0' ? digits : `${digits}0000E-4`),
      (digits: string) => digits.replace(/(\d{3})$/, '.$1e3').replace(/^(-?)\./, '$10.'),
    ];
    const near = fc.bigInt({ min: -2n, max: 2n });
    const integers = fc.oneof(
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
      fc.maxSafeInteger().map(BigInt),
      near.map((offset) => 2n ** 53n - 1n + offset),
      near.map((offset) => -(2n ** 53n - 1n) + offset),
    );
    fc.assert(
      fc.property(integers, fc.constantFrom(...spellings), (integer, spelling) => {
        const isSafe = integer >= -(2n ** 53n - 1n) && integer <= 2n ** 53n - 1n;
        expect(verdict(spelling(String(integer)))).toEqual(isSafe ? { accepted: Number(integer) } : 'unsafe_integer');
      }),
      { numRuns: 3_000 },
    );
  });
});
