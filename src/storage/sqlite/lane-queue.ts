import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Feed } from '../feed.js';
import type { StoreMeter } from '../store-meter.js';
import { GuardFailed, LANES } from '../unit.js';
import type { Committed, Lane, Unit } from '../unit.js';
import type { UnitResult } from './unit-writer.js';
import { StoreBroken, StoreBusy, StoreTakenOver } from './write-failure.js';
import type { WriterPort } from './writer-port.js';

export interface LaneLimits {
  /** Units that may wait in the lane `admit`; what is over is refused before it is queued. */
  readonly queueMax: number;
  readonly unitsPerFlushMax: number;
}

interface Waiting {
  readonly unit: Unit;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: Error) => void;
  /** Monotonic milliseconds, for the meter. */
  readonly since: number;
}

const RETRY_AFTER_SECONDS = 1;

/** How often a full disk is looked at. */
const RECOVERY_MS = 1_000;

/**
 * Units wait in lanes while a batch is being flushed; the next batch takes `settle` before `govern` before `admit`, so back-pressure
 * meets new proposals first and results never. Within a lane the order is that of arrival.
 */
export class LaneQueue {
  private readonly lanes: Record<Lane, Waiting[]> = { settle: [], govern: [], admit: [] };
  private flushing: Promise<void> | null = null;
  private closing = false;
  private broken: CountersignError | null = null;
  private onTakenOver: () => void = () => {};
  private recovery: NodeJS.Timeout | null = null;

  constructor(
    private readonly writer: WriterPort,
    private readonly feed: Feed,
    private readonly limits: LaneLimits,
    private readonly meter: StoreMeter | null = null,
  ) {}

  /** Resolves when the unit is durable; errors as `Store.commit` says. */
  commit(unit: Unit): Promise<Committed> {
    if (this.broken !== null) return Promise.reject(this.broken);
    if (this.closing) return Promise.reject(new CountersignError('shutting_down', 'the store is closing'));
    const lane = this.lanes[unit.lane];
    if (unit.lane === 'admit' && lane.length >= this.limits.queueMax) {
      const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
      return Promise.reject(new CountersignError('overloaded', 'too many proposals wait to be recorded', details));
    }
    return new Promise((resolve, reject) => {
      lane.push({ unit, resolve, reject, since: performance.now() });
      this.flushing ??= this.flushAll();
    });
  }

  /** Units that wait, without those being flushed. */
  get length(): number {
    return LANES.reduce((sum, lane) => sum + this.lanes[lane].length, 0);
  }

  /** Units that wait in each lane, without those being flushed. */
  get depths(): Readonly<Record<Lane, number>> {
    const { settle, govern, admit } = this.lanes;
    return { settle: settle.length, govern: govern.length, admit: admit.length };
  }

  /** Why no unit is accepted any more, or null. */
  get failure(): string | null {
    return this.broken?.message ?? null;
  }

  /** Calls once, when it is known that another process has taken over. */
  whenTakenOver(listener: () => void): void {
    if (this.broken?.code === 'instance_taken_over') listener();
    else this.onTakenOver = listener;
  }

  /** Refuses new units; resolves when all that were accepted have been answered. */
  async close(): Promise<void> {
    this.closing = true;
    if (this.recovery !== null) clearTimeout(this.recovery);
    await this.flushing;
  }

  private async flushAll(): Promise<void> {
    // What arrives in the same turn of the event loop shares the first batch.
    await Promise.resolve();
    for (let batch = this.nextBatch(); batch.length > 0; batch = this.nextBatch()) await this.flush(batch);
    this.flushing = null;
  }

  private nextBatch(): Waiting[] {
    const batch: Waiting[] = [];
    for (const lane of LANES) {
      const room = this.limits.unitsPerFlushMax - batch.length;
      if (room > 0) batch.push(...this.lanes[lane].splice(0, room));
    }
    return batch;
  }

  private async flush(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.writer.apply(batch.map(({ unit }) => unit));
      this.measure(batch);
      batch.forEach((waiting, index) => this.answer(waiting, results[index]));
    } catch (error) {
      this.rejectBatch(batch, error);
    }
  }

  private measure(batch: readonly Waiting[]): void {
    if (this.meter === null) return;
    const now = performance.now();
    this.meter.flushed(batch.length);
    for (const { unit, since } of batch) this.meter.answered(unit.lane, (now - since) / 1000);
  }

  private answer({ unit, resolve, reject }: Waiting, result: UnitResult | undefined): void {
    if (result === undefined) return reject(new Error('the writer has left a unit without a result'));
    switch (result.outcome) {
      case 'committed':
        this.feed.publish({ unit, committed: result.committed });
        return resolve(result.committed);
      case 'guard':
        return reject(new GuardFailed(result.guard));
      case 'refused':
        return reject(new Error(result.message));
    }
  }

  private rejectBatch(batch: readonly Waiting[], error: unknown): void {
    const why = error instanceof Error ? error.message : 'the writer has failed';
    const failure = failureOf(error, why);
    for (const { reject } of batch) reject(failure);
    if (error instanceof StoreBusy) return;
    this.broken = failure;
    if (error instanceof StoreBroken && error.mayRecover) this.recoverLater();
    for (const lane of LANES) {
      for (const { reject } of this.lanes[lane].splice(0)) reject(failure);
    }
    if (error instanceof StoreTakenOver) this.onTakenOver();
  }

  private recoverLater(): void {
    this.recovery = setTimeout(() => void this.recover(), RECOVERY_MS).unref();
  }

  /**
   * A disk that was full may have space again: then new units are taken, and none that was refused is tried again. Only when the store
   * stands exactly where everybody was told it stands; where it does not, somebody was told no of what is on disk.
   */
  async recover(): Promise<void> {
    if (this.closing) return;
    try {
      const head = await this.writer.recover();
      this.broken =
        head === this.feed.head() ? null : unavailable('the store has recorded what it has refused; restart');
    } catch (error) {
      if (error instanceof StoreBroken && error.mayRecover) return this.recoverLater();
      // For good now, and for this reason: whoever waits for space must not wait for ever.
      this.broken = failureOf(error, error instanceof Error ? error.message : 'unknown');
      if (error instanceof StoreTakenOver) this.onTakenOver();
    }
  }
}

function failureOf(error: unknown, why: string): CountersignError {
  if (error instanceof StoreTakenOver) return new CountersignError('instance_taken_over', why);
  return unavailable(
    error instanceof StoreBroken || error instanceof StoreBusy ? why : `the writer has failed: ${why}`,
  );
}

const unavailable = (why: string): CountersignError =>
  new CountersignError('store_unavailable', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
