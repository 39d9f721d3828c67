import { describe, expect, it } from '@jest/globals';

import type { JsonValue } from './json-value.js';
import { isJsonObject, jsonEquals } from './json-value.js';

const DISTINCT: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1,
  '',
  '0',
  '1',
  'é',
  'e\u0301',
  [],
  [[]],
  [0],
  [0, 1],
  [1, 0],
  {},
  { a: 0 },
  { a: 1 },
  { b: 0 },
  { a: 0, b: 1 },
  { a: { a: 0 } },
  { a: null },
  { length: 0 },
  { '0': 0, length: 1 },
  { toString: 0 },
];

describe('equality of JSON values', () => {
  it('holds for a copy and for nothing else', () => {
    DISTINCT.forEach((left, leftIndex) => {
      DISTINCT.forEach((right, rightIndex) => {
        expect(jsonEquals(left, structuredClone(right))).toBe(leftIndex === rightIndex);
      });
    });
  });

  it('ignores the order of keys at every level', () => {
    expect(jsonEquals({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe(true);
  });

  it('takes minus zero for zero', () => {
    expect(jsonEquals([-0], [0])).toBe(true);
  });

  it('is not fooled by inherited keys', () => {
    expect(jsonEquals({ a: 1 }, { toString: 1 })).toBe(false);
    expect(jsonEquals({ toString: 1 }, { a: 1 })).toBe(false);
    expect(jsonEquals(JSON.parse('{"__proto__":{}}') as JsonValue, { a: {} })).toBe(false);
  });
});

describe('isJsonObject', () => {
  it('is true for objects only', () => {
    expect(DISTINCT.filter((value) => isJsonObject(value))).toHaveLength(10);
    expect([null, undefined, [], 'x', 0].some((value) => isJsonObject(value))).toBe(false);
  });
});
