import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonValue } from '../domain/json/json-value.js';
import { isWellFormed } from '../domain/text/well-formed.js';
import { MANIFEST_BYTES_MAX, readManifestYaml } from './manifest-yaml.js';

function valueOf(text: string): JsonValue {
  const reading = readManifestYaml(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.value;
}

function problemsOf(text: string): readonly string[] {
  const reading = readManifestYaml(text);
  return reading.ok ? [] : reading.problems.map(({ pointer, line, message }) => `${line} ${pointer} ${message}`);
}

const key = fc.string({ unit: 'binary' }).filter((name) => isWellFormed(name) && name !== '__proto__');
const { json: exactJson } = fc.letrec<{ json: JsonValue; scalar: JsonValue }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    tie('scalar'),
    fc.array(tie('json')),
    fc.dictionary(key, tie('json'), { noNullPrototype: true }),
  ),
  scalar: fc.oneof(
    key,
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
    fc.boolean(),
    fc.constant(null),
  ),
}));

describe('manifest yaml', () => {
  it('reads maps, lists and scalars of the core schema as JSON', () => {
    const text = 'a: 1\nb: [x, "y", 1.5, true, null, ~]\nc:\n  d: |\n    two\n    lines\ne: 0x10\n';
    expect(valueOf(text)).toEqual({ a: 1, b: ['x', 'y', 1.5, true, null, null], c: { d: 'two\nlines\n' }, e: 16 });
  });

  it('keeps as text what other YAML readers turn into booleans, dates and merges', () => {
    expect(valueOf('a: yes\nb: off\nc: 2031-01-01\nd: 12:30:45\ne: 1.0.0')).toEqual({
      a: 'yes',
      b: 'off',
      c: '2031-01-01',
      d: '12:30:45',
      e: '1.0.0',
    });
    expect(valueOf('<<: {a: 1}')).toEqual({ '<<': { a: 1 } });
    expect(valueOf('%YAML 1.1\n---\na: yes')).toEqual({ a: 'yes' });
  });

  it('reads every JSON document as what it is', () => {
    fc.assert(
      fc.property(exactJson, (value) => {
        expect(valueOf(JSON.stringify(value))).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  it.each(['[9007199254740993]', '[-9007199254740993]', '[4611686018427387905]', '[0x20000000000001]'])(
    'refuses the integer in %s instead of rounding it',
    (text) => {
      expect(problemsOf(text)).toEqual([expect.stringContaining('/0 integers beyond 2^53 are not exact')]);
    },
  );

  it('keeps the largest exact integers, and minus zero is zero', () => {
    expect(valueOf('[9007199254740991, -9007199254740991]')).toEqual([9007199254740991, -9007199254740991]);
    expect(Object.is((valueOf('[-0.0]') as number[])[0], 0)).toBe(true);
  });

  it.each(['.inf', '-.inf', '.nan', '1e400'])('refuses the number %s', (text) => {
    expect(problemsOf(`a: ${text}`)).toEqual(['1 /a numbers must be finite']);
  });

  it('refuses every anchor, alias and tag with its place', () => {
    const text = 'a: &x 1\nb: *x\nc: !foo 1\n';
    expect(problemsOf(text).join()).toContain('Unresolved tag');
    expect(problemsOf('a: &x 1\nb: *x\nc: !!str 1\n')).toEqual([
      '1 /a anchors are not allowed: write the value out',
      '2 /b aliases are not allowed: write the value out',
      '3 /c tags are not allowed: only plain YAML is read',
    ]);
    expect(problemsOf('a: !!binary aGk=')).toEqual(['1 /a tags are not allowed: only plain YAML is read']);
    expect(problemsOf('a: &x [1]').length).toBe(1);
  });

  it('refuses a bomb of aliases without expanding it', () => {
    const levels = Array.from({ length: 20 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at},`.repeat(9)}*l${at}]`);
    const started = performance.now();
    expect(problemsOf(['l0: &l0 x', ...levels].join('\n'))).not.toEqual([]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('refuses repeated keys at every depth, all of them', () => {
    expect(problemsOf('a: 1\nb: {c: 1, c: 2}\na: 2\n"b": 3\n')).toEqual([
      '2 /b/c this key is written twice',
      '3 /a this key is written twice',
      '4 /b this key is written twice',
    ]);
  });

  it('reads keys as text and refuses keys that are none', () => {
    expect(valueOf('200: a\ntrue: b\nnull: c')).toEqual({ '200': 'a', true: 'b', null: 'c' });
    expect(problemsOf('? [a]\n: b')).toEqual([expect.stringContaining('keys must be strings')]);
  });

  it('refuses a key that would reach a prototype', () => {
    expect(problemsOf('a: {__proto__: {b: 1}}')).toEqual(['1 /a/__proto__ `__proto__` cannot be a key']);
    expect(({} as { b?: number }).b).toBeUndefined();
  });

  it.each([
    ['a: [', 'sufficiently indented'],
    ['a:\n\tb: 1', 'Tabs'],
    ['a: 1\n---\nb: 2', 'multiple documents'],
    ['a: "\\q"', 'escape'],
    ['{a: 1', 'Flow map'],
  ])('says what is wrong with the syntax of %p', (text, words) => {
    expect(problemsOf(text).join()).toContain(words);
  });

  it('names the line of every syntax error', () => {
    expect(problemsOf('a: 1\nb: "\\q"\nc: "\\q"').map((problem) => problem.slice(0, 8))).toEqual([
      '2  YAML:',
      '3  YAML:',
    ]);
  });

  it.each([
    ['many open lists', '['.repeat(100_000)],
    ['many open maps', '{'.repeat(100_000)],
    ['lists that close', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['lists on one line', '- '.repeat(50_000)],
    ['maps by question marks', '? '.repeat(50_000)],
    ['maps by indentation', Array.from({ length: 600 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')],
  ])('refuses %s before the parser recurses into them', (_, text) => {
    const started = performance.now();
    expect(problemsOf(text)).toEqual([expect.stringContaining('nested too deep')]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('allows the depth that schemas need', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(problemsOf(nested(64))).toEqual([]);
    expect(problemsOf(nested(65))).toEqual([expect.stringContaining('nested too deep')]);
    expect(problemsOf(`a: "${'['.repeat(1_000)}"`)).toEqual([]);
  });

  it('refuses a text that is too large', () => {
    expect(problemsOf(`a: ${'x'.repeat(MANIFEST_BYTES_MAX)}`)).toEqual([
      expect.stringContaining('at most 262144 bytes'),
    ]);
    expect(problemsOf(`a: ${'ä'.repeat(MANIFEST_BYTES_MAX / 2)}`)).toEqual([
      expect.stringContaining('at most 262144 bytes'),
    ]);
  });

  it('reads thousands of keys in linear time', () => {
    const started = performance.now();
    const text = Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join('\n');
    expect(Object.keys(valueOf(text) as object).length).toBe(20_000);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('refuses half of a surrogate pair, raw and escaped', () => {
    expect(problemsOf('a: "\\ud800"')).toEqual(['1 /a the text holds half of a surrogate pair']);
    expect(problemsOf('a: "\ud800"')).toEqual([expect.stringContaining('half of a surrogate pair')]);
  });

  it('tells the line of a place, and of what is around a place that is missing', () => {
    const reading = readManifestYaml('a: 1\nb:\n  c: 2\n  d/e: [x,\n    y]\n');
    if (!reading.ok) throw new Error('refused');
    expect(['', '/a', '/b', '/b/c', '/b/d~1e/1', '/b/missing', '/nowhere'].map(reading.lineOf)).toEqual([
      1, 1, 2, 3, 5, 2, 1,
    ]);
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(typeof readManifestYaml(text).ok).toBe('boolean');
      }),
    );
    const yamlish = fc.array(
      fc.constantFrom('a', ':', ' ', '\n', '-', '[', ']', '{', '}', '"', '&', '*', '!', '|', '#', '?', ',', '%'),
    );
    fc.assert(
      fc.property(yamlish, (characters) => {
        expect(typeof readManifestYaml(characters.join('')).ok).toBe('boolean');
      }),
      { numRuns: 1_000 },
    );
  });
});
