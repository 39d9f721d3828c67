import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from '../domain/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { compileArgumentSchema, compileResultSchema, effectiveArguments, outputProblem } from './argument-schema.js';
import type { ArgumentSchema, ResultSchema } from './argument-schema.js';

function argumentsOf(properties: JsonObject, more: JsonObject = {}): ArgumentSchema {
  const compiled = compileArgumentSchema({ type: 'object', additionalProperties: false, properties, ...more });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.schema;
}

function resultOf(schema: JsonObject): ResultSchema {
  const compiled = compileResultSchema(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.schema;
}

function effective(schema: ArgumentSchema, value: JsonValue): JsonObject {
  const answer = schema.effectiveArguments(value);
  if (!answer.ok) throw new Error(JSON.stringify(answer.problems));
  return answer.arguments;
}

function problems(schema: ArgumentSchema, value: JsonValue): readonly string[] {
  const answer = schema.effectiveArguments(value);
  return answer.ok ? [] : answer.problems.map(({ pointer, message }) => `${pointer} ${message}`);
}

const NESTED = argumentsOf({
  path: { type: 'string' },
  force: { type: 'boolean', default: true },
  options: {
    type: 'object',
    additionalProperties: false,
    default: {},
    properties: {
      depth: { type: 'integer', default: 2 },
      list: { type: 'array', items: { type: 'string' }, default: [] },
    },
  },
  rows: { type: 'array', items: { type: 'object', properties: { on: { type: 'boolean', default: false } } } },
});

describe('effective arguments', () => {
  it('hold the defaults of every level, so that what is shown is what runs', () => {
    expect(effective(NESTED, { path: 'x', rows: [{}, { on: true }] })).toEqual({
      path: 'x',
      force: true,
      options: { depth: 2, list: [] },
      rows: [{ on: false }, { on: true }],
    });
    expect(effective(NESTED, { options: { depth: 5 } })).toEqual({ force: true, options: { depth: 5, list: [] } });
  });

  it('are the same whether a default is left out or written out', () => {
    const schema = argumentsOf({ count: { type: 'integer' }, urgent: { type: 'boolean', default: false } });
    const [implicit, explicit] = [{ count: 3 }, { urgent: false, count: 3 }].map((value) =>
      canonicalJson(effective(schema, value)),
    );
    expect(implicit).toBe(explicit);
  });

  it('never coerce: the text of a number is not a number', () => {
    const schema = argumentsOf({
      count: { type: 'integer' },
      on: { type: 'boolean' },
      text: { type: 'string' },
      list: { type: 'array' },
    });
    expect(problems(schema, { count: '3' })).toEqual(['/count must be integer']);
    expect(problems(schema, { count: 3.5 })).toEqual(['/count must be integer']);
    expect(problems(schema, { count: null })).toEqual(['/count must be integer']);
    expect(problems(schema, { on: 'true' })).toEqual(['/on must be boolean']);
    expect(problems(schema, { on: 1 })).toEqual(['/on must be boolean']);
    expect(problems(schema, { text: 3 })).toEqual(['/text must be string']);
    expect(problems(schema, { list: 'x' })).toEqual(['/list must be array']);
  });

  it('never drop what is not declared', () => {
    expect(problems(NESTED, { hidden: 1, options: { other: 2 } }).toSorted()).toEqual([
      '/hidden is not declared by the schema',
      '/options/other is not declared by the schema',
    ]);
  });

  it('are frozen through and through', () => {
    const made = effective(NESTED, { rows: [{}] }) as { rows: { on: boolean }[]; options: { list: string[] } };
    expect(() => made.rows.push({ on: true })).toThrow(TypeError);
    expect(() => ((made.rows[0] as { on: boolean }).on = true)).toThrow(TypeError);
    expect(() => made.options.list.push('x')).toThrow(TypeError);
  });

  it('share nothing with the input', () => {
    const input = { path: 'x', rows: [{ on: true }] };
    const made = effective(NESTED, input);
    expect(input).toEqual({ path: 'x', rows: [{ on: true }] });
    expect(Object.isFrozen(input) || Object.isFrozen(input.rows)).toBe(false);
    input.rows[0] = { on: false };
    expect(made['rows']).toEqual([{ on: true }]);
  });

  it('share no default with one another', () => {
    const [first, second] = [effective(NESTED, {}), effective(NESTED, {})];
    expect(first).toEqual(second);
    expect(first['options']).not.toBe(second['options']);
    expect((first['options'] as JsonObject)['list']).not.toBe((second['options'] as JsonObject)['list']);
  });

  it('complete what is complete to the same', () => {
    const value = fc.record(
      {
        path: fc.string(),
        force: fc.boolean(),
        options: fc.record(
          { depth: fc.integer(), list: fc.array(fc.string(), { maxLength: 3 }) },
          { requiredKeys: [] },
        ),
        rows: fc.array(fc.record({ on: fc.boolean() }, { requiredKeys: [] }), { maxLength: 3 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(value, (input) => {
        const once = effective(NESTED, input as JsonValue);
        expect(effective(NESTED, once)).toEqual(once);
        expect(once).toMatchObject(input);
      }),
    );
  });

  it.each<[string, JsonValue]>([
    ['a list', []],
    ['null', null],
    ['a text', 'x'],
    ['a number', 5],
  ])('are an object and not %s', (_, value) => {
    expect(problems(NESTED, value)).toEqual([' must be an object']);
  });

  it.each([
    '{"__proto__":{"force":false}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"rows":[{"a":{"prototype":1}}]}',
  ])('refuse %s and leave every prototype alone', (json) => {
    expect(problems(NESTED, JSON.parse(json) as JsonValue)).toEqual([expect.stringContaining('this name is reserved')]);
    expect(({} as { force?: boolean }).force).toBeUndefined();
  });

  it('do not take an inherited name for a given one', () => {
    const schema = argumentsOf({ options: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } } });
    expect(problems(schema, { options: { toString: 'x', valueOf: 1, hasOwnProperty: true } })).toEqual([
      '/options/a is missing',
    ]);
  });

  it('refuse what is nested too deep without running out of stack', () => {
    let deep: JsonValue = 'x';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const schema = argumentsOf({ any: true });
    expect(problems(schema, { any: deep })).toEqual([' is nested too deep']);
  });

  it('list all problems, at most twenty', () => {
    const schema = argumentsOf({}, { required: [], additionalProperties: false });
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, at]));
    expect(problems(schema, many).length).toBe(20);
  });

  it('never put a value into a message or a pointer', () => {
    const secret = 'S3CRET-value';
    const schema = argumentsOf({
      a: { type: 'integer' },
      b: { type: 'string', maxLength: 3, pattern: '^[a-z]$', format: 'uuid' },
      c: { enum: ['x', 'y'] },
      d: { const: 'z' },
      e: { type: 'object', propertyNames: { maxLength: 3 }, additionalProperties: { type: 'integer' } },
      f: { type: 'array', uniqueItems: true, items: { type: 'string' } },
      g: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      h: { not: { type: 'string' } },
    });
    const value = {
      a: secret,
      b: secret,
      c: secret,
      d: secret,
      e: { [`${secret} =`]: secret },
      f: [secret, secret],
      g: secret,
      h: secret,
    };
    const found = problems(schema, { ...value, [`${secret} ?`]: secret });
    expect(found.length).toBeGreaterThan(8);
    expect(found.join('\n')).not.toContain(secret);
    expect(found).toContain('/c must be one of "x", "y"');
  });

  it('take linear time for texts made to hurt a backtracking engine', () => {
    const schema = argumentsOf({ a: { type: 'string', pattern: '^(a+)+$' } });
    const started = performance.now();
    expect(problems(schema, { a: `${'a'.repeat(100_000)}!` })).toEqual(['/a must match pattern "^(a+)+$"']);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('bound what all patterns together may cost, and refuse rather than let pass', () => {
    const schema = argumentsOf({
      list: { type: 'array', items: { not: { type: 'string', pattern: '(?:a|b)*a(?:a|b){200}c' } } },
    });
    const started = performance.now();
    const list = Array.from({ length: 100 }, (_, at) => 'abbaabab'.repeat(500) + String(at));
    expect(problems(schema, { list })).toEqual([' the texts are too long to be checked by the patterns of the schema']);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(problems(schema, { list: ['abc'] })).toEqual([]);
  });

  it('find repeated items in linear time, whatever the order of their keys', () => {
    const schema = argumentsOf({ list: { type: 'array', uniqueItems: true, items: { type: 'object' } } });
    expect(
      problems(schema, {
        list: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      }),
    ).toEqual(['/list must not hold the same item twice']);
    const started = performance.now();
    expect(problems(schema, { list: Array.from({ length: 20_000 }, (_, at) => ({ at })) })).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('are reached through the capability too', () => {
    expect(effectiveArguments({ input: NESTED }, { force: false })).toMatchObject({
      ok: true,
      arguments: { force: false },
    });
  });
});

describe('an input schema', () => {
  const wrong = (schema: JsonObject): readonly string[] => {
    const compiled = compileArgumentSchema(schema);
    return compiled.ok ? [] : compiled.problems.map(({ pointer, message }) => `${pointer} ${message}`);
  };

  it('never causes a request: a remote reference is refused at once', () => {
    for (const reference of ['http://127.0.0.1:9/s.json', 'https://example.com/s', 'file:///etc/passwd']) {
      const schema = { type: 'object', additionalProperties: false, properties: { x: { $ref: reference } } };
      expect(wrong(schema)).toEqual([expect.stringContaining('/inputSchema/properties/x/$ref only `#/$defs/NAME`')]);
    }
  });

  it('is checked against the meta-schema, every problem listed', () => {
    const found = wrong({
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'strin' }, b: { minimum: 'x', type: 'integer' }, c: { required: 'x', type: 'object' } },
    });
    expect(found.some((problem) => problem.startsWith('/inputSchema/properties/a/type'))).toBe(true);
    expect(found.some((problem) => problem.startsWith('/inputSchema/properties/b/minimum'))).toBe(true);
    expect(found.some((problem) => problem.startsWith('/inputSchema/properties/c/required'))).toBe(true);
  });

  it.each<[string, JsonObject]>([
    ['a length of no declared type', { minLength: 1 }],
    ['a number keyword on a text', { type: 'string', minimum: 1 }],
    ['items without a list', { type: 'object', items: { type: 'string' } }],
    ['then without if', { then: { type: 'string' } }],
  ])('is refused for %s, which would check nothing', (_, schema) => {
    expect(wrong({ type: 'object', additionalProperties: false, properties: { x: schema } })).toEqual([
      expect.stringContaining('strict mode'),
    ]);
  });

  it('may demand one of several arguments', () => {
    const either = argumentsOf(
      { a: { type: 'string' }, b: { type: 'string' } },
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    );
    expect(problems(either, { b: 'x' })).toEqual([]);
    expect(problems(either, {})).toEqual(['/a is missing', '/b is missing', ' must match a schema in anyOf']);
  });

  it('is refused for a default that does not fit', () => {
    const found = wrong({
      type: 'object',
      additionalProperties: false,
      $defs: { word: { type: 'string', pattern: '^[a-z]+$' } },
      properties: {
        a: { type: 'integer', default: '3' },
        b: { $ref: '#/$defs/word', default: 'X' },
        c: { type: 'object', properties: { d: { enum: ['x'], default: 'y' } } },
        e: { type: 'object', additionalProperties: false, default: { f: 1 } },
        g: { type: 'string', default: 'fine' },
      },
    });
    expect(found.toSorted()).toEqual([
      '/inputSchema/properties/a/default must be integer',
      '/inputSchema/properties/b/default must match pattern "^[a-z]+$"',
      '/inputSchema/properties/c/properties/d/default must be one of "x"',
      '/inputSchema/properties/e/default/f is not declared by the schema',
    ]);
  });

  it('cannot read one value while checking another', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'integer', minimum: { $data: '1/b' } }, b: { type: 'integer' } },
    };
    expect(wrong(schema)).not.toEqual([]);
  });
});

