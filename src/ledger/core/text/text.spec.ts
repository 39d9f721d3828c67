import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { csvCell, csvRow } from './csv.js';
import { unsafeLine } from './plain-text.js';

describe('a cell of CSV', () => {
  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '|calc', '%0a', '\uff1d1', '\uff0b1', '\uff0d1', '\uff201', ' =1', '\t=1'])(
    'that a spreadsheet would run is text: %j',
    (formula) => {
      expect(csvCell(formula)).toMatch(/^(?:"?'|\\u\{0009\})/);
    },
  );

  it('keeps ordinary text, numbers and nothing', () => {
    expect([csvCell('o-1'), csvCell(-5), csvCell(true), csvCell(null), csvCell('')]).toEqual([
      'o-1',
      '-5',
      'true',
      '',
      '',
    ]);
    expect(csvCell('say "hi", please')).toBe('"say ""hi"", please"');
  });

  it('is one line, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }), (texts) => {
        const row = csvRow(texts);
        expect(row.endsWith('\r\n')).toBe(true);
        expect(row.slice(0, -2)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        for (const text of texts) expect(csvCell(text)).not.toMatch(/^"?\s*[=+\-@\uff1d\uff0b\uff0d\uff20|%]/);
      }),
    );
    expect(csvCell('a\r\nb\u001b[2K')).toBe('a\\u{000D}\\u{000A}b\\u{001B}[2K');
  });
});

describe('text that people read', () => {
  it.each([
    '\r',
    '\t',
    '\u0000',
    '\u001b',
    '\u007f',
    '\u009b',
    '\u2028',
    '\u202e',
    '\u2066',
    '\u200b',
    '\ufeff',
    '\u061c',
  ])('is not safe with %j, and the line is told', (character) => {
    expect(unsafeLine(`first\nsec${character}ond\n`)).toBe(1);
  });

  it('is safe in every script', () => {
    expect(unsafeLine('Grüße\n東京 שלום हिन्दी €\n')).toBe(-1);
  });
});
