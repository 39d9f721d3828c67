import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonValue } from '../../domain/json/json-value.js';
import {
  changedSince,
  digestsIn,
  failing,
  judgeValue,
  reasonsOf,
  snapshotOf,
  type Expectation,
  type PreconditionRule,
  type Reading,
} from './precondition.js';

const ARGS = { amount: 40, payee: 'p-9', outer: { inner: 'deep' }, flag: true };

const ruleWith = (more: Partial<PreconditionRule> = {}): PreconditionRule => ({
  name: 'order_status',
  title: 'The order is open',
  expect: null,
  unchanged: true,
  absent: 'fails',
  ...more,
});

const holds = (expect: Expectation | null, value: JsonValue | undefined, more: Partial<PreconditionRule> = {}) =>
  judgeValue(ruleWith({ expect, ...more }), value, ARGS).holds;

const readingOf = (rule: PreconditionRule, value: JsonValue | undefined): Reading => ({
  name: rule.name,
  title: rule.title,
  observedAt: '2031-01-01T10:00:00.000Z',
  ...judgeValue(rule, value, ARGS),
});

describe('a value that was read', () => {
  it.each<[string, Expectation | null, JsonValue | undefined, boolean]>([
    ['anything where only change matters', null, { deep: [1] }, true],
    ['the text it must equal', { equals: 'open' }, 'open', true],
    ['another text', { equals: 'open' }, 'Open', false],
    ['a number for a text of the same digits', { equals: '1' }, 1, false],
    ['null where null is meant', { equals: null }, null, true],
    ['false where null is meant', { equals: null }, false, false],
    ['an argument it must equal', { equals: { argument: '/payee' } }, 'p-9', true],
    ['an argument deeper down', { equals: { argument: '/outer/inner' } }, 'deep', true],
    ['another than the argument', { equals: { argument: '/payee' } }, 'p-8', false],
    ['null for an argument that is absent', { equals: { argument: '/nothing' } }, null, false],
    ['an object, whatever it holds', { equals: 'open' }, { status: 'open' }, false],
    ['one of several', { oneOf: ['open', { argument: '/payee' }] }, 'p-9', true],
    ['none of several', { oneOf: ['open', 'held'] }, 'closed', false],
    ['the least itself', { atLeast: 40 }, 40, true],
    ['less than the least', { atLeast: { argument: '/amount' } }, 39.99, false],
    ['the most itself', { atMost: { argument: '/amount' } }, 40, true],
    ['more than the most', { atMost: 40 }, 41, false],
    ['a number within', { atLeast: 1, atMost: 40 }, 7, true],
    ['a number outside on one side', { atLeast: 1, atMost: 40 }, 0, false],
    ['a text that looks like a number', { atLeast: 1 }, '7', false],
    ['a number beside an argument that is none', { atLeast: { argument: '/payee' } }, 7, false],
    ['true where a number is meant', { atMost: 40 }, true, false],
    ['nothing at all', { equals: 'open' }, undefined, false],
    ['nothing, where only change matters', null, undefined, false],
  ])('is judged: %s', (_, expectation, value, verdict) => {
    expect(holds(expectation, value)).toBe(verdict);
  });

  it('that is absent is null where absence is a value, and says that it was absent', () => {
    const isValue = { absent: 'is_a_value' } as const;
    expect(holds({ equals: null }, undefined, isValue)).toBe(true);
    expect(holds({ equals: 'open' }, undefined, isValue)).toBe(false);
    expect(holds(null, undefined, isValue)).toBe(true);
    expect(judgeValue(ruleWith(isValue), undefined, ARGS).isAbsent).toBe(true);
    expect(judgeValue(ruleWith(isValue), null, ARGS).isAbsent).toBe(false);
  });

  it('gives one digest for one value, however its keys are ordered, and another for any other', () => {
    const digest = (value: JsonValue) => judgeValue(ruleWith(), value, {}).digest;
    expect(digest({ a: 1, b: [2] })).toBe(digest({ b: [2], a: 1 }));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const [one, other] = [JSON.parse(JSON.stringify(left)), JSON.parse(JSON.stringify(right))] as JsonValue[];
        expect(digest(one as JsonValue) === digest(other as JsonValue)).toBe(
          isSame(one as JsonValue, other as JsonValue),
        );
      }),
    );
  });
});

function isSame(left: JsonValue, right: JsonValue): boolean {
  try {
    expect(left).toEqual(right);
    return true;
  } catch {
    return false;
  }
}

describe('what people were shown', () => {
  const stays = ruleWith();
  const open = ruleWith({ name: 'is_open', expect: { equals: 'open' }, unchanged: false });
  const rules = [stays, open];
  const read = (first: JsonValue | undefined, second: JsonValue | undefined) => [
    readingOf(stays, first),
    readingOf(open, second),
  ];
  const shown = digestsIn(snapshotOf(read('a', 'open')) as unknown as JsonValue);
  const changed = (first: JsonValue | undefined, second: JsonValue | undefined) =>
    changedSince(rules, read(first, second), shown).map(({ name }) => name);

  it('is as it was when what must stay reads the same and what must hold holds', () => {
    expect(changed('a', 'open')).toEqual([]);
  });

  it.each<[string, JsonValue | undefined, JsonValue | undefined, readonly string[]]>([
    ['what must stay reads otherwise', 'b', 'open', ['order_status']],
    ['what must stay is gone', undefined, 'open', ['order_status']],
    ['what must hold does not', 'a', 'closed', ['is_open']],
    ['neither is so', 'b', undefined, ['order_status', 'is_open']],
  ])('is not as it was when %s', (_, first, second, names) => {
    expect(changed(first, second)).toEqual(names);
  });

  it('may change where it need only hold', () => {
    const either = ruleWith({ name: 'is_open', expect: { oneOf: ['open', 'held'] }, unchanged: false });
    const before = digestsIn(snapshotOf([readingOf(either, 'open')]) as unknown as JsonValue);
    expect(changedSince([either], [readingOf(either, 'held')], before)).toEqual([]);
    expect(changedSince([{ ...either, unchanged: true }], [readingOf(either, 'held')], before)).toHaveLength(1);
  });

  it('is nothing without a snapshot, so that nothing is as it was', () => {
    expect(changedSince(rules, read('a', 'open'), null)).toHaveLength(2);
    expect(changedSince(rules, read('a', 'open'), new Map()).map(({ name }) => name)).toEqual(['order_status']);
  });

  it('keeps digests and times and no value', () => {
    const [first] = snapshotOf(read('a-value-of-its-own', 'open'));
    expect(Object.keys(first ?? {})).toEqual(['name', 'digest', 'holds', 'observedAt']);
    expect(JSON.stringify(snapshotOf(read('a-value-of-its-own', 'open')))).not.toContain('a-value-of-its-own');
  });

  it.each<[string, JsonValue | undefined]>([
    ['absent', undefined],
    ['no list', { name: 'x' }],
    ['without a name', [{ digest: 'sha256:1' }]],
    ['without a digest', [{ name: 'x' }]],
  ])('cannot be read when it is %s', (_, snapshot) => {
    expect(digestsIn(snapshot)).toBeNull();
  });

  it('is told in words without values', () => {
    const broken = failing(read(undefined, 'secret-status'));
    expect(reasonsOf(broken)).toEqual([
      'precondition failed: The order is open (there is no value)',
      'precondition failed: The order is open',
    ]);
  });
});
