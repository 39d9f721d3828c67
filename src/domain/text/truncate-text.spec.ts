import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { truncateText } from './truncate-text.js';
import { isWellFormed } from './well-formed.js';

describe('cutting a text', () => {
  it('never splits a surrogate pair at any length around it', () => {
    const limit = 20;
    const text = `${'a'.repeat(limit - 1)}\u{1F389}b`;
    expect(truncateText(text, limit - 1)).toEqual({ text: 'a'.repeat(limit - 1), truncated: true });
    expect(truncateText(text, limit)).toEqual({ text: 'a'.repeat(limit - 1), truncated: true });
    expect(truncateText(text, limit + 1)).toEqual({ text: `${'a'.repeat(limit - 1)}\u{1F389}`, truncated: true });
    expect(truncateText(text, limit + 2)).toEqual({ text, truncated: false });
    expect(truncateText(text, limit + 3)).toEqual({ text, truncated: false });
  });

  it('may leave nothing', () => {
    expect(truncateText('\u{1F389}', 1)).toEqual({ text: '', truncated: true });
    expect(truncateText('ab', 0)).toEqual({ text: '', truncated: true });
    expect(truncateText('', 0)).toEqual({ text: '', truncated: false });
  });

  it('keeps well-formed text well-formed, within the limit, and as long as it can be', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(30), (text, unitsMax) => {
        const cut = truncateText(text, unitsMax);
        expect(isWellFormed(cut.text)).toBe(true);
        expect(text.startsWith(cut.text)).toBe(true);
        expect(cut.truncated).toBe(cut.text !== text);
        expect(cut.text.length).toBeGreaterThanOrEqual(Math.min(text.length, unitsMax) - 1);
        expect(cut.text.length).toBeLessThanOrEqual(unitsMax);
      }),
    );
  });

  it('leaves halves that were there before as they are', () => {
    expect(truncateText('\ud800\ud800\udc00x', 3).text).toBe('\ud800\ud800\udc00');
    expect(truncateText('\ud800x', 1).text).toBe('\ud800');
    expect(truncateText('\udc00\udc00', 1).text).toBe('\udc00');
  });

  it('throws when the limit is not a whole number', () => {
    for (const limit of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => truncateText('abc', limit)).toThrow(/whole number/);
    }
  });
});

describe('well-formedness', () => {
  it('is lost by half a pair and by a reversed pair only', () => {
    for (const text of ['', 'a', '\u{1F389}', '\u0000\uffff\ue000', '\ud83c\udf89'])
      expect(isWellFormed(text)).toBe(true);
    for (const text of ['\ud83c', '\udf89', '\udf89\ud83c', 'a\ud800b', '\ud83c\ud83c\udf89']) {
      expect(isWellFormed(text)).toBe(false);
    }
  });
});
