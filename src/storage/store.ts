import type { Custody } from './custody.js';
import type { Feed } from './feed.js';
import type { StoreReader } from './readers/store-reader.js';
import type { Committed, Lane, Unit } from './unit.js';

export interface StoreStatus {
  /** False once a write may have failed half way, the writer has died or the log of the database is too long. */
  readonly ok: boolean;
  /** Units that wait, over all lanes. */
  readonly queue: number;
  /** Units that wait in each lane. */
  readonly lanes: Readonly<Record<Lane, number>>;
  /** Why nothing can be written any more; null: it can. */
  readonly failure: string | null;
  /** Size of the write-ahead log on disk, in bytes. */
  readonly walBytes: number;
  /** Why `ok` is false: one sentence each, for operators. */
  readonly reasons: readonly string[];
}

/** This process, as the database knows it. Every claim carries the epoch. */
export interface InstanceRef {
  readonly instanceId: string;
  readonly epoch: number;
}

/**
 * The one door to what is durable. A class and not an interface, so that it can be injected.
 *
 * `commit` resolves when the whole unit is on disk. It rejects with `GuardFailed` when a guard of this unit did not hold (nothing
 * of it was written), with `CountersignError` `overloaded` (lane `admit` only; it was never queued) or `store_unavailable` (the
 * store cannot write; whether the unit is durable is not known when it was already on its way) or `instance_taken_over` (another
 * process owns the database now; nothing of it was written), and with a plain `Error` when
 * the unit itself is impossible (unknown event type, payload that does not fit, unknown cause).
 */
export abstract class Store {
  abstract readonly read: StoreReader;
  abstract readonly feed: Feed;

  /** Copies of this store, and what is known of it outside. */
  abstract readonly custody: Custody;

  abstract commit(unit: Unit): Promise<Committed>;

  /**
   * Writes this process into `instances` under the next epoch, which is above `known` too: a restored store does not remember the
   * processes that came after its backup, other media of the data directory do. Called once, before anything is claimed. From here on nothing that an
   * earlier process commits is written, and nothing of this one when a later one has registered: `instance_taken_over`.
   */
  abstract registerInstance(known?: number): Promise<InstanceRef>;

  /** Calls once, when a commit has shown that another process has taken over: nothing can be written any more. */
  abstract whenTakenOver(listener: () => void): void;

  abstract status(): StoreStatus;

  /** Refuses new units, lets the queue run dry, closes. */
  abstract close(): Promise<void>;
}
