import { Injectable } from '@nestjs/common';
import { Clock } from '../system/clock.js';
import { Logger } from '../system/logger.js';
import { Metrics } from '../system/metrics/metrics.js';

/** Strangers must not be able to fill the log: one line in so many milliseconds, with how many it stands for. */
const LINE_MS = 10_000;

/** Requests refused because nobody knows who sent them. They are counted and logged, and never recorded. */
@Injectable()
export class RefusalLog {
  private readonly total;
  private unlogged = 0;
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    this.total = metrics.counter(
      'countersign_http_unauthenticated_total',
      'Requests refused because no valid token came with them.',
    );
  }

  /** `route`: as declared, never the path that was asked for. */
  note(route: string | null): void {
    this.total.inc();
    this.unlogged += 1;
    const now = this.clock.monotonic();
    if (now - this.loggedAt < LINE_MS) return;
    this.logger.warn('requests without a valid token were refused', { count: this.unlogged, route });
    this.loggedAt = now;
    this.unlogged = 0;
  }
}
