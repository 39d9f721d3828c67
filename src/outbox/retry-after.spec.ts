import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from './retry-after.js';

const NOW = Date.parse('2031-01-01T00:00:00.000Z');

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Wed, 01 Jan 2031 00:01:00 GMT', 60_000],
    ['Tue, 31 Dec 2030 00:00:00 GMT', 0],
    ['999999999', 86_400_000],
    ['soon', null],
    ['-5', 0],
    ['', null],
    [undefined, null],
  ])('%p means %p', (value, ms) => {
    expect(retryAfterMs(value, NOW)).toBe(ms);
  });
});
