import { afterEach, describe, expect, it } from '@jest/globals';
import { CRASH_POINTS, observeCrashPoints, reached, type CrashPoint } from './crash-points.js';

afterEach(() => observeCrashPoints(() => {}));

describe('a crash point', () => {
  it('tells its observer its name and what is at hand, in order', () => {
    const told: [CrashPoint, unknown][] = [];
    observeCrashPoints((point, about) => told.push([point, about]));
    reached('storage.before-commit', ['unit']);
    reached('egress.written');
    expect(told).toEqual([
      ['storage.before-commit', ['unit']],
      ['egress.written', undefined],
    ]);
  });

  it('says of every name what the process would leave behind', () => {
    for (const [name, words] of Object.entries(CRASH_POINTS)) {
      expect(name).toMatch(/^[a-z]+\.[a-z]+(?:-[a-z]+)*$/);
      expect(words).toMatch(/^[A-Z].{20,}\.$/);
    }
  });
});
