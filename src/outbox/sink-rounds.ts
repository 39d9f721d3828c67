import type { SinkSettings } from '../config/settings.js';
import type { Clock } from '../system/clock.js';
import type { RandomSource } from '../system/random-source.js';
import { fraction } from './backoff.js';
import { CursorLane, type LaneBatch } from './cursor-lane.js';
import type { EventTail } from './event-tail.js';
import type { Delivered, Delivery, Sink } from './sink.js';
import type { SinkBooks } from './sink-books.js';
import { SinkLedger } from './sink-ledger.js';
import type { SinkPace } from './sink-pace.js';
import { typesOf } from './type-filter.js';
import { judge } from './verdict.js';

/** What is put aside at most: beyond it the cursor waits, and so does everything behind it. */
const PARKED_MAX = 1_000;

export interface SinkParts {
  readonly name: string;
  readonly settings: SinkSettings;
  readonly sink: Sink;
  readonly tail: EventTail;
  readonly books: SinkBooks;
  readonly pace: SinkPace;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Answers that can be meant for nothing but the event: its form, its size, its type. Others may be an outage that lasts. */
const ABOUT_THE_EVENT: ReadonlySet<string> = new Set(['http_400', 'http_413', 'http_415', 'http_422']);

/** What a sink is offered, round by round: first what is new, or what an operator wants repeated, then what is parked and due. */
export class SinkRounds {
  readonly ledger: SinkLedger;
  private readonly types: ReadonlySet<string> | null;
  private main: CursorLane | null = null;
  private replay: CursorLane | null = null;
  private isReplayTurn = false;
  private isStale = true;
  private waiting: string | null = null;
  /** An event that is refused while there is no other, and how often it was. */
  private alone: { readonly position: number; readonly tries: number } | null = null;

  constructor(private readonly parts: SinkParts) {
    this.types = typesOf(parts.settings);
    this.ledger = new SinkLedger(parts.name, parts.settings, parts.clock, parts.random);
  }

  /** Takes the sink's rows over. @throws GuardFailed when a newer instance relays. */
  async open(): Promise<void> {
    const { name, settings, books, tail } = this.parts;
    const entry = { sink: name, kind: settings.kind, from: settings.from, types: this.types };
    const row = await books.open(entry, tail.head());
    this.main = new CursorLane(tail, this.types, row.position, null);
    await this.refresh();
  }

  /** Everything up to here has been delivered, passed over or put aside. */
  get position(): number {
    return this.main?.position ?? -1;
  }

  /** When the oldest event was recorded that is still to be delivered; null when there is none. ISO 8601. */
  get waitingSince(): string | null {
    return [this.waiting, this.ledger.lot.oldestParkedAt].filter((at) => at !== null).toSorted()[0] ?? null;
  }

  /** The tables were changed by somebody else. */
  forget(): void {
    this.isStale = true;
  }

  /** One round. True when there is more to do at once. @throws GuardFailed when another instance relays now. */
  async run(stopping: AbortSignal): Promise<boolean> {
    if (this.isStale) await this.refresh();
    if (this.parts.pace.restMs > 0) return false;
    const lane = this.nextLane();
    const batch = await this.read(lane);
    const fresh = this.withoutBlocked(batch.deliveries);
    const isUp = await this.offer(lane, batch, fresh, stopping);
    if (!isUp || stopping.aborted) return false;
    await this.offerAgain(stopping);
    return batch.isFull || this.replay !== null || this.isStale || this.isDue();
  }

  /** Writes down what has changed. @throws GuardFailed when another instance relays now. */
  async save(): Promise<void> {
    const changes = this.ledger.changes(this.position);
    if (changes === null) return;
    await this.parts.books.save(changes.cursor, changes.parked);
    this.ledger.saved(changes);
  }

  private async refresh(): Promise<void> {
    await this.save();
    this.isStale = false;
    const { books, tail } = this.parts;
    const rows = await books.rows(2 * PARKED_MAX);
    this.ledger.load(rows);
    const { replay_position: from, replay_to: to } = rows.row;
    if (from === null) this.replay = null;
    else if (this.replay?.end !== to) this.replay = new CursorLane(tail, this.types, from, to);
  }

  /** The main walk or, every other round, a replay: neither holds the other up. */
  private nextLane(): CursorLane {
    this.isReplayTurn = this.replay !== null && !this.isReplayTurn;
    const lane = this.isReplayTurn ? this.replay : this.main;
    if (lane === null) throw new Error('the sink has not been opened');
    return lane;
  }

