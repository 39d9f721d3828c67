import { describe, expect, it } from '@jest/globals';
import { Readiness } from './readiness.js';
import { watchSweep } from './sweep-watch.js';

describe('a watch over the sweep', () => {
  it('makes it a reason to look what it could not look after, as long as that is so', () => {
    const [troubles, readiness] = [new Map<string, number | null>(), new Readiness()];
    watchSweep({ troubles }, readiness);
    expect(readiness.reasons()).toEqual([]);
    troubles.set('approval expiry', 3).set('idle runs', null);
    const detail =
      'the last sweep could not look after everything: approval expiry (3 records), idle runs (failed); the log has the ids';
    expect(readiness.reasons()).toEqual([{ name: 'sweep', weight: 'degraded', detail }]);
    troubles.clear();
    expect(readiness.reasons()).toEqual([]);
  });
});
