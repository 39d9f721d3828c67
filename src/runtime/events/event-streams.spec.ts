import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CommittedEvent, NewEvent } from '../../domain/events/envelope.js';
import { Feed, type CommittedUnit } from '../../storage/feed.js';
import type { Unit } from '../../storage/unit.js';
import type { EventScope } from './event-scope.js';
import { EventStreams, type EventLine } from './event-streams.js';
import { eventsOfUnit } from '../../storage/unit-events.js';

const EVERYTHING: EventScope = { tenant: 'acme', installation: false, runId: null, types: null };
const LIMITS = { entriesMax: 8, bytesMax: 100_000 };

/** A table of events and its feed. What is durable can be read before the feed tells it, as with a writer in a thread. */
class FakeStore {
  readonly feed = new Feed(0, (_, error) => {
    throw error;
  });
  readonly reads: number[] = [];
  private readonly table: CommittedEvent[] = [];
  private untold: CommittedUnit[] = [];
  /** Runs while a page is being read. */
  duringRead: () => void = () => {};

  readonly read = {
    eventsAfter: async (position: number, limit: number, tenant: string | null): Promise<readonly CommittedEvent[]> => {
      this.reads.push(position);
      const page = this.table
        .filter((event) => event.position > position && (tenant === null || event.envelope.tenant === tenant))
        .slice(0, limit);
      this.duringRead();
      await turn();
      return page;
    },
  };

  get size(): number {
    return this.table.length;
  }

  /** Makes a unit durable; the feed learns of it with `tell`. */
  write(eventCount = 1, tenant = 'acme', runId = 'run_1'): void {
    const firstPosition = this.table.length;
    const events = Array.from({ length: eventCount }, (_, n) => newEvent(`evt_${firstPosition + n}`, runId));
    const unit = {
      unitId: `unt_${firstPosition}`,
      tenant,
      appends: [{ stream: { kind: 'call', id: `call_${firstPosition}` }, expectedVersion: 0, events }],
    } as unknown as Unit;
    const committed = { unitId: unit.unitId, firstPosition, eventCount, recordedAt: '2031-01-01T00:00:00.000Z' };
    this.table.push(...eventsOfUnit({ unit, committed }));
    this.untold.push({ unit, committed });
  }

  tell(): void {
    const units = this.untold;
    this.untold = [];
    for (const unit of units) this.feed.publish(unit);
  }

  commit(eventCount?: number, tenant?: string, runId?: string): void {
    this.write(eventCount, tenant, runId);
    this.tell();
  }
}

function newEvent(eventId: string, runId: string): NewEvent {
  return {
    eventId,
    type: 'tool.call.dispatched',
    refs: { runId },
    producer: 'capability-runtime',
    actor: { sub: 'sam' },
    correlationId: 'call_0',
    causationId: null,
    causeKind: 'external',
    occurredAt: '2031-01-01T00:00:00.000Z',
    payload: { dispatchedAt: '2031-01-01T00:00:00.000Z' },
  };
}

let store: FakeStore;
let streams: EventStreams;

beforeEach(() => {
  store = new FakeStore();
  streams = new EventStreams(store, LIMITS);
});

/** A reader that keeps what it got. */
function reader(after = -1, scope = EVERYTHING, from = streams) {
  const gone = new AbortController();
  const lines: EventLine[] = [];
  const batches = from.follow(scope, after, gone.signal);
  const ended = (async () => {
    for await (const batch of batches) lines.push(...batch);
  })();
  return { lines, ended, stop: () => gone.abort(), positions: () => lines.map(({ position }) => position) };
}

async function settled(): Promise<void> {
  for (let n = 0; n < 60; n += 1) await turn();
}

const upTo = (count: number, from = 0): number[] => Array.from({ length: count - from }, (_, n) => from + n);

