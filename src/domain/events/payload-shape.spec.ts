import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { payloadProblem, type PayloadOf } from './payload-shape.js';

const SHAPE = {
  name: 'text',
  note: 'text?',
  count: 'integer',
  limit: 'integer?',
  done: 'boolean',
  late: 'boolean?',
  target: 'object',
  evidence: 'object?',
  refs: 'list',
  more: 'list?',
  result: 'json',
  outcome: ['allow', 'deny'],
} as const;

const whole: PayloadOf<typeof SHAPE> = {
  name: 'n',
  count: 0,
  done: false,
  target: {},
  refs: [],
  result: null,
  outcome: 'deny',
};

const REQUIRED = ['name', 'count', 'done', 'target', 'refs', 'result', 'outcome'] as const;
const OPTIONAL = ['note', 'limit', 'late', 'evidence', 'more'] as const;

describe('the shape of a payload', () => {
  it('accepts a payload without its optional fields, and with them', () => {
    expect(payloadProblem(SHAPE, whole)).toBeNull();
    const full = { ...whole, note: '', limit: -1, late: true, evidence: { a: [] }, more: [null] };
    expect(payloadProblem(SHAPE, full)).toBeNull();
  });

  it.each(OPTIONAL)('accepts null for the optional field %s', (field) => {
    expect(payloadProblem(SHAPE, { ...whole, [field]: null })).toBeNull();
  });

  it.each(REQUIRED)('names the required field %s that is missing', (field) => {
    const { [field]: _, ...rest } = whole;
    expect(payloadProblem(SHAPE, rest)).toContain(`field ${field} `);
  });

  it.each(REQUIRED.filter((field) => field !== 'result'))('does not take null for the required field %s', (field) => {
    expect(payloadProblem(SHAPE, { ...whole, [field]: null })).toContain(`field ${field} `);
  });

  it.each<[string, unknown]>([
    ['name', 1],
    ['note', {}],
    ['count', 1.5],
    ['count', '1'],
    ['count', 2 ** 53],
    ['limit', Number.NaN],
    ['done', 'true'],
    ['late', 0],
    ['target', []],
    ['target', 'x'],
    ['evidence', []],
    ['refs', {}],
    ['more', 'x'],
    ['outcome', 'Allow'],
    ['outcome', ['allow']],
    ['outcome', undefined],
  ])('refuses %s: %p', (field, value) => {
    expect(payloadProblem(SHAPE, { ...whole, [field]: value })).toContain(`field ${field} `);
  });

  it('refuses a field it does not know, also one that every object inherits', () => {
    expect(payloadProblem(SHAPE, { ...whole, extra: 1 })).toBe('unknown field extra');
    expect(payloadProblem(SHAPE, { ...whole, toString: 'x' })).toBe('unknown field toString');
    expect(payloadProblem({ name: 'text' }, JSON.parse('{"name":"n","__proto__":{}}') as Record<string, unknown>)).toBe(
      'unknown field __proto__',
    );
  });

  it('never repeats a value, which may be a secret', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{12,30}$/), (secret) => {
        const problem = payloadProblem(SHAPE, { ...whole, count: secret, outcome: secret });
        expect(problem).not.toBeNull();
        expect(problem).not.toContain(secret);
      }),
    );
  });
});
