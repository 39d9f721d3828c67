import { describe, expect, it } from '@jest/globals';
import { Feed } from './feed.js';
import type { CommittedUnit } from './feed.js';

function durable(firstPosition: number, eventCount: number): CommittedUnit {
  const unitId = `unit ${firstPosition}`;
  return {
    unit: { unitId, tenant: 't', lane: 'admit', guards: [], appends: [], writes: [], counters: [] },
    committed: { unitId, firstPosition, eventCount, recordedAt: '2031-01-01T00:00:00.000Z' },
  };
}

describe('the feed', () => {
  it('begins where the store was opened and follows what is published', () => {
    const feed = new Feed(7, () => undefined);
    expect(feed.head()).toBe(7);
    feed.publish(durable(7, 3));
    expect(feed.head()).toBe(10);
    feed.publish(durable(10, 0));
    expect(feed.head()).toBe(10);
  });

  it('tells every listener, in the order in which they subscribed', () => {
    const feed = new Feed(0, () => undefined);
    const told: string[] = [];
    for (const name of ['a', 'b', 'a']) feed.subscribe(name, ({ unit }) => told.push(`${name} ${unit.unitId}`));
    feed.publish(durable(0, 1));
    expect(told).toEqual(['a unit 0', 'b unit 0', 'a unit 0']);
  });

  it('shows a listener the head after its unit', () => {
    const feed = new Feed(0, () => undefined);
    const heads: number[] = [];
    feed.subscribe('head', () => heads.push(feed.head()));
    feed.publish(durable(0, 4));
    expect(heads).toEqual([4]);
  });

  it('stops one subscription and not another of the same name', () => {
    const feed = new Feed(0, () => undefined);
    const told: number[] = [];
    const stop = feed.subscribe('x', () => told.push(1));
    feed.subscribe('x', () => told.push(2));
    stop();
    stop();
    feed.publish(durable(0, 1));
    expect(told).toEqual([2]);
  });

  it('lets a listener stop itself while it is told', () => {
    const feed = new Feed(0, () => undefined);
    let told = 0;
    const stop = feed.subscribe('once', () => {
      told += 1;
      stop();
    });
    feed.publish(durable(0, 1));
    feed.publish(durable(1, 1));
    expect(told).toBe(1);
  });

  it('reports a listener that throws, by its name, and tells the next', () => {
    const problems: unknown[][] = [];
    const feed = new Feed(0, (...problem) => problems.push(problem));
    const failure = new Error('no');
    let told = 0;
    feed.subscribe('bad', () => {
      throw failure;
    });
    feed.subscribe('good', () => (told += 1));
    feed.publish(durable(0, 1));
    expect(problems).toEqual([['bad', failure]]);
    expect(told).toBe(1);
  });
});
