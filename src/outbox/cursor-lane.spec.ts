import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CursorLane } from './cursor-lane.js';
import type { TailEntry } from './event-tail.js';

const entry = (position: number, eventType = 'wanted'): TailEntry => ({
  position,
  eventType,
  size: 1,
  eventId: `evt_${position}`,
  partition: `p${position}`,
  recordedAt: '',
  body: eventType === 'wanted' ? '{}' : null,
});

const tailOf = (entries: readonly TailEntry[]) => ({
  after: async (position: number, limit: number) => entries.filter((e) => e.position > position).slice(0, limit),
});
const laneOf = (entries: readonly TailEntry[], end: number | null = null): CursorLane =>
  new CursorLane(tailOf(entries), new Set(['wanted']), -1, end);
const none = (): boolean => false;

describe('a walk over positions', () => {
  it('passes over what the sink does not want', async () => {
    const lane = laneOf([entry(0, 'other'), entry(1), entry(2, 'other')]);
    const batch = await lane.read(10, none);
    expect(batch).toMatchObject({ deliveries: [{ position: 1 }], upTo: 2, isFull: false });
    lane.settle(batch, []);
    expect(lane.position).toBe(2);
  });

  it('waits before what is left, and does not offer again what was settled beyond it', async () => {
    const lane = laneOf([0, 1, 2, 3].map((n) => entry(n)));
    const batch = await lane.read(4, none);
    lane.settle(
      batch,
      batch.deliveries.filter(({ position }) => position === 1),
    );
    expect(lane.position).toBe(0);
    const next = await lane.read(4, none);
    expect(next.deliveries.map(({ position }) => position)).toEqual([1]);
    lane.settle(next, []);
    expect(lane.position).toBe(3);
  });

  it('ends where it was told to', async () => {
    const lane = laneOf(
      [0, 1, 2, 3].map((n) => entry(n)),
      1,
    );
    const batch = await lane.read(10, none);
    expect(batch.deliveries.map(({ position }) => position)).toEqual([0, 1]);
    lane.settle(batch, []);
    expect(lane.isDone).toBe(true);
  });

  it('leaves out what is parked, and names what cannot be read', async () => {
    const lane = laneOf([entry(0), { ...entry(1, 'other'), isUnreadable: true }, entry(2)]);
    const batch = await lane.read(10, (position) => position === 0);
    expect(batch.deliveries.map(({ position }) => position)).toEqual([2]);
    expect(batch.unreadable.map(({ position }) => position)).toEqual([1]);
  });

  it('offers every event until it is settled and none afterwards, whatever is left of each batch', async () => {
    const steps = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(steps, async (leaves) => {
        const lane = laneOf(Array.from({ length: 12 }, (_, n) => entry(n)));
        const settled = new Set<number>();
        for (const pattern of [...leaves, ...Array.from({ length: 12 }, () => [false])]) {
          const batch = await lane.read(5, none);
          for (const { position } of batch.deliveries) expect(settled.has(position)).toBe(false);
          const left = batch.deliveries.filter((_, index) => pattern[index % pattern.length] === true);
          for (const delivery of batch.deliveries) if (!left.includes(delivery)) settled.add(delivery.position);
          lane.settle(batch, left);
        }
        expect([settled.size, lane.position]).toEqual([12, 11]);
      }),
    );
  });
});
