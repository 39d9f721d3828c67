import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';

import { canonicalJson } from './canonical-json.js';
import type { JsonLimits, StrictJsonProblem } from './strict-json.js';
import { DEFAULT_JSON_LIMITS, JSON_DEPTH_CEILING, parseStrictJson } from './strict-json.js';
import { POINTER_UNITS_MAX } from './strict-json-problem.js';

function vectors<T>(name: string): T[] {
  const url = new URL(`../../../test/vectors/strict-json/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as T[];
}

function problemOf(source: string | Uint8Array, limits: Partial<JsonLimits> = {}): StrictJsonProblem {
  const result = parseStrictJson(source, { ...DEFAULT_JSON_LIMITS, ...limits });
  if (result.ok) throw new Error('was accepted');
  return result.problem;
}

function valueOf(source: string | Uint8Array, limits: Partial<JsonLimits> = {}): unknown {
  const result = parseStrictJson(source, { ...DEFAULT_JSON_LIMITS, ...limits });
  if (!result.ok) throw new Error(`was refused: ${result.problem.reason}`);
  return result.value;
}

interface RefusedVector {
  readonly note: string;
  readonly text?: string;
  readonly hex?: string;
  readonly reason: string;
  readonly pointer: string;
}

interface AcceptedVector {
  readonly note: string;
  readonly text: string;
  readonly canonical: string;
}

describe('strict JSON refuses', () => {
  it.each(vectors<RefusedVector>('refused'))('$note', ({ text, hex, reason, pointer }) => {
    const bytes = text === undefined ? Buffer.from(hex ?? '', 'hex') : Buffer.from(text, 'utf8');
    expect(problemOf(bytes)).toMatchObject({ reason, pointer });
  });

  it('a string for the same reason and at the same place as its bytes', () => {
    for (const { text } of vectors<RefusedVector>('refused')) {
      const source = text ?? '"cut';
      expect(problemOf(source)).toEqual(problemOf(Buffer.from(source, 'utf8')));
    }
  });

  it('half of a surrogate pair that comes raw in a string', () => {
    expect(problemOf('["ok","\ud83c"]')).toMatchObject({ reason: 'lone_surrogate', pointer: '/1' });
    expect(problemOf('{"\udf89":1}')).toMatchObject({ reason: 'lone_surrogate', pointer: '' });
    expect(problemOf('{"a":"\\ud83c\udf89"} \ud800')).toMatchObject({ reason: 'syntax' });
  });

  it('nothing when an escaped and a raw half make a pair', () => {
    expect(valueOf('"\\ud83c\udf89"')).toBe('\u{1F389}');
    expect(valueOf('"\ud83c\\udf89"')).toBe('\u{1F389}');
  });
});

describe('strict JSON accepts', () => {
  it.each(vectors<AcceptedVector>('accepted'))('$note', ({ text, canonical }) => {
    const result = parseStrictJson(Buffer.from(text, 'utf8'), DEFAULT_JSON_LIMITS);
    expect(result.ok && canonicalJson(result.value)).toBe(canonical);
    expect(parseStrictJson(text, DEFAULT_JSON_LIMITS)).toEqual(result);
  });

  it('minus zero as zero', () => {
    for (const text of ['-0', '-0.0', '-0e10', '-0.000E-3']) expect(Object.is(valueOf(text), 0)).toBe(true);
  });

  it('numbers of more digits than a double holds, as the nearest double', () => {
    const long = `0.1${'0'.repeat(400)}1`;
    expect(valueOf(`[${long},123456789012345,1234567890123456,0.30000000000000001]`)).toEqual([
      0.1, 123456789012345, 1234567890123456, 0.3,
    ]);
  });

  it('keys that every object inherits, as own enumerable data', () => {
    const value = valueOf('{"toString":1,"valueOf":2,"__defineGetter__":3}') as Record<string, unknown>;
    expect(Object.entries(value)).toEqual([
      ['toString', 1],
      ['valueOf', 2],
      ['__defineGetter__', 3],
    ]);
  });

  it('such keys also where prototypes are frozen', () => {
    Reflect.defineProperty(Object.prototype, 'frozenHere', { value: 1, writable: false, configurable: true });
    try {
      expect(Object.entries(valueOf('{"frozenHere":2}') as object)).toEqual([['frozenHere', 2]]);
      expect(problemOf('{"frozenHere":2,"frozenHere":3}').reason).toBe('duplicate_key');
    } finally {
      Reflect.deleteProperty(Object.prototype, 'frozenHere');
    }
  });

  it('ordinary objects and arrays, so that clones and comparisons work', () => {
    const value = valueOf('{"a":[{}]}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(structuredClone(value)).toEqual({ a: [{}] });
  });

  it('a view into a larger buffer, reading only the view', () => {
    const whole = Buffer.from('xx{"a":1}yy', 'utf8');
    expect(valueOf(whole.subarray(2, 9))).toEqual({ a: 1 });
  });
});

describe('strict JSON limits', () => {
  it('accept what is exactly at a limit and refuse one more', () => {
    expect(valueOf('[[1]]', { depthMax: 2 })).toEqual([[1]]);
    expect(problemOf('[[1]]', { depthMax: 1 })).toMatchObject({ reason: 'too_deep', pointer: '/0' });
    expect(valueOf('{"a":{"b":1}}', { keysMax: 2 })).toEqual({ a: { b: 1 } });
    expect(problemOf('{"a":{"b":1}}', { keysMax: 1 })).toMatchObject({ reason: 'too_many_keys', pointer: '/a' });
    expect(valueOf('"abc"', { stringUnitsMax: 3 })).toBe('abc');
    expect(problemOf('"abcd"', { stringUnitsMax: 3 }).reason).toBe('string_too_long');
    expect(problemOf('{"\\u0061bcd":1}', { stringUnitsMax: 3 }).reason).toBe('string_too_long');
  });

  it('accept a scalar where no container is allowed', () => {
    expect(valueOf('1', { depthMax: 0 })).toBe(1);
    expect(problemOf('[]', { depthMax: 0 }).reason).toBe('too_deep');
  });

  it('count bytes of UTF-8, for a string as for bytes', () => {
    const text = '"é€🎉"';
    const size = Buffer.byteLength(text, 'utf8');
    for (const source of [text, Buffer.from(text, 'utf8')]) {
      expect(valueOf(source, { bytesMax: size })).toBe('é€🎉');
      expect(problemOf(source, { bytesMax: size - 1 }).reason).toBe('too_large');
    }
  });

  it('hold for 20 MB, 10,000 levels and 100,000 keys', () => {
    expect(problemOf(`{"a":"${'x'.repeat(20_000_000)}"}`).reason).toBe('too_large');
    expect(problemOf('['.repeat(10_000) + ']'.repeat(10_000))).toMatchObject({ reason: 'too_deep', offset: 64 });
    expect(problemOf('{"a":'.repeat(20_000)).reason).toBe('too_deep');
    const keys = Array.from({ length: 100_000 }, (_, index) => `"${index}":0`).join(',');
    expect(problemOf(`{${keys}}`, { bytesMax: 5_000_000 }).reason).toBe('too_many_keys');
    expect(Object.keys(valueOf(`{${keys}}`, { bytesMax: 5_000_000, keysMax: 100_000 }) as object)).toHaveLength(
      100_000,
    );
  });

  it('let the deepest allowed nesting through without exhausting the stack', () => {
    const text = '{"a":['.repeat(JSON_DEPTH_CEILING / 2) + ']}'.repeat(JSON_DEPTH_CEILING / 2);
    expect(JSON.stringify(valueOf(text, { depthMax: JSON_DEPTH_CEILING }))).toBe(text);
  });

  it('cannot be set to a depth that could exhaust the stack', () => {
    expect(() => parseStrictJson('1', { ...DEFAULT_JSON_LIMITS, depthMax: JSON_DEPTH_CEILING + 1 })).toThrow(
      /depthMax/,
    );
  });
});

describe('a strict JSON problem', () => {
  it('tells where reading stopped, in bytes of UTF-8', () => {
    expect(problemOf('{"é":1,"a":x}')).toMatchObject({ reason: 'syntax', pointer: '/a', offset: 12 });
    expect(problemOf(Buffer.from('{"é":1,"a":x}', 'utf8')).offset).toBe(12);
    expect(problemOf('{"a":1,"a":2}').offset).toBe(7);
    expect(problemOf('[1,12345678901234567]').offset).toBe(3);
    expect(problemOf(Buffer.from('226162ff22', 'hex'))).toMatchObject({ reason: 'invalid_utf8', offset: 3 });
    expect(problemOf(Buffer.from('2261e282', 'hex'))).toMatchObject({ reason: 'invalid_utf8', offset: 2 });
    expect(problemOf(Buffer.from('2261efbf', 'hex'))).toMatchObject({ reason: 'invalid_utf8', offset: 4 });
    expect(problemOf(Buffer.from('22efbfbd62ff22', 'hex'))).toMatchObject({ reason: 'invalid_utf8', offset: 5 });
  });

  it('says so when the text merely ends too early', () => {
    const whole = '{"file":"a\\u00e9\\n","n":-12.5e+3,"list":[true,false,null,{}]}';
    for (let length = 0; length < whole.length; length += 1) {
      expect(problemOf(whole.slice(0, length))).toMatchObject({
        reason: 'syntax',
        message: 'The JSON text ends too early.',
      });
    }
  });

  it('never repeats a value of the text', () => {
    const texts = [
      '{"a":"SECRET" SECRET}',
      '{"a":SECRET}',
      '{"a":"SECRET\\q"}',
      '{"a":"SECRET","a":1}',
      '{"a":"SECRET\\ud800"}',
      '["SECRET",99999999999999999]',
      '"SECRET\u0001"',
      '[truSECRET]',
    ];
    for (const text of texts) expect(JSON.stringify(problemOf(text))).not.toMatch(/SECRET|9999/);
  });

  it('points to the nearest enclosing value when the full pointer would be too long', () => {
    const key = 'k'.repeat(100);
    const text = `{"${key}":{"${key}":[{"${key}":x}]}}`;
    expect(problemOf(text)).toMatchObject({ reason: 'syntax', pointer: `/${key}/${key}/0` });
    expect(problemOf(`{"${'l'.repeat(POINTER_UNITS_MAX)}":x}`).pointer).toBe('');
    expect(problemOf(`{"${'l'.repeat(POINTER_UNITS_MAX - 1)}":x}`).pointer).toHaveLength(POINTER_UNITS_MAX);
  });
});
