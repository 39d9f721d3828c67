import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileLinearPattern, isAnchored } from './linear-pattern.js';
import type { LinearPattern } from './linear-pattern.js';

function compiled(source: string): LinearPattern {
  const pattern = compileLinearPattern(source);
  if (typeof pattern === 'string') throw new Error(pattern);
  return pattern;
}

describe('linear pattern', () => {
  it.each([
    ['^[A-Za-z0-9_-]{1,64}$', 'ord_1', true],
    ['^[A-Za-z0-9_-]{1,64}$', 'ord 1', false],
    ['^\\d+$', '123', true],
    ['^\\d+$', '١٢٣', false],
    ['^\\p{L}+$', 'Grüße', true],
    ['^\\u0041\\/\\x42$', 'A/B', true],
    ['^\\u{1F600}$', '😀', true],
    ['^.$', '😀', true],
    ['^(?:a|b)$', 'b', true],
    ['b', 'abc', true],
  ])('matches %p as ECMAScript does: %p is %p', (source, text, matches) => {
    expect(compiled(source).test(text)).toBe(matches);
    expect(new RegExp(source, 'u').test(text)).toBe(matches);
  });

  it('does not let a line end slip past the end of the pattern', () => {
    const pattern = compiled('^[a-z]+$');
    expect(['a', 'a\n', 'a\nb', '\na', 'a\r', 'a\u2028'].map((text) => pattern.test(text))).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it.each([
    ['(', 'not_ecmascript'],
    ['[a', 'not_ecmascript'],
    ['a{2,1}', 'not_ecmascript'],
    ['\\Qa\\E', 'not_ecmascript'],
    ['\\Aa\\z', 'not_ecmascript'],
    ['[[:alpha:]]', 'not_ecmascript'],
    ['\\_', 'not_ecmascript'],
    ['(?=a)a', 'not_linear'],
    ['(?!a)b', 'not_linear'],
    ['(?<=a)b', 'not_linear'],
    ['(a)\\1', 'not_linear'],
    ['a{1001}', 'not_linear'],
    ['((a{1,100}){1,100}){1,100}', 'not_linear'],
    ['(?:[a-z]{1,300}){3}[a-z]{300}', 'too_large'],
    ['a'.repeat(513), 'too_long'],
  ])('refuses %p as %s', (source, problem) => {
    expect(compileLinearPattern(source)).toBe(problem);
  });

  // A backtracking engine needs more steps for each of these than the universe has seconds.
  it.each([
    ['^(a+)+$', `${'a'.repeat(100_000)}!`],
    ['^(a|aa)+$', `${'a'.repeat(100_000)}!`],
    ['^(a|a?)+$', `${'a'.repeat(100_000)}!`],
    ['^([a-zA-Z]+)*$', `${'a'.repeat(100_000)}1`],
    ['^(.*a){11}$', `${'a'.repeat(50_000)}!`],
    ['^(\\w+\\s?)*$', `${'a '.repeat(50_000)}!`],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(100_000)],
    ['^(x+x+)+y$', 'x'.repeat(100_000)],
    ['^([^@]+@)+$', 'a'.repeat(100_000)],
  ])('matches %s in linear time', (source, text) => {
    const pattern = compiled(source);
    const started = performance.now();
    expect(pattern.test(text)).toBe(false);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it('agrees with ECMAScript on texts without line ends and odd spaces', () => {
    const sources = [
      '^[a-c]{2,4}$',
      '^(?:ab|c)+$',
      'a.b',
      '^\\w+@\\w+\\.\\w{2,}$',
      '^-?\\d+(?:\\.\\d+)?$',
      '[^a-z]',
      '^a?b*c+$',
    ];
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'c', '@', '.', '-', '1', '_', 'Z', 'é', '😀'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.constantFrom(...sources), text, (source, subject) => {
        expect(compiled(source).test(subject)).toBe(new RegExp(source, 'u').test(subject));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('an anchored pattern', () => {
  it.each(['^a$', '^$', '^(?:a|b)$', '^[|]$', '^a\\|b$', '^a\\\\$', '^(a|(b|c))$', '^[\\]|]$'])('is %p', (source) => {
    expect(compileLinearPattern(source)).toBeInstanceOf(Object);
    expect(isAnchored(source)).toBe(true);
  });

  it.each(['a', '^a', 'a$', '^a|b$', '^a$|^b$', '^a\\$', '^a\\\\\\$', '^(?:a)|(?:b)$', '(?:^a$)', ''])(
    'is not %p',
    (source) => {
      expect(isAnchored(source)).toBe(false);
    },
  );

  it('matches nothing but whole texts', () => {
    const source = '^(?:du|ls) [a-z.]+$';
    expect(isAnchored(source)).toBe(true);
    const pattern = compiled(source);
    const chained = [
      'du . ; wipe x',
      'du . && wipe x',
      'du . | wipe',
      'du .\nwipe x',
      'du $(wipe x)',
      'du . > x',
      'x; du .',
    ];
    expect(chained.filter((text) => pattern.test(text))).toEqual([]);
    expect(pattern.test('du .')).toBe(true);
  });
});
