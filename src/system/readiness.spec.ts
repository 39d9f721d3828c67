import { describe, expect, it } from '@jest/globals';
import { Readiness } from './readiness.js';

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
    readiness.watch(() => (storeOk ? [] : ['the store cannot write', 'the log is long']));
    readiness.watch(() => ['no policy is in force']);
    expect(readiness.reasons()).toEqual(['the store cannot write', 'the log is long', 'no policy is in force']);
    storeOk = true;
    expect(readiness.reasons()).toEqual(['no policy is in force']);
  });
});
