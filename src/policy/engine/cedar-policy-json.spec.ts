import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { readPolicyJson } from './cedar-policy-json.js';

const CONTEXT = { Var: 'context' };
const get = (left: JsonValue, attr: string): JsonObject => ({ '.': { left, attr } });
const value = (literal: JsonValue): JsonObject => ({ Value: literal });
const entity = (type: string, id: string): JsonObject => ({ __entity: { type, id } });

function policy(over: JsonObject = {}): JsonObject {
  return {
    effect: 'forbid',
    principal: { op: 'All' },
    action: { op: 'All' },
    resource: { op: 'All' },
    conditions: [],
    annotations: {},
    ...over,
  };
}

const reading = (body: JsonValue) => readPolicyJson(policy({ conditions: [{ kind: 'when', body }] }));
const paths = (body: JsonValue): string[] => reading(body).contextPaths.map((path) => path.join('/'));
const thresholds = (body: JsonValue): number[] => reading(body).voteThresholds.map(({ votes }) => votes);

describe('what we read of a policy', () => {
  it('its effect and annotations, a missing value as null', () => {
    const read = readPolicyJson(policy({ annotations: { id: 'a', unattended: null } }));
    expect(read.effect).toBe('forbid');
    expect(read.annotations).toEqual([
      ['id', 'a'],
      ['unattended', null],
    ]);
  });

  it('the actions its scope names; none when it is global', () => {
    const scope = (action: JsonObject) => readPolicyJson(policy({ action })).actions;
    expect(scope({ op: 'All' })).toBeNull();
    expect(scope({ op: '==', entity: { type: 'Action', id: 'a' } })).toEqual(['a']);
    expect(scope({ op: 'in', entity: { type: 'Action', id: 'a' } })).toEqual(['a']);
    expect(
      scope({
        op: 'in',
        entities: [
          { type: 'Action', id: 'a' },
          { type: 'Action', id: 'b' },
        ],
      }),
    ).toEqual(['a', 'b']);
    expect(scope({ op: 'in', entities: [] })).toEqual([]);
  });

  it('the resource its scope demands', () => {
    const scope = (resource: JsonObject) => readPolicyJson(policy({ resource })).resource;
    expect(scope({ op: '==', entity: { type: 'Capability', id: 'c' } })).toEqual({ type: 'Capability', id: 'c' });
    expect(scope({ op: 'is', entity_type: 'Capability' })).toBeNull();
  });

  it('what is not a policy is not read', () => {
    expect(() => readPolicyJson({})).toThrow('not a policy');
    expect(() => readPolicyJson(policy({ action: { op: '==' } }))).toThrow('not a policy');
  });

  it('the paths below context that conditions read, wherever they stand', () => {
    const amount = get(get(CONTEXT, 'input'), 'amount');
    expect(paths({ '>': { left: amount, right: value(5) } })).toEqual(['input/amount']);
    expect(paths({ '!': { arg: { contains: { left: value('x'), right: amount } } } })).toEqual(['input/amount']);
    expect(paths({ Set: [amount, { Record: { '.': amount, Var: amount } }] })).toEqual(Array(3).fill('input/amount'));
    expect(paths({ 'if-then-else': { if: amount, then: value(1), else: get(CONTEXT, 'nowMs') } })).toEqual([
      'input/amount',
      'nowMs',
    ]);
    expect(paths({ isIpv4: [{ ip: [amount] }] })).toEqual(['input/amount']);
    expect(paths({ has: { left: get(CONTEXT, 'input'), attr: ['a', 'b'] } })).toEqual(['input/a/b']);
    expect(paths({ has: { left: get(CONTEXT, 'input'), attr: 'a' } })).toEqual(['input/a']);
    expect(paths({ '==': { left: CONTEXT, right: { Record: {} } } })).toEqual(['']);
    expect(paths(get({ Var: 'principal' }, 'sub'))).toEqual([]);
    expect(paths(value('context'))).toEqual([]);
  });

  it('every entity it names, in scope and conditions', () => {
    const read = readPolicyJson(
      policy({
        principal: { op: 'is', entity_type: 'Principal', in: { entity: { type: 'Principal', id: 'p' } } },
        resource: { op: '==', entity: { type: 'Capability', id: 'c' } },
        conditions: [
          { kind: 'unless', body: { Set: [value(entity('Capability', 'd')), value([entity('Capability', 'e')])] } },
        ],
      }),
    );
    expect(read.entities.map(({ type, id }) => `${type}/${id}`)).toEqual([
      'Principal/p',
      'Capability/c',
      'Capability/d',
      'Capability/e',
    ]);
  });

  it.each([
    ['>=', 2, 2],
    ['>', 2, 3],
    ['<', 2, 2],
    ['<=', 2, 3],
    ['==', 2, 2],
    ['!=', 2, 2],
  ])('count %s %i turns at %i votes, on either side', (operator, literal, turn) => {
    const count = get(get(get(CONTEXT, 'approvals'), 'finance'), 'count');
    const mirrored = { '>=': '<=', '>': '<', '<': '>', '<=': '>=', '==': '==', '!=': '!=' }[operator] as string;
    expect(thresholds({ [operator]: { left: count, right: value(literal) } })).toEqual([turn]);
    expect(thresholds({ [mirrored]: { left: value(literal), right: count } })).toEqual([turn]);
  });

  it('other comparisons are not taken for votes', () => {
    const attempt = get(CONTEXT, 'attempt');
    expect(thresholds({ '>': { left: attempt, right: value(1) } })).toEqual([]);
    const inputCount = get(get(get(CONTEXT, 'input'), 'finance'), 'count');
    expect(thresholds({ '>': { left: inputCount, right: value(1) } })).toEqual([]);
    const count = get(get(get(CONTEXT, 'approvals'), 'finance'), 'count');
    expect(thresholds({ '>': { left: count, right: attempt } })).toEqual([]);
  });
});
