import { describe, expect, it } from '@jest/globals';
import { Readiness, type ReadinessReason } from './readiness.js';

const reason = (detail: string): ReadinessReason => ({ name: 'disk', weight: 'degraded', detail });

describe('readiness', () => {
  it('is there where nobody has a reason against it', () => {
    const readiness = new Readiness();
    expect(readiness.reasons()).toEqual([]);
    readiness.watch(() => []);
    expect(readiness.reasons()).toEqual([]);
  });

  it('asks everybody anew each time', () => {
    const readiness = new Readiness();
    let storeOk = false;
    readiness.watch(() => (storeOk ? [] : [reason('the store cannot write'), reason('the log is long')]));
    readiness.watch(() => [reason('the disk is full')]);
    expect(readiness.reasons().map(({ detail }) => detail)).toEqual([
      'the store cannot write',
      'the log is long',
      'the disk is full',
    ]);
    storeOk = true;
    expect(readiness.reasons()).toEqual([reason('the disk is full')]);
  });
});
