import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseTemplate, placeholderText, soleToken, templateParts } from './template-text.js';

describe('template text', () => {
  it('splits text and placeholders', () => {
    expect(templateParts('/v1/{args.order.id}/x-{downstreamKey}')).toEqual([
      '/v1/',
      { kind: 'argument', path: ['order', 'id'] },
      '/x-',
      { kind: 'downstreamKey' },
    ]);
    expect(templateParts('{args}')).toEqual([{ kind: 'all_arguments' }]);
    expect(templateParts('')).toEqual([]);
  });

  it('reads doubled braces as braces', () => {
    expect(templateParts('a{{b}}c')).toEqual(['a{b}c']);
    expect(templateParts('{{{args.x}}}')).toEqual(['{', { kind: 'argument', path: ['x'] }, '}']);
  });

  it.each([
    '{',
    '}',
    '{}',
    '{args.}',
    '{args..x}',
    '{args.x.}',
    '{ args.x }',
    '{args.x y}',
    '{args.ä}',
    '{arg.x}',
    '{ARGS.x}',
    '{env.HOME}',
    '{args.x|json}',
    '{downstreamkey}',
    '{downstreamKey.x}',
    '{toString}',
    '{constructor}',
    '{args.x',
    'args.x}',
    '{{args.x}',
    `{args${'.x'.repeat(17)}}`,
    `{args.${'x'.repeat(129)}}`,
  ])('refuses %p', (text) => {
    expect(parseTemplate(text).ok).toBe(false);
    expect(() => templateParts(text)).toThrow();
  });

  it('never takes a dollar-brace for a placeholder of the environment', () => {
    expect(parseTemplate('${HOME}').ok).toBe(false);
  });

  it('gives back every text whose braces were doubled', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parts = templateParts(text.replaceAll('{', '{{').replaceAll('}', '}}'));
        expect(parts.join('')).toBe(text);
        expect(parts.length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('knows a text that is one placeholder and nothing else', () => {
    expect(soleToken(templateParts('{args.x}'))).toEqual({ kind: 'argument', path: ['x'] });
    expect(soleToken(templateParts(' {args.x}'))).toBeNull();
    expect(soleToken(templateParts('{args.x}{args.y}'))).toBeNull();
    expect(soleToken(templateParts('x'))).toBeNull();
    expect(soleToken(templateParts(''))).toBeNull();
  });

  it('writes a placeholder as it was read', () => {
    const texts = ['{args}', '{args.a}', '{args.a.b-c}', '{downstreamKey}', '{externalRequestId}', '{intentId}'];
    expect(texts.map((text) => placeholderText(templateParts(text)[0] as never))).toEqual(texts);
  });
});
