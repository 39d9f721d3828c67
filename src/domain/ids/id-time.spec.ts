import { describe, expect, it } from '@jest/globals';
import { timeOfId } from './id-time.js';
import { newId } from './ids.js';

describe('the time of an id', () => {
  it.each([0, 1, 1_924_992_000_123, 2 ** 48 - 1])('is the millisecond it was made in: %d', (ms) => {
    expect(timeOfId(newId('call', ms, new Uint8Array(10).fill(255)))).toBe(ms);
  });

  it.each(['', 'call_', 'call_short', 'call_uuuuuuuuuuuuuuuuuuuuuuuuuu'])('is no number for %j', (text) => {
    expect(timeOfId(text)).toBeNaN();
  });
});
