import type { RandomSource } from '../../src/system/random-source.js';
import type { Clock } from '../../src/system/clock.js';
import { IdSource } from '../../src/system/id-source.js';

/** A clock that stands still until it is moved; both kinds of time move together. */
export class ManualClock implements Clock {
  private ms: number;

  /** `start`: ISO 8601. */
  constructor(start: string) {
    this.ms = Date.parse(start);
  }

  now(): number {
    return this.ms;
  }

  monotonic(): number {
    return this.ms;
  }

  /** ISO 8601. */
  get iso(): string {
    return new Date(this.ms).toISOString();
  }

  moveTo(iso: string): void {
    this.ms = Date.parse(iso);
  }

  advance(ms: number): void {
    this.ms += ms;
  }
}

/** Randomness that is always zero, so that ids are counted. */
class NoRandom implements RandomSource {
  bytes(count: number): Uint8Array {
    return new Uint8Array(count);
  }
}

/** Ids counted up from the time of the clock. */
export const countedIds = (clock: Clock): IdSource => new IdSource(clock, new NoRandom());
