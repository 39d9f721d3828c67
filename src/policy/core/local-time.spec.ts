import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { localTime } from './local-time.js';

const at = (zone: string, iso: string) => localTime(zone, Date.parse(iso));

describe('the wall clock of a zone', () => {
  it('in UTC is the time as it is written', () => {
    expect(at('UTC', '2031-03-05T00:07:59.999Z')).toEqual({ hour: 0, minute: 7, weekday: 3, dayOfMonth: 5, month: 3 });
  });

  it('goes forward one hour when summer time begins, and back when it ends', () => {
    expect(at('Europe/Berlin', '2031-03-30T00:59:00Z')).toMatchObject({ hour: 1, minute: 59 });
    expect(at('Europe/Berlin', '2031-03-30T01:00:00Z')).toMatchObject({ hour: 3, minute: 0 });
    expect(at('Europe/Berlin', '2031-10-26T00:30:00Z')).toMatchObject({ hour: 2, minute: 30 });
    expect(at('Europe/Berlin', '2031-10-26T01:30:00Z')).toMatchObject({ hour: 2, minute: 30 });
  });

  it('may stand on another day, month and year', () => {
    expect(at('Pacific/Auckland', '2031-12-31T12:00:00Z')).toMatchObject({ dayOfMonth: 1, month: 1, weekday: 4 });
    expect(at('America/New_York', '2031-03-01T04:59:00Z')).toMatchObject({ dayOfMonth: 28, month: 2, hour: 23 });
    expect(at('Asia/Kolkata', '2031-03-05T00:00:00Z')).toMatchObject({ hour: 5, minute: 30 });
  });

  it('counts weekdays from Monday', () => {
    const days = [3, 4, 5, 6, 7, 8, 9].map((day) => at('UTC', `2031-03-0${day}T12:00:00Z`).weekday);
    expect(days).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('in UTC always agrees with the date itself', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (nowMs) => {
        const date = new Date(nowMs);
        expect(localTime('UTC', nowMs)).toEqual({
          hour: date.getUTCHours(),
          minute: date.getUTCMinutes(),
          weekday: ((date.getUTCDay() + 6) % 7) + 1,
          dayOfMonth: date.getUTCDate(),
          month: date.getUTCMonth() + 1,
        });
      }),
    );
  });

  it('does not exist for a zone that does not', () => {
    expect(() => localTime('Europe/Nowhere', 0)).toThrow(RangeError);
  });
});
