import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { preferredWaitMs, waitMsFrom } from './prefer.js';

const MAX = 60_000;

describe('the header Prefer', () => {
  it.each([
    [undefined, 0],
    ['', 0],
    ['respond-async', 0],
    ['wait=0', 0],
    ['wait=10', 10_000],
    ['wait=0.5', 500],
    ['WAIT=10', 10_000],
    ['wait = 10', 10_000],
    ['wait="10"', 10_000],
    ['wait=10; note=x', 10_000],
    ['respond-async, wait=10', 10_000],
    ['wait=10, wait=20', 10_000],
    ['wait=600', MAX],
  ])('%p lets the request wait %d milliseconds', (header, ms) => {
    expect(preferredWaitMs(header, MAX)).toBe(ms);
  });

  it.each(['wait', 'wait=', 'wait=soon', 'wait=-1', 'wait=Infinity', 'wait=NaN', 'wait=""'])(
    '%p is refused',
    (header) => {
      expect(() => preferredWaitMs(header, MAX)).toThrow(CountersignError);
    },
  );

  it('never lets anybody wait longer than the settings allow, or a fraction of a millisecond', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (seconds) => {
        const ms = waitMsFrom(seconds, MAX);
        return Number.isInteger(ms) && ms >= 0 && ms <= MAX;
      }),
    );
    expect(waitMsFrom(undefined, MAX)).toBe(0);
  });
});
