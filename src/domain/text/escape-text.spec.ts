import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { escapeForDisplay, escapeHtml } from './escape-text.js';

function inclusive(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const HIDDEN_RANGES: readonly (readonly [string, readonly number[]])[] = [
  ['C0 controls with newline, tab and ESC', inclusive(0x00, 0x1f)],
  ['DEL and C1 controls', inclusive(0x7f, 0x9f)],
  ['no-break and other odd spaces', [0xa0, 0x1680, ...inclusive(0x2000, 0x200a), 0x202f, 0x205f, 0x3000]],
  ['soft hyphen', [0xad]],
  ['combining grapheme joiner', [0x34f]],
  ['Arabic letter mark', [0x61c]],
  ['Hangul fillers', [0x115f, 0x1160, 0x3164, 0xffa0]],
  ['Mongolian selectors and separator', inclusive(0x180b, 0x180f)],
  ['zero-width characters and marks', inclusive(0x200b, 0x200f)],
  ['line and paragraph separators', [0x2028, 0x2029]],
  ['bidirectional embeddings and overrides', inclusive(0x202a, 0x202e)],
  ['invisible operators and isolates', inclusive(0x2060, 0x206f)],
  ['blank Braille pattern', [0x2800]],
  ['private use', [0xe000, 0xf8ff, 0xf0000, 0x10fffd]],
  ['variation selectors', [...inclusive(0xfe00, 0xfe0f), ...inclusive(0xe0100, 0xe01ef)]],
  ['byte order mark', [0xfeff]],
  ['interlinear annotations', inclusive(0xfff9, 0xfffb)],
  ['noncharacters', [0xfdd0, 0xfffe, 0xffff, 0x1ffff]],
  ['shorthand and musical format controls', [0x1bca0, 0x1d173]],
  ['tags', inclusive(0xe0000, 0xe007f)],
  ['half surrogate pairs', [0xd800, 0xdbff, 0xdc00, 0xdfff]],
];

/** The inverse, to prove that nothing is lost and no two texts look alike. */
function unescape(shown: string): string {
  return shown.replace(/\\u\{([0-9A-F]+)\}/g, (_, hexadecimal: string) =>
    String.fromCodePoint(Number.parseInt(hexadecimal, 16)),
  );
}

describe('text shown to somebody who decides', () => {
  it.each(HIDDEN_RANGES)('makes %s visible', (_, codePoints) => {
    for (const codePoint of codePoints) {
      const hexadecimal = codePoint.toString(16).toUpperCase().padStart(4, '0');
      expect(escapeForDisplay(`a${String.fromCodePoint(codePoint)}b`)).toBe(`a\\u{${hexadecimal}}b`);
    }
  });

  it('shows direction changes, zero-width spaces and terminal escapes in a command', () => {
    expect(escapeForDisplay('wipe /srv \u202Etxt.eton')).toBe('wipe /srv \\u{202E}txt.eton');
    expect(escapeForDisplay('list\u200Ball')).toBe('list\\u{200B}all');
    expect(escapeForDisplay('\u001b[2Kok\r')).toBe('\\u{001B}[2Kok\\u{000D}');
  });

  it('leaves ordinary text of every script alone', () => {
    for (const text of [
      'Grüße, 東京 – naïve 100 €',
      'שלום',
      'مرحبا',
      'हिन्दी',
      'e\u0301',
      '🎉👍🏽',
      'C:\\users\\u1',
      'a\\nb',
    ]) {
      expect(escapeForDisplay(text)).toBe(text);
    }
  });

  it('keeps newline and tab in multi-line mode, and nothing else', () => {
    expect(escapeForDisplay('a\n\tb', 'multi-line')).toBe('a\n\tb');
    expect(escapeForDisplay('a\n\tb', 'single-line')).toBe('a\\u{000A}\\u{0009}b');
    expect(escapeForDisplay('a\r\nb\u2028c\u0085', 'multi-line')).toBe('a\\u{000D}\nb\\u{2028}c\\u{0085}');
  });

  it('does not let ordinary text pass for one of its escapes', () => {
    expect(escapeForDisplay('\\u{202E}')).toBe('\\u{005C}u{202E}');
    expect(escapeForDisplay('\\u{202E}')).not.toBe(escapeForDisplay('\u202E'));
  });

  it('shows different texts differently', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('\\', 'u', '{', '}', '2', '0', 'E', '\u202e', '\n', '\ud800', '\u{E0041}') }),
    );
    fc.assert(
      fc.property(text, (original) => {
        const shown = escapeForDisplay(original);
        expect(unescape(shown)).toBe(original);
        expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('escapeHtml', () => {
  it('leaves no character that can end text or an attribute', () => {
    expect(escapeHtml(`<a href="x" title='y'>&amp;</a>`)).toBe(
      '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;',
    );
    fc.assert(fc.property(fc.string(), (text) => !/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/.test(escapeHtml(text))));
  });
});
