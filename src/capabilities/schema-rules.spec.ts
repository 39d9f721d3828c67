import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { hasHiddenText, schemaProblems, SCHEMA_DEPTH_MAX, SUBSCHEMAS_MAX } from './schema-rules.js';

function root(more: JsonObject = {}): JsonObject {
  return { type: 'object', additionalProperties: false, ...more };
}

function property(schema: JsonValue, more: JsonObject = {}): JsonObject {
  return root({ properties: { x: schema }, ...more });
}

function problems(schema: JsonObject, purpose: 'arguments' | 'result' = 'arguments'): readonly string[] {
  return schemaProblems(schema, purpose, '/s').map(({ pointer, message }) => `${pointer}: ${message}`);
}

function pointers(schema: JsonObject, purpose: 'arguments' | 'result' = 'arguments'): readonly string[] {
  return schemaProblems(schema, purpose, '/s').map(({ pointer }) => pointer);
}

describe('schema rules', () => {
  it('find nothing wrong with a schema that uses what is supported', () => {
    const schema = root({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'T',
      $comment: 'why',
      required: ['a'],
      properties: {
        a: { type: 'string', minLength: 1, maxLength: 9, pattern: '^[a-z]+$', format: 'email', examples: ['x'] },
        b: { type: ['integer', 'null'], minimum: 0, exclusiveMaximum: 9, multipleOf: 3, default: 3 },
        c: { type: 'array', items: { $ref: '#/$defs/item' }, minItems: 1, maxItems: 5, uniqueItems: true },
        d: { anyOf: [{ const: 'x' }, { enum: ['y', 1, null, true] }], deprecated: true },
        e: { type: 'object', propertyNames: { pattern: '^[a-z]$' }, additionalProperties: { type: 'boolean' } },
        f: { type: 'object', properties: { g: { type: 'string', default: 'x' } }, default: {} },
        h: { type: 'array', prefixItems: [{ type: 'string' }, true], items: false, contains: { type: 'string' } },
        i: { not: { type: 'string', pattern: 'part' } },
      },
      $defs: { item: { type: 'object', properties: { n: { type: 'number', default: 1 } } } },
    });
    expect(problems(schema)).toEqual([]);
  });

  it('demand that arguments are an object that admits nothing else', () => {
    expect(pointers({})).toEqual(['/s/type', '/s/additionalProperties']);
    expect(pointers({ type: 'object', additionalProperties: true })).toEqual(['/s/additionalProperties']);
    expect(pointers({ type: ['object'], additionalProperties: false })).toEqual(['/s/type']);
    expect(pointers({}, 'result')).toEqual([]);
  });

  it.each([
    'http://example.com/schema.json',
    'https://example.com/schema.json#/a',
    'file:///etc/passwd',
    'other.json',
    '#',
    '#anchor',
    '#/properties/x',
    '#/$defs/missing',
    '#/$defs/a/properties/b',
    '#/$defs/a%20b',
    '//example.com',
    'data:application/json,{}',
    '',
  ])('refuse the reference %p: nothing is ever fetched', (reference) => {
    expect(pointers(property({ $ref: reference }, { $defs: { a: { type: 'string' } } }))).toEqual([
      '/s/properties/x/$ref',
    ]);
  });

  it('refuse a reference that is no text', () => {
    expect(pointers(property({ $ref: 5 }))).toEqual(['/s/properties/x/$ref']);
  });

  it.each([
    '$id',
    '$anchor',
    '$dynamicRef',
    '$dynamicAnchor',
    '$recursiveRef',
    '$recursiveAnchor',
    '$vocabulary',
    '$data',
    'id',
    'definitions',
    'dependencies',
    'contentSchema',
    'contentEncoding',
    'contentMediaType',
    'nullable',
    'discriminator',
    'x-mcp-header',
    'minlength',
    'toString',
  ])('refuse the keyword %s', (keyword) => {
    expect(pointers(property({ type: 'string', [keyword]: 'x' }))).toEqual([`/s/properties/x/${keyword}`]);
  });

  it('refuse another dialect than 2020-12', () => {
    expect(pointers(root({ $schema: 'http://json-schema.org/draft-07/schema#' }))).toEqual(['/s/$schema']);
  });

  it('refuse a schema that contains itself, however far the way round', () => {
    const list = { type: 'object', properties: { next: { $ref: '#/$defs/list' } } };
    expect(problems(property({ $ref: '#/$defs/list' }, { $defs: { list } }))).toEqual([
      expect.stringContaining('/s/$defs/list/properties/next/$ref: a schema that contains itself'),
    ]);
    const loop = { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/c' }, c: { $ref: '#/$defs/a' } };
    expect(pointers(root({ $defs: loop }))).not.toEqual([]);
    expect(pointers(root({ $defs: { a: { $ref: '#/$defs/a' } } }))).toEqual(['/s/$defs/a/$ref']);
  });

  it('bound what references expand to', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [
        `d${at}`,
        { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    );
    const schema = property({ $ref: '#/$defs/d0' }, { $defs: { ...doubling, d20: { type: 'string' } } });
    const started = performance.now();
    expect(problems(schema)).toContainEqual(expect.stringContaining(`at most ${SUBSCHEMAS_MAX} subschemas`));
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('bound the number of subschemas and their depth', () => {
    const many = Object.fromEntries(Array.from({ length: SUBSCHEMAS_MAX }, (_, at) => [`p${at}`, { type: 'string' }]));
    expect(problems(root({ properties: many }))).toEqual([expect.stringContaining('subschemas')]);
    let deep: JsonObject = { type: 'string' };
    for (let level = 0; level < SCHEMA_DEPTH_MAX; level += 1) deep = { type: 'array', items: deep };
    expect(problems(property(deep))).toEqual([expect.stringContaining('levels of subschemas')]);
    expect(problems(property((deep['items'] ?? false) as JsonObject))).toEqual([]);
  });

  it.each([
    ['^(a+)+$\\1', 'not a regular expression'],
    ['(', 'ECMAScript'],
    ['^(?=a)a$', 'RE2'],
    [`^${'a'.repeat(600)}$`, 'at most 512 characters'],
    ['^(?:a{500}){1,3}$', 'RE2'],
    ['^(?:[a-z]{1,300}){3}[a-z]{300}$', 'maxLength'],
  ])('refuse the pattern %p', (pattern, words) => {
    expect(problems(property({ type: 'string', pattern }))).toEqual([expect.stringContaining(words)]);
    expect(problems({ type: 'string', pattern }, 'result')).toEqual([expect.stringContaining(words)]);
    expect(problems(property({ type: 'object', patternProperties: { [pattern]: true } }))).toEqual([
      expect.stringContaining(words),
    ]);
  });

  it('demand that patterns of arguments match whole texts, but not what they forbid or what results hold', () => {
    for (const pattern of ['^du ', 'du$', 'du', '^du|ls$']) {
      expect(pointers(property({ type: 'string', pattern }))).toEqual(['/s/properties/x/pattern']);
      expect(pointers(property({ not: { type: 'string', pattern } }))).toEqual([]);
      expect(pointers({ type: 'string', pattern }, 'result')).toEqual([]);
    }
  });

  it('bound the number of patterns', () => {
    const many = Object.fromEntries(
      Array.from({ length: 65 }, (_, at) => [`p${at}`, { type: 'string', pattern: '^a$' }]),
    );
    expect(problems(root({ properties: many }))).toEqual([expect.stringContaining('at most 64 patterns')]);
  });

  it.each(['hostname', 'regex', 'ipv4', 'uri-reference', 'toString', ''])('refuse the format %p', (format) => {
    expect(pointers(property({ type: 'string', format }))).toEqual(['/s/properties/x/format']);
  });

  it('refuse fractions as multipleOf, which binary numbers cannot check', () => {
    expect(pointers(property({ type: 'number', multipleOf: 0.01 }))).toEqual(['/s/properties/x/multipleOf']);
    expect(pointers(property({ type: 'number', multipleOf: 5 }))).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'])(
    'refuse the name %s',
    (name) => {
      const schema = JSON.parse(
        `{"type":"object","additionalProperties":false,"properties":{"${name}":{"type":"string"}}}`,
      ) as JsonObject;
      expect(pointers(schema)).toEqual([`/s/properties/${name}`]);
    },
  );

  it('refuse a required name that could never be given', () => {
    expect(pointers(property({ type: 'string' }, { required: ['x', 'y'] }))).toEqual(['/s/required']);
    expect(pointers(property({ type: 'object', required: ['y'] }))).toEqual([]);
    expect(pointers(property({ type: 'object', required: ['toString'] }))).toEqual(['/s/properties/x/required']);
  });

  it('refuse objects and lists as listed values', () => {
    expect(pointers(property({ enum: [{ a: 1 }] }))).toEqual(['/s/properties/x/enum']);
    expect(pointers(property({ const: [1] }))).toEqual(['/s/properties/x/const']);
    expect(pointers(property({ const: null }))).toEqual([]);
    expect(pointers(property({ enum: Array.from({ length: 1_001 }, (_, at) => at) }))).toEqual([
      '/s/properties/x/enum',
    ]);
  });

  const withDefault = { type: 'object', properties: { y: { type: 'string', default: 'z' } } };

  it.each<[string, JsonObject]>([
    ['the root', root({ default: {} })],
    ['anyOf', property({ anyOf: [withDefault] })],
    ['oneOf', property({ oneOf: [withDefault] })],
    ['allOf', property({ allOf: [withDefault] })],
    ['not', property({ not: withDefault })],
    ['if', property({ if: withDefault })],
    ['then', property({ if: true, then: withDefault })],
    ['dependentSchemas', property({ type: 'object', dependentSchemas: { y: withDefault } })],
    ['contains', property({ type: 'array', contains: withDefault })],
    ['items themselves', property({ type: 'array', items: { type: 'string', default: 'x' } })],
    ['prefixItems themselves', property({ type: 'array', prefixItems: [{ type: 'string', default: 'x' }] })],
    [
      'a definition behind a reference',
      property({ $ref: '#/$defs/d' }, { $defs: { d: { type: 'string', default: 'x' } } }),
    ],
    ['anyOf through a reference', property({ anyOf: [{ $ref: '#/$defs/d' }] }, { $defs: { d: withDefault } })],
  ])('refuse a default in %s, where it would be lost', (_, schema) => {
    expect(problems(schema)).toContainEqual(expect.stringContaining('a default is filled in only for a property'));
  });

  it.each<[string, JsonObject]>([
    ['properties of items', property({ type: 'array', items: withDefault })],
    ['properties of other properties', property({ type: 'object', additionalProperties: withDefault })],
    ['a definition', property({ $ref: '#/$defs/d' }, { $defs: { d: withDefault } })],
    [
      'a property beside a reference',
      property({ $ref: '#/$defs/d', default: 'x' }, { $defs: { d: { type: 'string' } } }),
    ],
  ])('allow a default in %s', (_, schema) => {
    expect(problems(schema)).toEqual([]);
  });

  it('refuse every default in a result', () => {
    expect(pointers({ type: 'object', properties: { x: { type: 'string', default: 'y' } } }, 'result')).toEqual([
      '/s/properties/x/default',
    ]);
  });

  it('refuse descriptions that hide something from the reader', () => {
    for (const hidden of ['a\u202eb', 'a\u200bb', 'a\u0007b', 'a\u{e0041}b', '\ufeffa']) {
      expect(pointers(property({ type: 'string', description: hidden }))).toEqual(['/s/properties/x/description']);
      expect(hasHiddenText(hidden)).toBe(true);
    }
    expect(hasHiddenText('two\nlines\tand ünïcödé 😀')).toBe(false);
  });

  it('list every problem once, with the pointer of its place', () => {
    const bad = { type: 'string', format: 'x', pattern: '(', default: 'y', foo: 1 };
    const schema = { properties: { a: { allOf: [{ $ref: '#/$defs/bad' }, { $ref: '#/$defs/bad' }] } }, $defs: { bad } };
    expect(pointers(schema).toSorted()).toEqual(
      [
        '/s/type',
        '/s/additionalProperties',
        '/s/$defs/bad/format',
        '/s/$defs/bad/pattern',
        '/s/$defs/bad/default',
        '/s/$defs/bad/foo',
      ].toSorted(),
    );
  });

  it('refuse what is no schema', () => {
    expect(pointers(root({ properties: { x: 5, y: null, z: 'string' } }))).toEqual([
      '/s/properties/x',
      '/s/properties/y',
      '/s/properties/z',
    ]);
  });
});
