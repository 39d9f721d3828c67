import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { parsePointer, pointerFrom, replaceAt, valueAt } from './json-pointer.js';
import type { JsonValue } from './json-value.js';

/** The document and the results of RFC 6901 section 5. */
const RFC_DOCUMENT: JsonValue = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

const RFC_RESULTS: readonly (readonly [string, JsonValue])[] = [
  ['', RFC_DOCUMENT],
  ['/foo', ['bar', 'baz']],
  ['/foo/0', 'bar'],
  ['/', 0],
  ['/a~1b', 1],
  ['/c%d', 2],
  ['/e^f', 3],
  ['/g|h', 4],
  ['/i\\j', 5],
  ['/k"l', 6],
  ['/ ', 7],
  ['/m~0n', 8],
];

describe('a JSON pointer', () => {
  it.each(RFC_RESULTS)('finds what RFC 6901 says for "%s"', (pointer, expected) => {
    expect(valueAt(RFC_DOCUMENT, pointer)).toEqual(expected);
  });

  it('unescapes ~1 before ~0', () => {
    expect(parsePointer('/~01')).toEqual(['~1']);
    expect(parsePointer('/~10')).toEqual(['/0']);
  });

  it('is refused when it does not start with a slash or has a stray tilde', () => {
    for (const text of ['a', 'a/b', '#/a', '/a~', '/~2', '/a~x/b', ' /a']) expect(parsePointer(text)).toBeNull();
    expect(() => valueAt({}, 'a')).toThrow(/RFC 6901/);
    expect(() => replaceAt({}, ['a'], () => 0)).toThrow(/RFC 6901/);
  });

  it('names nothing for missing keys, inherited keys and indexes in any but the plain form', () => {
    for (const pointer of ['/b', '/a/2', '/a/-', '/a/01', '/a/+1', '/a/1e0', '/a/length', '/toString', '/a/0/x']) {
      expect(valueAt({ a: [1, 2] }, pointer)).toBeUndefined();
    }
  });

  it('takes a star for an ordinary key when reading', () => {
    expect(valueAt({ '*': 1, a: 2 }, '/*')).toBe(1);
    expect(valueAt({ a: 2 }, '/*')).toBeUndefined();
  });

  it('comes back from the text made of any path', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'a') }), fc.nat())),
        (path) => {
          expect(parsePointer(pointerFrom(path))).toEqual(path.map(String));
        },
      ),
    );
  });
});

function card(number: string): JsonValue {
  return { number, holder: 'Ann' };
}

function hide(_: JsonValue, pointer: string): JsonValue {
  return `hidden ${pointer}`;
}

describe('replaceAt', () => {
  const order: JsonValue = { id: 7, cards: [card('1111'), card('2222')], notes: { '*': 'star', x: 'y' } };

  it('replaces what a pointer names and tells where', () => {
    expect(replaceAt(order, ['/cards/1/number', '/id'], hide)).toEqual({
      id: 'hidden /id',
      cards: [card('1111'), { number: 'hidden /cards/1/number', holder: 'Ann' }],
      notes: { '*': 'star', x: 'y' },
    });
  });

  it('takes a star for every item and every key', () => {
    expect(replaceAt(order, ['/cards/*/number', '/notes/*'], hide)).toEqual({
      id: 7,
      cards: [
        { number: 'hidden /cards/0/number', holder: 'Ann' },
        { number: 'hidden /cards/1/number', holder: 'Ann' },
      ],
      notes: { '*': 'hidden /notes/*', x: 'hidden /notes/x' },
    });
  });

  it('replaces the whole value for the empty pointer', () => {
    expect(replaceAt(order, [''], () => null)).toBeNull();
  });

  it('lets the outer place win over the inner one, in either order', () => {
    const seen: JsonValue[] = [];
    const record = (old: JsonValue): JsonValue => {
      seen.push(old);
      return 'x';
    };
    for (const pointers of [
      ['/a', '/a/b'],
      ['/a/b', '/*'],
    ]) {
      expect(replaceAt({ a: { b: 1 } }, pointers, record)).toEqual({ a: 'x' });
    }
    expect(seen).toEqual([{ b: 1 }, { b: 1 }]);
  });

  it('replaces a place named twice only once', () => {
    let calls = 0;
    replaceAt({ a: 1 }, ['/a', '/a', '/*'], () => (calls += 1));
    expect(calls).toBe(1);
  });

  it('never changes the original, and gives it back when nothing matched', () => {
    const before = structuredClone(order);
    replaceAt(order, ['/cards/*', '/id'], hide);
    expect(order).toEqual(before);
    expect(replaceAt(order, ['/none', '/cards/9', '/id/x', '/cards/length'], hide)).toBe(order);
    expect(replaceAt(order, [], hide)).toBe(order);
  });

  it('shares untouched branches with the original', () => {
    const changed = replaceAt(order, ['/id'], hide) as { cards: JsonValue };
    expect(changed.cards).toBe((order as { cards: JsonValue }).cards);
  });

  it('cannot reach a prototype', () => {
    const value = JSON.parse('{"a":1,"__proto__":{"b":2}}') as JsonValue;
    const changed = replaceAt(value, ['/__proto__/b'], () => 'x') as Record<string, JsonValue>;
    expect(Object.getPrototypeOf(changed)).toBe(Object.prototype);
    expect(JSON.stringify(changed)).toBe('{"a":1,"__proto__":{"b":"x"}}');
    expect(replaceAt({}, ['/__proto__/toString', '/constructor/name'], () => 'x')).toEqual({});
  });
});
