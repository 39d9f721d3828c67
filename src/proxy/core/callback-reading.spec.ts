import { describe, expect, it } from '@jest/globals';
import { readCallback, type CallbackReading } from './callback-reading.js';

const READING: CallbackReading = {
  statusAt: '/type',
  happenedWhen: ['done'],
  failedWhen: ['failed'],
  pendingWhen: ['running'],
  effectAt: '/data',
  referenceAt: '/data/ref',
  keyAt: '/data/key',
};

describe('a callback', () => {
  it.each([
    ['done', 'happened'],
    ['failed', 'failed'],
    ['running', 'pending'],
    ['DONE', 'unclear'],
    ['', 'unclear'],
    [null, 'unclear'],
    [['done'], 'unclear'],
  ] as const)('that says %j means %s', (type, meaning) => {
    expect(readCallback({ type: type as string, data: { ref: 'r', key: 'k' } }, READING)).toEqual({
      meaning,
      effect: { ref: 'r', key: 'k' },
      reference: 'r',
      key: 'k',
    });
  });

  it.each([[''], [null], [{}], [1.5], [2 ** 53], ['x'.repeat(513)]])('names nothing by %j', (ref) => {
    expect(readCallback({ type: 'done', data: { ref: ref as string } }, READING).reference).toBeNull();
  });

  it('names by whole numbers too, and by nothing where the manifest names no place', () => {
    const body = { type: 'done', data: { ref: 12, key: 'k' } };
    expect(readCallback(body, READING).reference).toBe('12');
    expect(readCallback(body, { ...READING, keyAt: null }).key).toBeNull();
  });

  it.each([[null], ['text'], [[]], [{}]])('of another shape (%j) means nothing', (body) => {
    expect(readCallback(body, READING)).toEqual({ meaning: 'unclear', effect: null, reference: null, key: null });
  });
});
