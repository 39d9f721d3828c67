import { describe, expect, it } from '@jest/globals';
import { checkpointStep } from './checkpoint-plan.js';

const all = (frames: number) => ({ logFrames: frames, checkpointedFrames: frames });

describe('the steps of a checkpoint', () => {
  it('leaves a short log alone', () => {
    expect(checkpointStep(0, all(0), 1)).toBe('rest');
    expect(checkpointStep(0, all(255), 1)).toBe('rest');
    expect(checkpointStep(0, all(256), 1)).toBe('pass');
  });

  it('makes another pass while a pass had much to move', () => {
    expect(checkpointStep(0, all(5_000), 1)).toBe('pass');
    expect(checkpointStep(5_000, all(5_400), 2)).toBe('pass');
  });

  it('leaves the tail to the writer once a pass had little to move', () => {
    expect(checkpointStep(5_400, all(5_464), 3)).toBe('tail');
    expect(checkpointStep(5_400, all(5_465), 3)).toBe('pass');
  });

  it('does not chase a writer for ever', () => {
    expect(checkpointStep(5_000, all(10_000), 5)).toBe('pass');
    expect(checkpointStep(10_000, all(15_000), 6)).toBe('tail');
  });

  it('rests while a reader still needs a part of the log', () => {
    expect(checkpointStep(0, { logFrames: 5_000, checkpointedFrames: 4_999 }, 1)).toBe('rest');
  });
});
