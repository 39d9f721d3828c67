import type { Lane } from './unit.js';

/** Told how the write path goes. Called for every unit, so it only counts. */
export interface StoreMeter {
  /** So many units shared one disk flush. */
  flushed(units: number): void;
  /** A unit was applied or refused, so many seconds after it was handed over. */
  answered(lane: Lane, seconds: number): void;
}
