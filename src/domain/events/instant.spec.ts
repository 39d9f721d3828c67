import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { earlierOf, isBefore, millisOf, timeAt } from './instant.js';

describe('a time', () => {
  it.each<[string, number]>([
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T00:00:00.250Z', 250],
    ['2031-01-01T00:00:00.000Z', 1_924_992_000_000],
    ['2031-01-01T02:00:00+02:00', 1_924_992_000_000],
    ['2030-12-31T18:30:00-05:30', 1_924_992_000_000],
  ])('%s is %d milliseconds', (time, millis) => {
    expect(millisOf(time)).toBe(millis);
  });

  it.each([
    '2031-01-01T00:00:00',
    '2031-01-01 00:00:00+02:00',
    '2031-01-01',
    '1924992000',
    'tomorrow',
    '2031-13-01T00:00:00Z',
    '2031-01-01T25:00:00Z',
    ' 2031-01-01T00:00:00Z',
    '2031-01-01T00:00:00z',
    '',
  ])('without one clear meaning (%p) is no time', (time) => {
    expect(() => millisOf(time)).toThrow('RFC 3339');
  });

  it('is before a deadline only when it is strictly earlier', () => {
    expect(isBefore('2031-01-01T00:00:00.000Z', '2031-01-01T00:00:00.001Z')).toBe(true);
    expect(isBefore('2031-01-01T00:00:00.001Z', '2031-01-01T00:00:00.001Z')).toBe(false);
    expect(isBefore('2031-01-01T00:00:00Z', '2031-01-01T01:00:00+02:00')).toBe(false);
  });

  it('is written in one form, in which text order is time order', () => {
    const millis = fc.integer({ min: 0, max: 253_402_300_799_999 });
    fc.assert(
      fc.property(millis, millis, (left, right) => {
        expect(millisOf(timeAt(left))).toBe(left);
        expect(timeAt(left) < timeAt(right)).toBe(left < right);
        expect(earlierOf(timeAt(left), timeAt(right))).toBe(timeAt(Math.min(left, right)));
      }),
    );
  });

  it('of another zone is compared by what it means and written in our form', () => {
    expect(earlierOf('2031-01-01T01:00:00+02:00', '2031-01-01T00:00:00Z')).toBe('2030-12-31T23:00:00.000Z');
  });
});
