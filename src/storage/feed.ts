import type { Committed, Unit } from './unit.js';

/** A unit with what it is known by, once it is durable. */
export interface CommittedUnit {
  readonly unit: Unit;
  readonly committed: Committed;
}

export type FeedListener = (unit: CommittedUnit) => void;

/** Told when a listener throws: its name and the error. The feed goes on. */
export type FeedProblem = (listener: string, error: unknown) => void;

/**
 * Durable units in commit order, to everybody in this process who follows the store. Listeners run one after the other
 * before `commit` answers, so they only note and wake; what must not be missed is read from the table
 * (`StoreReader.eventsAfter`), because a feed starts with the process.
 */
export class Feed {
  private readonly listeners = new Map<symbol, { name: string; listener: FeedListener }>();
  private positions: number;

  constructor(
    head: number,
    private readonly problem: FeedProblem,
  ) {
    this.positions = head;
  }

  /** Answers how to stop listening. `name` is what problems of this listener are reported under. */
  subscribe(name: string, listener: FeedListener): () => void {
    const key = Symbol(name);
    this.listeners.set(key, { name, listener });
    return () => void this.listeners.delete(key);
  }

  /** How many positions are durable: the next event gets this position. */
  head(): number {
    return this.positions;
  }

  /** Only the store publishes: in commit order, after the unit is durable. */
  publish(durable: CommittedUnit): void {
    this.positions = durable.committed.firstPosition + durable.committed.eventCount;
    for (const { name, listener } of this.listeners.values()) {
      try {
        listener(durable);
      } catch (error) {
        this.problem(name, error);
      }
    }
  }
}
