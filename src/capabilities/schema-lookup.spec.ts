import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../domain/json/json-value.js';
import { declaredArgument, definitionNamed, isScalarSchema, mayHaveValueAt } from './schema-lookup.js';

const SCHEMA: JsonObject = {
  type: 'object',
  required: ['id', 'who', 'ref'],
  properties: {
    id: { type: 'string' },
    maybe: { type: 'string' },
    filled: { type: 'string', default: 'x' },
    who: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, age: { type: 'integer' }, zone: { type: 'string', default: 'eu' } },
    },
    whoever: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    ref: { $ref: '#/$defs/thing', description: 'a thing' },
    open: true,
    closed: false,
    list: { type: 'array', items: { type: 'object', properties: { secret: { type: 'string' } } } },
    tuple: { type: 'array', prefixItems: [{ type: 'object', properties: { a: true } }], items: false },
    either: { anyOf: [{ type: 'object', properties: { pin: true } }, { $ref: '#/$defs/thing' }] },
    map: { type: 'object', additionalProperties: { type: 'object', properties: { key: true } } },
    named: { type: 'object', patternProperties: { '^x': { type: 'object', properties: { y: true } } } },
    'a/b': { type: 'string' },
  },
  additionalProperties: false,
  $defs: { thing: { type: 'object', required: ['sub'], properties: { sub: { type: 'number' } } } },
};

describe('a declared argument', () => {
  it.each([
    ['id', true],
    ['maybe', false],
    ['filled', true],
    ['who.name', true],
    ['who.age', false],
    ['who.zone', true],
    ['whoever.name', false],
    ['ref.sub', true],
    ['open', false],
  ])('%s: always present is %p', (path, isAlwaysPresent) => {
    expect(declaredArgument(SCHEMA, path.split('.'))?.isAlwaysPresent).toBe(isAlwaysPresent);
  });

  it.each([
    'missing',
    'id.x',
    'who.missing',
    'closed',
    'either.pin',
    'map.any',
    'list.0',
    'named.x',
    'toString',
    '__proto__',
    'who.constructor',
  ])('%s is not declared', (path) => {
    expect(declaredArgument(SCHEMA, path.split('.'))).toBeNull();
  });

  it('keeps what stands beside a reference', () => {
    expect(declaredArgument(SCHEMA, ['ref'])?.schema).toMatchObject({ type: 'object', description: 'a thing' });
  });
});

describe('a scalar schema', () => {
  it.each<JsonObject>([
    { type: 'string' },
    { type: 'integer' },
    { type: ['number', 'boolean'] },
    { const: 'x' },
    { enum: ['a', 1, true] },
  ])('is %p', (schema) => {
    expect(isScalarSchema(schema)).toBe(true);
  });

  it.each<JsonObject>([
    {},
    { type: 'object' },
    { type: 'array' },
    { type: 'null' },
    { type: ['string', 'null'] },
    { type: [] },
    { const: null },
    { enum: ['a', null] },
    { minLength: 1 },
  ])('is not %p', (schema) => {
    expect(isScalarSchema(schema)).toBe(false);
  });
});

describe('a pointer that may name a value', () => {
  it.each([
    'id',
    'who.name',
    'ref.sub',
    'open',
    'open.any.thing',
    'list',
    'list.*',
    'list.*.secret',
    'list.0.secret',
    'list.17.secret',
    'tuple.0.a',
    'tuple.*.a',
    'either.pin',
    'either.sub',
    'map.any.key',
    'map.*.key',
    'named.x1.y',
    '*',
    'a/b',
  ])('%s', (path) => {
    expect(mayHaveValueAt(SCHEMA, SCHEMA, path.split('.'))).toBe(true);
  });

  it.each([
    'missing',
    'id.x',
    'closed',
    'list.secret',
    'list.01.secret',
    'list.-.secret',
    'tuple.1.a',
    'either.other',
    'map.any.other',
    'toString',
  ])('is not %s', (path) => {
    expect(mayHaveValueAt(SCHEMA, SCHEMA, path.split('.'))).toBe(false);
  });
});

describe('a definition', () => {
  it('is found by a reference into $defs and by nothing else', () => {
    expect(definitionNamed(SCHEMA, '#/$defs/thing')?.name).toBe('thing');
    for (const reference of [
      '#/$defs/none',
      '#/$defs/toString',
      '#/properties/id',
      '#',
      'x#/$defs/thing',
      '#/$defs/thing/properties',
    ]) {
      expect(definitionNamed(SCHEMA, reference)).toBeNull();
    }
  });
});
