import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { PolicyRequest } from '../core/policy-types.js';
import { encodeApprovals, encodeRequest, lacksEntity } from './encode-request.js';
import { RequestUnreadable } from './encode-values.js';
import { readInputShape } from './input-shape.js';

const { shape: SHAPE } = readInputShape({
  type: 'object',
  required: ['orderId'],
  properties: {
    orderId: { type: 'string' },
    amountMinor: { type: 'integer' },
    express: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    customer: { type: 'object', properties: { name: { type: 'string' } } },
    price: { type: 'number' },
  },
});

function request(input: JsonObject, over: Partial<PolicyRequest> = {}): PolicyRequest {
  return {
    tenant: 'acme',
    sub: 'alice',
    roles: ['harness'],
    capability: 'refund.create',
    capabilityVersion: '1.0.0',
    risk: 'high',
    effect: 'probeable',
    input,
    approvals: {},
    attempt: 2,
    reasoningPresent: true,
    allowDuplicateIntent: false,
    nowMs: 1_700_000_000_000,
    ...over,
  };
}

const encodeInput = (input: JsonObject) => encodeRequest(request(input), SHAPE).context['input'];

describe('a request in the words of the engine', () => {
  it('names who, what and about what, and sends the principal and the resource with few flat attributes', () => {
    const encoded = encodeRequest(request({ orderId: 'o' }, { act: 'bot' }), SHAPE);
    expect(encoded).toEqual({
      principal: { type: 'Principal', id: 'alice' },
      action: { type: 'Action', id: 'refund.create' },
      resource: { type: 'Capability', id: 'refund.create' },
      entities: [
        {
          uid: { type: 'Principal', id: 'alice' },
          attrs: { sub: 'alice', agent: 'bot', tenant: 'acme', roles: ['harness'] },
          parents: [],
        },
        {
          uid: { type: 'Capability', id: 'refund.create' },
          attrs: { name: 'refund.create', version: '1.0.0', risk: 'high', effect: 'probeable' },
          parents: [],
        },
      ],
      context: {
        input: { orderId: 'o' },
        nowMs: 1_700_000_000_000,
        attempt: 2,
        reasoning: { present: true },
        allowDuplicateIntent: false,
        breakGlass: false,
      },
    });
    expect(lacksEntity(encoded)).toBe(false);
    expect(encodeRequest(request({ orderId: 'o' }), SHAPE).entities[0]?.attrs).not.toHaveProperty('agent');
  });

  it('notices an entity that is not sent', () => {
    const encoded = encodeRequest(request({ orderId: 'o' }), SHAPE);
    expect(lacksEntity({ ...encoded, entities: encoded.entities.slice(1) })).toBe(true);
    expect(lacksEntity({ ...encoded, entities: encoded.entities.slice(0, 1) })).toBe(true);
    expect(lacksEntity({ ...encoded, entities: [] })).toBe(true);
  });

  it('holds exactly the declared arguments that have a type', () => {
    const input = {
      orderId: 'o',
      amountMinor: 5,
      express: true,
      tags: ['a', 'a'],
      customer: { name: 'n', age: 3 },
      price: 1.5,
      more: 1,
    };
    expect(encodeInput(input)).toEqual({
      orderId: 'o',
      amountMinor: 5,
      express: true,
      tags: ['a', 'a'],
      customer: { name: 'n' },
    });
  });

  it('minus zero is zero', () => {
    expect(Object.is((encodeInput({ orderId: 'o', amountMinor: -0 }) as JsonObject)['amountMinor'], 0)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a missing argument', {}],
    ['text that is half a surrogate pair', { orderId: '\ud800' }],
    ['a bigint', { orderId: 'o', amountMinor: 5n }],
    ['a fraction', { orderId: 'o', amountMinor: 1.5 }],
    ['an integer that a double cannot hold', { orderId: 'o', amountMinor: 2 ** 53 }],
    ['not a number', { orderId: 'o', amountMinor: Number.NaN }],
    ['text for a truth', { orderId: 'o', express: 'true' }],
    ['an object for text', { orderId: { __entity: { type: 'Principal', id: 'root' } } }],
    ['an object for a number', { orderId: 'o', amountMinor: { __extn: { fn: 'unknown', arg: 'x' } } }],
    ['an object in an array of texts', { orderId: 'o', tags: [{ __entity: { type: 'Principal', id: 'root' } }] }],
    ['a hole in an array', { orderId: 'o', tags: ['a', undefined] }],
    ['an object for an array', { orderId: 'o', tags: {} }],
    ['an array for an object', { orderId: 'o', customer: [] }],
    ['null', { orderId: null }],
  ])('%s is refused, without repeating it', (_, input) => {
    expect(() => encodeInput(input as JsonObject)).toThrow(RequestUnreadable);
  });

  it('an argument that is only inherited does not exist', () => {
    const input = Object.create({ orderId: 'inherited' }) as JsonObject;
    expect(() => encodeInput(input)).toThrow(RequestUnreadable);
  });

  it('a shape that names an escape key is refused, whoever made it', () => {
    const forged = { kind: 'record', members: { __entity: { shape: { kind: 'string' }, required: false } } } as const;
    expect(() => encodeRequest(request({}), forged)).toThrow(RequestUnreadable);
  });

  it('no key of the engine can come out of any arguments', () => {
    const escape = fc.constantFrom<JsonObject>(
      { __entity: { type: 'Principal', id: 'root' } },
      { __extn: { fn: 'unknown', arg: 'x' } },
      { __extn: { fn: 'ip', arg: '10.0.0.1' } },
      { __expr: 'principal' },
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 3 }, escape, fc.string(), fc.integer(), fc.boolean(), tie('list'), tie('map')),
      list: fc.array(tie('any'), { maxLength: 3 }),
      map: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('name', '__entity', '__extn')), tie('any'), {
        maxKeys: 3,
      }),
    })).any;
    const input = fc.record(
      {
        orderId: fc.oneof(fc.string(), value),
        amountMinor: value,
        express: value,
        tags: value,
        customer: value,
        other: value,
      },
      { requiredKeys: ['orderId'] },
    );
    fc.assert(
      fc.property(input, (drawn) => {
        const encoded = encodedOrRefused(drawn as JsonObject);
        expect(keysIn(encoded).filter((key) => key.startsWith('__'))).toEqual([]);
        expect(Object.keys(encoded as object).filter((key) => !Object.hasOwn(SHAPE.members, key))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('votes in the words of the engine', () => {
  it('every configured group is there, others are not', () => {
    const facts = { finance: { count: 2, includesRequester: true }, former: { count: 9, includesRequester: false } };
    expect(encodeApprovals(facts, ['finance', 'support-lead'])).toEqual({
      finance: { count: 2, includesRequester: true },
      'support-lead': { count: 0, includesRequester: false },
    });
  });

  it('a group with the name of an object method has no votes by accident', () => {
    expect(encodeApprovals({}, ['constructor'])).toEqual({ constructor: { count: 0, includesRequester: false } });
  });
});

/** Nothing where the arguments are refused; any other error is the test's failure. */
function encodedOrRefused(input: JsonObject) {
  try {
    return encodeInput(input);
  } catch (error) {
    if (error instanceof RequestUnreadable) return {};
    throw error;
  }
}

function keysIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(keysIn)];
}
