import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { plainCopyOf } from './frozen-copy.js';

class Money {
  readonly amount = 1;
}

const loop: Record<string, unknown> = { a: {} };
(loop['a'] as Record<string, unknown>)['back'] = loop;

describe('a plain copy', () => {
  it.each([
    ['a function', { a: { b: [1, () => 1] } }, '/a/b/1'],
    ['a symbol', { a: Symbol('x') }, '/a'],
    ['a bigint', { 'x/y': 1n }, '/x~1y'],
    ['a class instance', { list: [new Money()] }, '/list/0'],
    ['a date', { at: new Date(0) }, '/at'],
    ['a map', { map: new Map() }, '/map'],
    ['no number', { n: Number.NaN }, '/n'],
    ['an endless number', { n: Number.POSITIVE_INFINITY }, '/n'],
    ['half a surrogate pair', { t: 'a\ud800' }, '/t'],
    ['half a pair as a key', { '\udc00': 1 }, '/\udc00'],
    ['a hole', { list: [1, undefined] }, '/list/1'],
    ['a symbol as a key', { a: { [Symbol('k')]: 1 } }, '/a'],
    ['an own toJSON', { a: { toJSON: () => 1 } }, '/a/toJSON'],
  ])('of %s is refused with its place', (_, payload, pointer) => {
    expect(plainCopyOf(payload)).toMatchObject({ ok: false, pointer });
  });

  it('of a value that holds itself is refused instead of never ending', () => {
    expect(plainCopyOf(loop)).toMatchObject({ ok: false, problem: 'is nested too deeply, or refers to itself' });
  });

  it('is frozen in every part and no longer the original [D-13, D-15]', () => {
    const original = { list: [{ text: 'as it was' }] };
    const copy = plainCopyOf(original);
    (original.list[0] as { text: string }).text = 'changed';
    if (!copy.ok) throw new Error(copy.problem);
    const list = copy.value['list'] as readonly object[];
    expect([Object.isFrozen(copy.value), Object.isFrozen(list), Object.isFrozen(list[0])]).toEqual([true, true, true]);
    expect(list).toEqual([{ text: 'as it was' }]);
  });

  it('keeps a key named __proto__ as a key', () => {
    const copy = plainCopyOf(JSON.parse('{"__proto__":{"polluted":true}}') as object);
    expect(copy.ok && JSON.stringify(copy.value)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('leaves out what is undefined, as JSON text does', () => {
    expect(plainCopyOf({ a: undefined, b: 1 })).toMatchObject({ ok: true, value: { b: 1 } });
  });

  it('says of any JSON value what JSON text says of it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as object;
        const copy = plainCopyOf(plain);
        expect(copy.ok && JSON.stringify(copy.value)).toBe(JSON.stringify(plain));
      }),
      { numRuns: 100 },
    );
  });
});
