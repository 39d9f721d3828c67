import type { InstanceRef } from '../store.js';
import type { Unit } from '../unit.js';
import type { UnitResult } from './unit-writer.js';

/** How far the log of the database has been moved into its file. */
export interface CheckpointProgress {
  /** Frames in the log. */
  readonly logFrames: number;
  /** Of those, frames that the file holds too. When all are, the next write starts the log again from its beginning. */
  readonly checkpointedFrames: number;
}

/** Where batches of units are applied, one at a time. Another thread in the product. */
export interface WriterPort {
  /** One result per unit, in order. Rejects with `StoreBusy` or `StoreBroken` when no unit of the batch counts. */
  apply(units: readonly Unit[]): Promise<readonly UnitResult[]>;
  /**
   * From here on every batch asserts that this process still owns the database: once another has taken over, `apply` rejects with
   * `StoreTakenOver`, whatever is in the batch.
   */
  own(instance: InstanceRef): Promise<void>;
  /** Answers the head once a disk that was full has space again. Rejects with `StoreBroken` while it has not, or never will. */
  recover(): Promise<number>;
  /** Moves what is left of the log between two batches. */
  checkpoint(): Promise<CheckpointProgress>;
  close(): Promise<void>;
}
