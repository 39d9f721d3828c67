import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DAY_MS, durationWord, parseDuration } from './duration.js';

describe('duration', () => {
  it.each([
    [0, 0],
    [1_500, 1_500],
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['7d', 7 * DAY_MS],
  ])('reads %p as %p milliseconds', (written, ms) => {
    expect(parseDuration(written)).toBe(ms);
  });

  it.each([
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    '',
    '30',
    '30 s',
    ' 30s',
    '30s ',
    '30S',
    '+30s',
    '-30s',
    '1.5s',
    '1h30m',
    '01s',
    '1e3s',
    '9999999999s',
    '1w',
    's',
    'PT30S',
    '30s\n',
    null,
    undefined,
    true,
    [],
    {},
  ])('refuses %p', (written) => {
    expect(parseDuration(written)).toBeNull();
  });

  it('writes what it reads back to the same time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), (ms) => {
        expect(parseDuration(durationWord(ms))).toBe(ms);
      }),
    );
  });

  it('writes the largest unit that fits', () => {
    expect([0, 250, 30_000, 90_000, 7_200_000, DAY_MS].map(durationWord)).toEqual([
      '0ms',
      '250ms',
      '30s',
      '90s',
      '2h',
      '1d',
    ]);
  });
});
