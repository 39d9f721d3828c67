import { readdirSync, readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';

import { describe, expect, it } from '@jest/globals';

import { CANONICAL_DEPTH_MAX, canonicalBytes, canonicalJson, verifiedCanonicalJson } from './canonical-json.js';
import type { JsonValue } from './json-value.js';

const VECTORS = new URL('../../../test/vectors/jcs/', import.meta.url);

function readVector(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, VECTORS), 'utf8'));
}

interface DocumentVector {
  readonly source: string;
  readonly input: string;
  readonly canonical: string;
  readonly utf8Hex?: string;
}

interface NumberVector {
  readonly ieee754: string;
  readonly canonical: string | null;
}

const documents = readdirSync(VECTORS)
  .filter((name) => name.endsWith('.json') && name !== 'numbers.json')
  .map((name) => ({ name, ...(readVector(name) as DocumentVector) }));

const numbers = readVector('numbers.json') as NumberVector[];

function doubleOf(ieee754: string): number {
  return Buffer.from(ieee754, 'hex').readDoubleBE(0);
}

function canonicalOf(value: unknown): string {
  return canonicalJson(value as JsonValue);
}

function nested(levels: number): JsonValue {
  let value: JsonValue = [];
  for (let level = 1; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('canonical JSON gives what RFC 8785 gives', () => {
  it('with all its samples at hand', () => {
    expect(documents).toHaveLength(8);
    expect(numbers).toHaveLength(26);
  });

  it.each(documents)('for $name', ({ input, canonical, utf8Hex }) => {
    const value = JSON.parse(input) as JsonValue;
    expect(canonicalJson(value)).toBe(canonical);
    expect(verifiedCanonicalJson(value)).toBe(canonical);
    expect(Buffer.from(canonicalBytes(value)).toString('hex')).toBe(
      utf8Hex ?? Buffer.from(canonical, 'utf8').toString('hex'),
    );
  });

  it.each(numbers.filter(({ canonical }) => canonical !== null))(
    'for the number $ieee754',
    ({ ieee754, canonical }) => {
      expect(canonicalJson(doubleOf(ieee754))).toBe(canonical);
    },
  );

  it.each(numbers.filter(({ canonical }) => canonical === null))('and no text for $ieee754', ({ ieee754 }) => {
    expect(() => canonicalJson(doubleOf(ieee754))).toThrow(/not finite/);
  });
});

describe('canonical JSON', () => {
  it('calls no toJSON and reads it as data', () => {
    const value = { toJSON: 'x', a: { toJSON: [1] } };
    expect(canonicalJson(value)).toBe('{"a":{"toJSON":[1]},"toJSON":"x"}');
    expect(() => canonicalOf({ toJSON: () => 'forged' })).toThrow('not JSON: function');
  });

  it('writes objects without a prototype and of another realm like any other', () => {
    const bare = Object.assign(Object.create(null) as Record<string, JsonValue>, { b: 1, a: 2 });
    expect(canonicalJson(bare)).toBe('{"a":2,"b":1}');
    expect(canonicalOf(runInContext('({ b: [1], a: {} })', createContext({})))).toBe('{"a":{},"b":[1]}');
  });

  it('keeps composed and decomposed text apart', () => {
    expect(canonicalJson('\u00e9')).not.toBe(canonicalJson('e\u0301'));
  });

  it('sorts many keys as it sorts few', () => {
    const keys = Array.from({ length: 200 }, (_, index) => `k${index % 7}\u{1F389}${index}`);
    const object = Object.fromEntries(keys.map((key, index) => [key, index]));
    const written = Object.keys(JSON.parse(canonicalJson(object)) as object);
    expect(written).toEqual(keys.toSorted((a, b) => (a < b ? -1 : 1)));
  });

  it('escapes alike in short and in long text', () => {
    for (const special of ['\u0000', '\u001f', '"', '\\', '\n', '\u{1F389}', '\u007f', '\u2028']) {
      for (const filler of ['', 'x'.repeat(300)]) {
        expect(canonicalJson(filler + special)).toBe(JSON.stringify(filler + special));
        expect(canonicalJson(special + filler)).toBe(JSON.stringify(special + filler));
      }
    }
  });

  it('gives bytes in memory of their own', () => {
    const bytes = canonicalBytes({ a: 1 });
    expect(bytes.byteOffset).toBe(0);
    expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
  });

  const notJson: readonly (readonly [string, unknown])[] = [
    ['undefined', undefined],
    ['an undefined member', { a: undefined }],
    ['a hole', Array.from({ length: 2 }).fill(1, 1)],
    ['NaN', { n: Number.NaN }],
    ['Infinity', [Number.POSITIVE_INFINITY]],
    ['a bigint', { n: 5n }],
    ['a function', { f: () => 1 }],
    ['a symbol', [Symbol('s')]],
    ['a date', { at: new Date(86_400_000) }],
    ['a map', new Map([['a', 1]])],
    ['a set', { s: new Set([1]) }],
    ['a boxed number', [Object(1)]],
    ['a regular expression', /x/],
    ['a typed array', new Uint8Array(2)],
    ['a buffer', { b: Buffer.from('x') }],
    ['an error', new Error('x')],
    ['an object that inherits', Object.create({ a: 1 })],
    ['an object that inherits from a bare one', Object.create(Object.create(null) as object)],
    ['half a pair', '\ud83c'],
    ['half a pair late in long text', `${'x'.repeat(300)}\udf89`],
    ['a reversed pair', { t: '\udf89\ud83c' }],
    ['half a pair in a key', { 'k\ud800': 1 }],
  ];

  it.each(notJson)('throws on %s', (_, value) => {
    expect(() => canonicalOf(value)).toThrow(/^not JSON: /);
    expect(() => canonicalBytes(value as JsonValue)).toThrow(/^not JSON: /);
  });

  it('says nothing of the value in its messages', () => {
    expect(() => canonicalOf({ SECRET: ['SECRET\ud800'] })).toThrow(/^not JSON: half of a surrogate pair$/);
  });

  it('throws on a cycle, narrow or wide', () => {
    const narrow: Record<string, unknown> = { a: 1 };
    narrow['self'] = narrow;
    const wide: unknown[] = [];
    wide.push(wide, wide, wide);
    expect(() => canonicalOf(narrow)).toThrow(/cycle/);
    expect(() => canonicalOf(wide)).toThrow(/cycle/);
  });

  it('writes one object that stands in two places', () => {
    const shared = { x: 1 };
    expect(canonicalJson({ a: shared, b: [shared, shared] })).toBe('{"a":{"x":1},"b":[{"x":1},{"x":1}]}');
  });

  it('bounds the nesting instead of exhausting the stack', () => {
    expect(canonicalJson(nested(CANONICAL_DEPTH_MAX))).toHaveLength(JSON.stringify(nested(CANONICAL_DEPTH_MAX)).length);
    for (const levels of [CANONICAL_DEPTH_MAX + 1, 20_000]) {
      expect(() => canonicalJson(nested(levels))).toThrow('not JSON: nested too deep, or a cycle');
    }
  });

  it('refuses to vouch for a value that its text does not give back', () => {
    const shifty = {};
    let reads = 0;
    Object.defineProperty(shifty, 'n', { enumerable: true, get: () => (reads += 1) });
    expect(() => verifiedCanonicalJson(shifty)).toThrow(/does not parse to its value/);
  });
});