describe('a stream of events', () => {
  it('gives what the table has, then what comes', async () => {
    for (let n = 0; n < 5; n += 1) store.commit(3);
    const { positions, stop, ended } = reader();
    await settled();
    expect(positions()).toEqual(upTo(15));
    const readsBefore = store.reads.length;
    for (let n = 0; n < 5; n += 1) {
      store.commit(2);
      await settled();
    }
    expect(positions()).toEqual(upTo(25));
    expect(store.reads.length).toBe(readsBefore);
    stop();
    await ended;
  });

  it('goes on after the position it is given', async () => {
    store.commit(10);
    const { positions, stop, ended } = reader(6);
    await settled();
    expect(positions()).toEqual([7, 8, 9]);
    stop();
    await ended;
  });

  it('misses nothing that becomes durable while it reads its first page', async () => {
    store.commit(4);
    store.duringRead = () => {
      store.duringRead = () => {};
      store.commit(2);
    };
    const { positions, stop, ended } = reader();
    await settled();
    expect(positions()).toEqual(upTo(6));
    stop();
    await ended;
  });

  it('does not repeat what it read before the feed told of it', async () => {
    store.commit(2);
    store.write(2);
    const { positions, stop, ended } = reader();
    await settled();
    expect(positions()).toEqual(upTo(4));
    store.tell();
    store.commit();
    await settled();
    expect(positions()).toEqual(upTo(5));
    stop();
    await ended;
  });

  it('turns to the table again when it has fallen behind the ring', async () => {
    const gone = new AbortController();
    const batches = streams.follow(EVERYTHING, -1, gone.signal);
    store.commit();
    const seen: number[] = [];
    const first = await batches.next();
    seen.push(...(first.value ?? []).map(({ position }) => position));
    for (let n = 0; n < 40; n += 1) store.commit(2);
    await settled();
    const readsBefore = store.reads.length;
    while (seen.length < store.size) {
      const { value } = await batches.next();
      seen.push(...(value ?? []).map(({ position }) => position));
    }
    expect(seen).toEqual(upTo(81));
    expect(store.reads.length).toBeGreaterThan(readsBefore);
    gone.abort();
    expect((await batches.next()).done).toBe(true);
  });

  it('holds only events in its scope, and passes over the others', async () => {
    store.commit(1, 'acme', 'run_1');
    store.commit(1, 'umbrella', 'run_1');
    store.commit(1, '*', 'run_2');
    const readers = {
      tenant: reader(),
      run: reader(-1, { ...EVERYTHING, runId: 'run_2' }),
      installation: reader(-1, { ...EVERYTHING, installation: true }),
      types: reader(-1, { ...EVERYTHING, types: new Set(['run.started']) }),
    };
    await settled();
    store.commit(1, 'umbrella', 'run_2');
    store.commit(1, 'acme', 'run_2');
    store.commit(1, '*', 'run_1');
    await settled();
    expect(readers.tenant.positions()).toEqual([0, 4]);
    expect(readers.run.positions()).toEqual([4]);
    expect(readers.installation.positions()).toEqual([0, 2, 4, 5]);
    expect(readers.types.positions()).toEqual([]);
    streams.close();
    for (const { ended } of Object.values(readers)) await ended;
  });

  it('ends when its reader goes and when the process stops, and leaves nothing behind', async () => {
    const [first, second] = [reader(), reader()];
    await settled();
    expect(streams.size).toBe(2);
    first.stop();
    await first.ended;
    expect(streams.size).toBe(1);
    streams.close();
    await second.ended;
    expect(streams.size).toBe(0);
    const late = reader();
    await late.ended;
    expect(late.lines).toEqual([]);
  });

  it('begins anew for the next reader after everybody has gone', async () => {
    const first = reader();
    store.commit(2);
    first.stop();
    await first.ended;
    for (let n = 0; n < 12; n += 1) store.commit();
    const second = reader(1);
    store.commit();
    await settled();
    expect(second.positions()).toEqual(upTo(15, 2));
    second.stop();
    await second.ended;
  });

  it('says the same of an event whether it comes from the table or from the ring', async () => {
    const live = reader();
    await settled();
    store.commit(3);
    await settled();
    const late = reader();
    await settled();
    expect(live.lines.map(({ json }) => json)).toEqual(late.lines.map(({ json }) => json));
    expect(live.lines).toHaveLength(3);
    streams.close();
    await Promise.all([live.ended, late.ended]);
  });

  it('reaches everybody once and in order, whoever comes and goes when', async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('commit' as const), events: fc.integer({ min: 1, max: 6 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('write' as const), events: fc.integer({ min: 1, max: 3 }) }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('tell' as const), events: fc.constant(0) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('reconnect' as const), events: fc.constant(0) }) },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant('turns' as const), events: fc.integer({ min: 1, max: 9 }) }),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const fake = new FakeStore();
        const all = new EventStreams(fake, { entriesMax: 4, bytesMax: 100_000 });
        const steady = reader(-1, EVERYTHING, all);
        const seen: number[] = [];
        let current = reader(-1, EVERYTHING, all);
        const reconnect = async (): Promise<void> => {
          current.stop();
          await current.ended;
          seen.push(...current.positions());
          current = reader(seen.at(-1) ?? -1, EVERYTHING, all);
        };
        for (const { do: what, events } of steps) {
          if (what === 'commit') {
            fake.tell();
            fake.commit(events);
          } else if (what === 'write') fake.write(events);
          else if (what === 'tell') fake.tell();
          else if (what === 'reconnect') await reconnect();
          else for (let n = 0; n < events; n += 1) await turn();
        }
        fake.tell();
        await settled();
        await reconnect();
        all.close();
        await Promise.all([steady.ended, current.ended]);
        expect(steady.positions()).toEqual(upTo(fake.size));
        expect(seen).toEqual(upTo(fake.size));
      }),
      { numRuns: 150 },
    );
  });
});
