import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { checkCallerLabel, checkIdempotencyKey } from './caller-names.js';

describe('a name that a caller chooses', () => {
  it('may be any visible ASCII up to the limit of its kind', () => {
    const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string({ unit: visible, minLength: 1, maxLength: 128 }), (text) => {
        expect(checkCallerLabel(text)).toBeNull();
        expect(checkIdempotencyKey(text)).toBeNull();
      }),
    );
    expect(checkCallerLabel('x'.repeat(128))).toBeNull();
    expect(checkIdempotencyKey('x'.repeat(255))).toBeNull();
  });

  it('may not be empty or longer than its limit, and says which limit', () => {
    expect(checkCallerLabel('')?.reason).toBe('empty');
    expect(checkIdempotencyKey('')?.reason).toBe('empty');
    expect(checkCallerLabel('x'.repeat(129))).toEqual({
      reason: 'too_long',
      message: 'Must be at most 128 characters long.',
    });
    expect(checkIdempotencyKey('x'.repeat(256))).toEqual({
      reason: 'too_long',
      message: 'Must be at most 255 characters long.',
    });
  });

  it('may hold nothing else at any position', () => {
    for (const odd of [' ', '\t', '\n', '\r', '\u0000', '\u007f', '\u0080', 'é', '\u200b', '\u{1F389}', '\ud800']) {
      for (const text of [odd, `${odd}a`, `a${odd}`, `a${odd}b`]) {
        expect(checkCallerLabel(text)?.reason).toBe('not_visible_ascii');
        expect(checkIdempotencyKey(text)?.reason).toBe('not_visible_ascii');
      }
    }
  });

  it('is not repeated in the problem', () => {
    expect(checkCallerLabel('SECRET KEY')?.message).not.toContain('SECRET');
  });
});
