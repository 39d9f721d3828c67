import type { Metrics } from '../system/metrics/metrics.js';
import type { StoreMeter } from './store-meter.js';
import { LANES, type Lane } from './unit.js';

const UNITS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** How long units wait for the disk, and how many share a flush. */
export class StoreMetrics implements StoreMeter {
  private readonly units;
  private readonly seconds;

  constructor(metrics: Metrics) {
    this.units = metrics.histogram('countersign_store_flush_units', 'Units that shared one disk flush.', [], UNITS);
    this.seconds = metrics.histogram(
      'countersign_store_commit_seconds',
      'From handing a unit to the store until it is durable or refused.',
      ['lane'],
    );
    for (const lane of LANES) this.seconds.zero({ lane });
  }

  flushed(units: number): void {
    this.units.observe(units);
  }

  answered(lane: Lane, seconds: number): void {
    this.seconds.observe({ lane }, seconds);
  }
}
