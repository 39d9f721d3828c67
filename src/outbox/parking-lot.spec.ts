import { describe, expect, it } from '@jest/globals';
import { ParkingLot, type Parked } from './parking-lot.js';

const parked = (position: number, partition: string, nextAtMs = 0): Parked => ({
  position,
  partition,
  nextAtMs,
  tries: 1,
  parkedAt: '2031-01-01T00:00:00.000Z',
  offers: 1,
  takenBefore: 0,
});

function lotOf(...entries: readonly Parked[]): ParkingLot {
  const lot = new ParkingLot();
  for (const entry of entries) lot.put(entry);
  return lot;
}

const due = (lot: ParkingLot, nowMs: number): number[] => lot.due(nowMs).map(({ position }) => position);

describe('what is parked', () => {
  it('waits for the oldest of its partition, however long that is due itself', () => {
    const lot = lotOf(parked(5, 'a', 0), parked(2, 'a', 1_000), parked(3, 'b', 500));
    expect(due(lot, 0)).toEqual([]);
    expect(lot.nextDueMs).toBe(500);
    expect(due(lot, 500)).toEqual([3]);
    expect(due(lot, 1_000)).toEqual([3, 2, 5]);
  });

  it('blocks its partition until the last of it is gone', () => {
    const lot = lotOf(parked(1, 'a'), parked(2, 'a'));
    lot.remove(1, 'a');
    expect([lot.blocks('a'), lot.blocks('b'), lot.size]).toEqual([true, false, 1]);
    lot.remove(2, 'a');
    expect([lot.blocks('a'), lot.size, lot.nextDueMs, lot.oldestParkedAt]).toEqual([false, 0, null, null]);
  });

  it('is replaced, not doubled, when it is put again', () => {
    const lot = lotOf(parked(1, 'a'), parked(1, 'a', 700));
    expect([lot.size, lot.nextDueMs, lot.has(1)]).toEqual([1, 700, true]);
  });

  it('is offered for a few partitions at a time, so that a round stays short', () => {
    const lot = lotOf(...Array.from({ length: 100 }, (_, n) => parked(n, `p${n % 50}`)));
    expect(new Set(lot.due(0).map(({ partition }) => partition)).size).toBe(8);
  });

  it('is what the table says after it was loaded again, and still knows how often it was offered', () => {
    const lot = lotOf({ ...parked(1, 'a'), offers: 7, takenBefore: 3 }, parked(9, 'z'));
    const row = { sink: 'ops', state: 'parked', last_error: null, parked_at: '2031-01-01T00:00:00.000Z' } as const;
    const next_at = '1970-01-01T00:00:01.000Z';
    lot.load([
      { ...row, position: 1, partition: 'a', tries: 2, next_at },
      { ...row, position: 4, partition: 'a', tries: 0, next_at },
    ]);
    expect(lot.size).toBe(2);
    expect(lot.get(1, 'a')).toMatchObject({ tries: 2, offers: 7, takenBefore: 3, nextAtMs: 1_000 });
    expect(lot.get(4, 'a')).toMatchObject({ tries: 0, offers: 0, takenBefore: 0 });
    expect(lot.has(9)).toBe(false);
  });
});
