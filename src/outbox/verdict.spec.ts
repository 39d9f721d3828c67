import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Delivered, Delivery, Failure, Outcome } from './sink.js';
import { judge } from './verdict.js';

const REFUSED: Failure = { kind: 'refused', reason: 'http_400', retryAfterMs: null };
const UNAVAILABLE: Failure = { kind: 'unavailable', reason: 'http_503', retryAfterMs: null };
const GONE: Failure = { kind: 'gone', reason: 'http_410', retryAfterMs: null };
const OK: Outcome = { kind: 'delivered' };
const NOT_TRIED: Outcome = { kind: 'not_tried' };

const delivery = (position: number, partition: string): Delivery => ({
  position,
  partition,
  eventId: `evt_${position}`,
  recordedAt: '2031-01-01T00:00:00.000Z',
  body: '{}',
});
const round = (...outcomes: readonly (readonly [string, Outcome])[]): Delivered[] =>
  outcomes.map(([partition, outcome], position) => ({ delivery: delivery(position, partition), outcome }));
const positions = (deliveries: readonly Delivery[]): number[] => deliveries.map(({ position }) => position);

describe('the verdict on a round', () => {
  it('puts a refused event aside once the sink has taken another, with what waits behind it', () => {
    const verdict = judge(round(['a', REFUSED], ['b', OK], ['a', NOT_TRIED]));
    expect(verdict.putAside.map(({ delivery, failure }) => [delivery.position, failure])).toEqual([
      [0, REFUSED],
      [2, null],
    ]);
    expect(verdict).toMatchObject({ left: [], down: null });
  });

  it('holds nothing against an event while the sink takes nothing at all', () => {
    const verdict = judge(round(['a', REFUSED], ['b', UNAVAILABLE], ['a', NOT_TRIED]));
    expect(verdict.putAside).toEqual([]);
    expect(positions(verdict.left)).toEqual([0, 1, 2]);
    expect(verdict.down).toBe(UNAVAILABLE);
  });

  it('holds against an event only what came before a success, when the round was given up', () => {
    const verdict = judge(round(['a', REFUSED], ['b', OK], ['c', UNAVAILABLE], ['d', NOT_TRIED]));
    expect(verdict.putAside.map(({ delivery }) => delivery.position)).toEqual([0]);
    expect(positions(verdict.left)).toEqual([2, 3]);
    expect(verdict.down).toBe(UNAVAILABLE);
  });

  it('stops at a receiver that is gone, whatever it took before', () => {
    const verdict = judge(round(['a', OK], ['b', GONE], ['c', NOT_TRIED]));
    expect(verdict).toMatchObject({ putAside: [], down: GONE });
    expect(positions(verdict.left)).toEqual([1, 2]);
  });

  it('finds no failure in a round that was only cut short', () => {
    const verdict = judge(round(['a', OK], ['b', NOT_TRIED]));
    expect(verdict).toMatchObject({ putAside: [], down: null });
    expect(positions(verdict.left)).toEqual([1]);
  });

  it('deals with every delivery exactly once, and never puts one aside that nothing was taken after or beside', () => {
    const outcome = fc.constantFrom(OK, REFUSED, UNAVAILABLE, NOT_TRIED);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), outcome), { maxLength: 12 }), (outcomes) => {
        const { delivered, putAside, left } = judge(round(...outcomes));
        const all = [...delivered, ...putAside.map(({ delivery }) => delivery), ...left];
        expect(positions(all).toSorted((a, b) => a - b)).toEqual(outcomes.map((_, index) => index));
        if (delivered.length === 0) expect(putAside).toEqual([]);
      }),
    );
  });
});