  private async read(lane: CursorLane): Promise<LaneBatch> {
    const { lot, deadAhead } = this.ledger;
    if (lot.size >= PARKED_MAX) return { deliveries: [], unreadable: [], upTo: lane.position, isFull: false };
    const isSettled = (at: number): boolean => lot.has(at) || (lane === this.main && deadAhead.has(at));
    const batch = await lane.read(this.parts.sink.batchMax, isSettled);
    for (const place of batch.unreadable) this.ledger.giveUp(place);
    return batch;
  }

  /** What must wait behind a parked delivery of its partition is put aside too. */
  private withoutBlocked(deliveries: readonly Delivery[]): readonly Delivery[] {
    const { lot } = this.ledger;
    if (lot.size === 0) return deliveries;
    const blocked = new Set(deliveries.filter(({ partition }) => lot.blocks(partition)));
    for (const delivery of blocked) this.ledger.putAside({ delivery, failure: null });
    return deliveries.filter((delivery) => !blocked.has(delivery));
  }

  /** False when the sink takes nothing now. */
  private async offer(
    lane: CursorLane,
    batch: LaneBatch,
    fresh: readonly Delivery[],
    stopping: AbortSignal,
  ): Promise<boolean> {
    const { sink, pace } = this.parts;
    if (fresh.length > 0) this.waiting = fresh[0]?.recordedAt ?? null;
    const outcomes = fresh.length === 0 ? [] : await sink.deliver(this.inTurn(fresh), stopping);
    const { delivered, putAside, left, down } = judge(outcomes);
    this.ledger.taken += delivered.length;
    for (const aside of putAside) this.ledger.putAside(aside);
    if (lane !== this.main) for (const { position } of delivered) this.ledger.forgetDead(position);
    const pending = this.isGivenUpAlone(batch, outcomes) ? [] : left;
    lane.settle(batch, pending);
    this.waiting = pending.toSorted((a, b) => a.position - b.position)[0]?.recordedAt ?? null;
    if (lane !== this.main) this.noteReplay(lane);
    if (down !== null) pace.fail(down);
    else if (delivered.length > 0) pace.succeed();
    this.ledger.noteFailure(pace.lastError);
    return down === null;
  }

  /**
   * Everything else there is to tell was told, and this one event is refused, by answers that are about it alone, as often as
   * any event may be: then it is a dead letter like others, although the sink took nothing meanwhile that proves it well.
   */
  private isGivenUpAlone({ isFull }: LaneBatch, outcomes: readonly Delivered[]): boolean {
    const [only] = outcomes;
    const failure = !isFull && outcomes.length === 1 && only?.outcome.kind === 'refused' ? only.outcome : null;
    if (only === undefined || failure === null || !ABOUT_THE_EVENT.has(failure.reason)) return false;
    const { position } = only.delivery;
    this.alone = { position, tries: this.alone?.position === position ? this.alone.tries + 1 : 1 };
    if (this.alone.tries < this.parts.settings.maxTries) return false;
    this.ledger.giveUpAlone(only.delivery, this.alone.tries, failure.reason);
    return true;
  }

  /** While the sink is down every round begins elsewhere, so that a few events that it refuses cannot look like an outage. */
  private inTurn(deliveries: readonly Delivery[]): readonly Delivery[] {
    if (!this.parts.pace.isDown) return deliveries;
    const partitions = [...new Set(deliveries.map(({ partition }) => partition))];
    const from = Math.floor(fraction(this.parts.random) * partitions.length) % partitions.length;
    const order = new Map(
      [...partitions.slice(from), ...partitions.slice(0, from)].map((name, index) => [name, index]),
    );
    return deliveries.toSorted((left, right) => Number(order.get(left.partition)) - Number(order.get(right.partition)));
  }

  /** What is parked and due. A refusal here is about the event and never stops the sink, unless it says that it is gone. */
  private async offerAgain(stopping: AbortSignal): Promise<void> {
    const due = this.ledger.lot.due(this.parts.clock.now());
    const deliveries: Delivery[] = [];
    for (const parked of due) {
      const [entry] = await this.parts.tail.after(parked.position - 1, 1);
      if (typeof entry?.body === 'string') deliveries.push({ ...entry, body: entry.body });
      else this.ledger.giveUp(parked);
    }
    if (deliveries.length === 0) return;
    const outcomes = await this.parts.sink.deliver(deliveries, stopping);
    this.ledger.settleAgain(outcomes);
    for (const { outcome } of outcomes) if (outcome.kind === 'gone') this.parts.pace.fail(outcome);
  }

  private isDue(): boolean {
    return (this.ledger.lot.nextDueMs ?? Infinity) <= this.parts.clock.now();
  }

  private noteReplay(lane: CursorLane): void {
    this.ledger.noteReplay(lane.position, lane.isDone ? null : lane.end);
    if (!lane.isDone) return;
    this.replay = null;
    // What it delivered may have been dead letters: how many are left, the table says.
    this.isStale = true;
  }
}
