import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { readInputShape } from './input-shape.js';

const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
});

/** The shape and the unreadable pointers of one property `x`. */
function readProperty(schema: JsonValue, more: JsonObject = {}) {
  const { shape, unreadable } = readInputShape(closed({ x: schema }, more));
  return { shape: shape.members['x']?.shape ?? null, unreadable };
}

describe('the shape of arguments', () => {
  it('types what Cedar has types for, and knows what is required', () => {
    const { shape, unreadable } = readInputShape(
      closed(
        {
          orderId: { type: 'string' },
          amountMinor: { type: 'integer' },
          express: { type: 'boolean' },
          tags: { type: 'array', items: { type: 'string' } },
          customer: closed({ name: { type: 'string' } }, { required: ['name'] }),
        },
        { required: ['orderId'] },
      ),
    );
    expect(unreadable).toEqual([]);
    expect(shape.members).toEqual({
      orderId: { shape: { kind: 'string' }, required: true },
      amountMinor: { shape: { kind: 'integer' }, required: false },
      express: { shape: { kind: 'boolean' }, required: false },
      tags: { shape: { kind: 'set', element: { kind: 'string' } }, required: false },
      customer: {
        shape: { kind: 'record', members: { name: { shape: { kind: 'string' }, required: true } } },
        required: false,
      },
    });
  });

  it.each<[string, JsonValue, string]>([
    ['const', { const: 'EUR' }, 'string'],
    ['enum', { enum: ['EUR', 'USD'] }, 'string'],
    ['enum of whole numbers', { enum: [1, 2] }, 'integer'],
    ['enum of truths', { enum: [true, false] }, 'boolean'],
  ])('%s alone asserts a type', (_, schema, kind) => {
    expect(readProperty(schema)).toEqual({ shape: { kind }, unreadable: [] });
  });

  it.each<[string, JsonValue]>([
    ['a number with fractions', { type: 'number' }],
    ['null', { type: 'null' }],
    ['a union of types', { type: ['string', 'null'] }],
    ['oneOf without a type', { oneOf: [{ type: 'string' }, { type: 'integer' }] }],
    ['anyOf without a type', { anyOf: [{ type: 'string' }] }],
    ['anything', true],
    ['an empty schema', {}],
    ['properties without a type', { properties: { a: { type: 'string' } } }],
    ['an array of anything', { type: 'array' }],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'string' } }],
    ['an enum of several types', { enum: ['a', 1] }],
    ['an enum with null', { enum: [null] }],
    ['an enum with fractions', { enum: [1.5, 2] }],
    ['an empty enum', { enum: [] }],
    ['a reference elsewhere', { $ref: 'https://example.test/schema' }],
    ['a reference to nothing', { $ref: '#/$defs/none' }],
    ['a reference by anchor', { $ref: '#name' }],
    ['a schema with an identity of its own', { $id: 'https://example.test/x', type: 'string' }],
  ])('%s is left out and listed', (_, schema) => {
    expect(readProperty(schema)).toEqual({ shape: null, unreadable: ['/x'] });
  });

  it('a mixed array is left out as a whole, a record only by the member that has no type', () => {
    expect(readProperty({ type: 'array', items: { type: 'number' } })).toEqual({ shape: null, unreadable: ['/x/*'] });
    const lines = { type: 'array', items: closed({ sku: { type: 'string' }, price: { type: 'number' } }) };
    expect(readProperty(lines)).toMatchObject({
      shape: { kind: 'set', element: { kind: 'record', members: { sku: { shape: { kind: 'string' } } } } },
      unreadable: ['/x/*/price'],
    });
  });

  it('constraints beside a type do not loosen it', () => {
    expect(readProperty({ type: 'string', anyOf: [{ minLength: 1 }, { pattern: 'a' }] }).shape).toEqual({
      kind: 'string',
    });
  });

  it('what an open object may hold besides its properties is listed', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(readInputShape(schema).unreadable).toEqual(['/*']);
    expect(readProperty({ type: 'object', additionalProperties: { type: 'string' } })).toEqual({
      shape: { kind: 'record', members: {} },
      unreadable: ['/x/*'],
    });
    expect(readInputShape({ ...schema, unevaluatedProperties: false }).unreadable).toEqual([]);
  });

  it('references inside the schema are followed, until they meet themselves', () => {
    const more = {
      $defs: { id: { type: 'string' }, node: closed({ id: { $ref: '#/$defs/id' }, next: { $ref: '#/$defs/node' } }) },
    };
    expect(readProperty({ $ref: '#/$defs/node' }, more)).toEqual({
      shape: { kind: 'record', members: { id: { shape: { kind: 'string' }, required: false } } },
      unreadable: ['/x/next'],
    });
    expect(readProperty({ $ref: '#' })).toMatchObject({ shape: null });
  });

  it("keys that begin like Cedar's escapes are never typed", () => {
    const properties = { __entity: { type: 'string' }, __extn: { type: 'string' }, ['__proto__']: { type: 'string' } };
    const { shape, unreadable } = readInputShape(closed(properties));
    expect(shape.members).toEqual({});
    expect(unreadable).toEqual(expect.arrayContaining(['/__entity', '/__extn']));
  });

  it('keys that are names of every object are typed like others', () => {
    const { shape } = readInputShape(closed({ constructor: { type: 'string' }, toString: { type: 'integer' } }));
    expect(Object.keys(shape.members)).toEqual(['constructor', 'toString']);
  });

  it('what is nested too deep is left out', () => {
    let schema: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 12; depth += 1) schema = closed({ a: schema });
    expect(readInputShape(schema).unreadable).toEqual(['/a/a/a/a/a/a/a/a/a']);
  });
});
