import type { SinkSettings } from '../config/settings.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { RandomSource } from '../system/random-source.js';
import { backoffMs } from './backoff.js';
import type { Failure } from './sink.js';

/** A sink that takes nothing is tried again at least so often, unless it asked for more rest. */
const REST_MS_MAX = 60_000;

/** When a sink as a whole rests: nothing is offered, nothing is held against an event, the cursor waits. */
export class SinkPace {
  private failuresInARow = 0;
  private restsUntilMs = 0;
  private gone = false;
  private reason: string | null = null;

  constructor(
    private readonly name: string,
    private readonly settings: Pick<SinkSettings, 'backoffMs' | 'backoffMsMax'>,
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly logger: Logger,
  ) {}

  /** Milliseconds until the sink is offered something again; 0: now; Infinity: only when somebody says so. */
  get restMs(): number {
    return this.gone ? Infinity : Math.max(0, this.restsUntilMs - this.clock.monotonic());
  }

  get isDown(): boolean {
    return this.failuresInARow > 0;
  }

  /** The receiver said that it wants no more events. */
  get isGone(): boolean {
    return this.gone;
  }

  /** Why the sink takes nothing; null while it does. */
  get lastError(): string | null {
    return this.reason;
  }

  fail(failure: Failure): void {
    this.failuresInARow += 1;
    this.gone = failure.kind === 'gone';
    const limits = { firstMs: this.settings.backoffMs, maxMs: Math.min(this.settings.backoffMsMax, REST_MS_MAX) };
    const waitMs = Math.max(backoffMs(this.failuresInARow, limits, this.random), failure.retryAfterMs ?? 0);
    this.restsUntilMs = this.clock.monotonic() + waitMs;
    if (this.reason === null) this.logger.warn('a sink takes nothing', { sink: this.name, reason: failure.reason });
    this.reason = failure.reason;
  }

  succeed(): void {
    if (this.reason !== null) this.logger.info('a sink takes events again', { sink: this.name });
    this.failuresInARow = 0;
    this.reason = null;
  }

  /** Somebody asked for deliveries: the sink is tried at once. */
  endRest(): void {
    this.gone = false;
    this.restsUntilMs = 0;
  }
}
