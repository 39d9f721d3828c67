import type { SinkSettings } from '../config/settings.js';
import type { TableRow } from '../storage/rows/tables.js';
import type { Write } from '../storage/unit.js';
import type { Clock } from '../system/clock.js';
import type { RandomSource } from '../system/random-source.js';
import { backoffMs } from './backoff.js';
import { ParkingLot, type Parked } from './parking-lot.js';
import type { Delivered, Delivery, Failure } from './sink.js';
import type { CursorChange, SinkRows } from './sink-books.js';
import type { PutAside } from './verdict.js';

/** What has changed since the last save. */
export interface LedgerChanges {
  readonly cursor: CursorChange;
  readonly parked: readonly Write[];
}

/** What is known of one sink's deliveries, and which of it has still to be written down. */
export class SinkLedger {
  readonly lot = new ParkingLot();
  /** Deliveries taken since the process began: proof that the sink is alive. */
  taken = 0;
  /** Positions beyond the cursor that are dead. */
  readonly deadAhead = new Set<number>();
  private deadCount = 0;
  private written: { position: number; failure: string | null } = { position: -1, failure: null };
  private readonly unsaved = new Map<number, Write>();
  private failure: string | null = null;
  private failingSince: string | null = null;
  private replay: Pick<CursorChange, 'replay_position' | 'replay_to'> | null = null;

  constructor(
    private readonly sink: string,
    private readonly settings: Pick<SinkSettings, 'backoffMs' | 'backoffMsMax' | 'maxTries'>,
    private readonly clock: Clock,
    private readonly random: RandomSource,
  ) {}

  /** Begins anew with what the tables say. Only when everything has been saved. */
  load({ row, parked, beyond, dead }: SinkRows): void {
    this.lot.load(parked);
    this.deadAhead.clear();
    for (const position of beyond) if (!this.lot.has(position)) this.deadAhead.add(position);
    this.deadCount = dead;
    this.written = { position: row.position, failure: row.last_error };
    this.failure ??= row.last_error;
    this.failingSince ??= row.failing_since;
  }

  get dead(): number {
    return this.deadCount;
  }

  putAside({ delivery, failure }: PutAside): void {
    const { position, partition } = delivery;
    if (failure !== null && this.settings.maxTries === 1) return this.die({ position, partition }, 1, failure.reason);
    const nextAtMs = failure === null ? this.clock.now() : this.retryAt(1, failure);
    const [tries, parkedAt] = [failure === null ? 0 : 1, this.now()];
    const parked = { position, partition, tries, nextAtMs, parkedAt, offers: tries, takenBefore: this.taken };
    this.park(parked, failure?.reason ?? null);
  }

  /** What became of parked deliveries that were offered again. */
  settleAgain(outcomes: readonly Delivered[]): void {
    for (const { delivery, outcome } of outcomes) {
      const parked = this.lot.get(delivery.position, delivery.partition);
      if (parked === null || outcome.kind === 'not_tried') continue;
      if (outcome.kind === 'delivered') this.settle(parked);
      else this.refused(parked, outcome);
    }
  }

  /** An event that cannot be read: nobody will ever deliver it. */
  giveUp({ position, partition }: Pick<Delivery, 'position' | 'partition'>): void {
    this.deadAhead.add(position);
    this.die({ position, partition }, 0, 'unreadable');
  }

  /** Refused by answers about it again and again, with nothing else to be told that could have shown whose fault it is. */
  giveUpAlone({ position, partition }: Delivery, tries: number, reason: string): void {
    this.die({ position, partition }, tries, reason);
  }

  /** A replay delivered what may have been a dead letter. */
  forgetDead(position: number): void {
    this.unsaved.set(position, { op: 'delete', table: 'sink_parked', where: { sink: this.sink, position } });
  }

  noteFailure(reason: string | null): void {
    if (reason === this.failure) return;
    this.failure = reason;
    this.failingSince = reason === null ? null : (this.failingSince ?? this.now());
  }

  noteReplay(position: number, end: number | null): void {
    this.replay =
      end === null ? { replay_position: null, replay_to: null } : { replay_position: position, replay_to: end };
  }

  /** Whether something must be written down at once: everything but how far the cursor is. */
  get isUrgent(): boolean {
    return this.unsaved.size > 0 || this.failure !== this.written.failure || this.replay !== null;
  }

  /** What to write, the cursor being there; null when the tables say so already. */
  changes(position: number): LedgerChanges | null {
    if (!this.isUrgent && position === this.written.position) return null;
    const failing = { last_error: this.failure, failing_since: this.failingSince };
    return { cursor: { position, ...failing, ...this.replay }, parked: [...this.unsaved.values()] };
  }

  saved({ cursor, parked }: LedgerChanges): void {
    this.written = { position: cursor.position ?? this.written.position, failure: cursor.last_error ?? null };
    const written = new Set(parked);
    for (const [position, write] of this.unsaved) if (written.has(write)) this.unsaved.delete(position);
    if (this.replay?.replay_position === cursor.replay_position) this.replay = null;
  }

  private settle({ position, partition }: Parked): void {
    this.taken += 1;
    this.lot.remove(position, partition);
    this.forgetDead(position);
  }

  /**
   * An answer about the event counts. What may be the sink's own fault counts only when the sink took something since:
   * otherwise a long outage would give up what is parked.
   */
  private refused(parked: Parked, failure: Failure): void {
    const counts = failure.kind === 'refused' || this.taken > parked.takenBefore;
    const tries = parked.tries + (counts ? 1 : 0);
    if (tries >= this.settings.maxTries) return this.die(parked, tries, failure.reason);
    const offers = parked.offers + 1;
    const nextAtMs = this.retryAt(offers, failure);
    this.park({ ...parked, tries, offers, nextAtMs, takenBefore: this.taken }, failure.reason);
  }

  private retryAt(n: number, { retryAfterMs }: Failure): number {
    const { backoffMs: firstMs, backoffMsMax: maxMs } = this.settings;
    return this.clock.now() + Math.max(backoffMs(n, { firstMs, maxMs }, this.random), retryAfterMs ?? 0);
  }

  private park(parked: Parked, reason: string | null): void {
    this.lot.put(parked);
    this.write(parked, 'parked', reason, parked.tries, parked.nextAtMs);
  }

  private die(place: Pick<Delivery, 'position' | 'partition'>, tries: number, reason: string): void {
    this.lot.remove(place.position, place.partition);
    this.deadCount += 1;
    this.write(place, 'dead', reason, tries, this.clock.now());
  }

  private write(
    { position, partition, parkedAt }: Pick<Delivery, 'position' | 'partition'> & { readonly parkedAt?: string },
    state: 'parked' | 'dead',
    reason: string | null,
    tries: number,
    nextAtMs: number,
  ): void {
    const row: TableRow<'sink_parked'> = {
      sink: this.sink,
      position,
      partition,
      tries,
      next_at: new Date(nextAtMs).toISOString(),
      state,
      last_error: reason,
      parked_at: parkedAt ?? this.now(),
    };
    this.unsaved.set(position, { op: 'put', table: 'sink_parked', row });
  }

  private now(): string {
    return new Date(this.clock.now()).toISOString();
  }
}
