import { describe, expect, it } from '@jest/globals';
import { timestamp } from '../client/contract/fields.js';
import { toUtc } from './timestamps.js';

describe('a time of the wire', () => {
  it.each([
    ['2031-01-01T10:00:00Z', '2031-01-01T10:00:00.000Z'],
    ['2031-01-01T10:00:00.5+02:00', '2031-01-01T08:00:00.500Z'],
    ['2031-01-01T00:30:00-01:00', '2031-01-01T01:30:00.000Z'],
  ])('%s is stored as %s', (text, stored) => {
    expect(toUtc(timestamp.parse(text))).toBe(stored);
  });

  it.each([
    '2031-01-01',
    '2031-01-01T10:00:00',
    '2031-01-01 10:00:00Z',
    '2031-13-01T10:00:00Z',
    '2031-01-01T24:00:00Z',
    'now',
    '2031-02-30T10:00:00Z',
  ])('%s is refused', (text) => {
    expect(timestamp.safeParse(text).success).toBe(false);
  });
});
