import { describe, expect, it } from '@jest/globals';
import { SystemRandom } from './random-source.js';

describe('the randomness of the system', () => {
  it('never gives the same bytes twice, over the edge of its pool', () => {
    const random = new SystemRandom();
    const drawn = Array.from({ length: 5000 }, () => Buffer.from(random.bytes(10)).toString('hex'));
    expect(new Set(drawn).size).toBe(5000);
  });

  it('gives bytes of the caller’s own, which later draws do not change', () => {
    const random = new SystemRandom();
    const first = random.bytes(10);
    const copy = Buffer.from(first).toString('hex');
    for (let n = 0; n < 2000; n += 1) random.bytes(10);
    expect(Buffer.from(first).toString('hex')).toBe(copy);
  });

  it.each([0, 1, 8192, 8193, 100_000])('gives exactly %d bytes', (count) => {
    expect(new SystemRandom().bytes(count)).toHaveLength(count);
  });
});