describe('a result', () => {
  const schema = resultOf({
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string' }, n: { type: 'integer' } },
  });

  it('fits or does not, and is never changed', () => {
    const answer = { id: 'x', extra: [1] };
    expect(schema.checkResult(answer)).toEqual({ ok: true });
    expect(answer).toEqual({ id: 'x', extra: [1] });
    expect(schema.checkResult({ n: 'x' })).toEqual({
      ok: false,
      problems: [
        { pointer: '/id', message: 'is missing' },
        { pointer: '/n', message: 'must be integer' },
      ],
    });
    expect(schema.checkResult(null).ok).toBe(false);
  });

  it('is described in one line without its values', () => {
    expect(outputProblem({ output: schema }, { n: 'S3CRET' })).toBe('/id: is missing; /n: must be integer');
    expect(outputProblem({ output: schema }, [])).toBe('the answer: must be object');
    expect(outputProblem({ output: schema }, { id: 'x' })).toBeNull();
    expect(outputProblem({ output: null }, 'anything')).toBeNull();
  });

  it('may be anything that its schema says', () => {
    expect(resultOf({ type: 'array', items: { type: 'string' } }).checkResult(['a'])).toEqual({ ok: true });
    expect(resultOf({ type: 'null' }).checkResult(null)).toEqual({ ok: true });
  });
});
