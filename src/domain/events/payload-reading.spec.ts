import { describe, expect, it } from '@jest/globals';
import { readPrincipal, readTexts, readWord } from './payload-reading.js';

describe('reading the open fields of a payload', () => {
  it('takes a word of the list and nothing else', () => {
    expect(readWord(['low', 'high'], 'high')).toBe('high');
    expect(() => readWord(['low', 'high'], 'High')).toThrow('not one of the words low, high');
  });

  it('takes the two subjects of a principal and drops the rest', () => {
    expect(readPrincipal({ sub: 'alice', act: 'agent-7', roles: ['admin'] })).toEqual({ sub: 'alice', act: 'agent-7' });
    expect(readPrincipal({ sub: 'alice' })).toEqual({ sub: 'alice' });
  });

  it.each([null, [], 'alice', {}, { sub: 1 }, { sub: 'alice', act: null }, { sub: 'alice', act: { sub: 'x' } }])(
    'stops at %p, which is no principal',
    (value) => {
      expect(() => readPrincipal(value)).toThrow();
    },
  );

  it('takes a list of texts and stops at anything else, without repeating it', () => {
    expect(readTexts(['a', ''])).toEqual(['a', '']);
    expect(() => readTexts(['a', 42])).toThrow(/^the list holds something else than texts$/);
  });
});
