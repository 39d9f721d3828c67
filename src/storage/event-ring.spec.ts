import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventRing, type Placed } from './event-ring.js';

const at = (position: number, size = 1): Placed => ({ position, size });
const positions = (entries: readonly Placed[] | null): readonly number[] | null =>
  entries?.map(({ position }) => position) ?? null;

function ringOf(limits: { entriesMax: number; bytesMax: number }, ...entries: readonly Placed[]): EventRing<Placed> {
  const ring = new EventRing<Placed>(entries[0]?.position ?? 0, limits);
  for (const entry of entries) ring.push(entry);
  return ring;
}

const WIDE = { entriesMax: 100, bytesMax: 1_000_000 };

describe('a ring of recent events', () => {
  it('gives what comes after a position, as much as is asked for', () => {
    const ring = ringOf(WIDE, at(7), at(8), at(9));
    expect(positions(ring.after(6, 10))).toEqual([7, 8, 9]);
    expect(positions(ring.after(7, 1))).toEqual([8]);
    expect(positions(ring.after(9, 10))).toEqual([]);
  });

  it('says when something after the position is no longer there', () => {
    expect(ringOf(WIDE, at(7), at(8)).after(5, 10)).toBeNull();
    expect(ringOf({ entriesMax: 2, bytesMax: 100 }, at(7), at(8), at(9)).after(6, 10)).toBeNull();
  });

  it('has nothing yet for a reader that is ahead of it', () => {
    const ring = ringOf(WIDE, at(7));
    expect(ring.after(12, 10)).toEqual([]);
    for (const position of [8, 9, 10, 11, 12, 13]) ring.push(at(position));
    expect(positions(ring.after(12, 10))).toEqual([13]);
  });

  it('begins anew at an entry that does not follow the newest', () => {
    const ring = ringOf(WIDE, at(7), at(8));
    ring.push(at(20));
    expect(ring.after(8, 10)).toBeNull();
    expect(positions(ring.after(19, 10))).toEqual([20]);
  });

  it('keeps nothing that alone is larger than it may be', () => {
    const ring = ringOf({ entriesMax: 10, bytesMax: 100 }, at(0), at(1, 101));
    expect(ring.size).toBe(0);
    expect(ring.after(0, 10)).toBeNull();
    expect(ring.after(1, 10)).toEqual([]);
  });

  it('never holds more than its limits, and never answers with a gap', () => {
    const limits = { entriesMax: 5, bytesMax: 60 };
    fc.assert(
      fc.property(
        fc.array(fc.record({ size: fc.integer({ min: 1, max: 40 }), skip: fc.integer({ min: 0, max: 9 }) }), {
          maxLength: 1500,
        }),
        fc.integer({ min: 1, max: 7 }),
        (steps, limit) => {
          const ring = new EventRing<Placed>(0, limits);
          const sizes = new Map<number, number>();
          let next = 0;
          for (const { size, skip } of steps) {
            if (skip === 9) next += 3;
            ring.push(at(next, size));
            sizes.set(next, size);
            next += 1;
            expect(ring.size).toBeLessThanOrEqual(limits.entriesMax);
            const held = positions(ring.after(next - 1 - ring.size, 100)) ?? [];
            expect(held).toEqual(Array.from({ length: ring.size }, (_, n) => next - ring.size + n));
            const bytes = held.reduce((sum, position) => sum + (sizes.get(position) ?? 0), 0);
            expect(bytes).toBeLessThanOrEqual(limits.bytesMax);
            const some = ring.after(next - 3, limit);
            if (some !== null) expect(some.length).toBe(Math.min(limit, 2));
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});
