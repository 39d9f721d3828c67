import type { CommittedEvent } from '../domain/events/envelope.js';
import { EventRing, type Placed, type RingLimits } from '../storage/event-ring.js';
import type { CommittedUnit, Feed } from '../storage/feed.js';
import type { EventReader } from '../storage/readers/store-reader.js';
import { eventsOfUnit } from '../storage/unit-events.js';
import { cloudEventJson, partitionOf, type Sender } from './cloud-event.js';

/** An event as sinks are given it, rendered once for all of them. */
export interface TailEntry extends Placed {
  readonly eventId: string;
  readonly eventType: string;
  readonly partition: string;
  readonly recordedAt: string;
  /** The CloudEvent; null where no sink wants the type, and where the event cannot be read. */
  readonly body: string | null;
  /** True for an event whose payload cannot be opened: nobody will ever be able to deliver it. */
  readonly isUnreadable?: true;
}

export interface TailSource {
  readonly read: Pick<EventReader, 'eventsAfter'>;
  readonly feed: Feed;
}

export interface TailListener {
  /** There are new events. */
  onEvents(): void;
  /** An operator has changed what is parked, or asked for a replay. */
  onBooksChanged(): void;
}

const RING_LIMITS: RingLimits = { entriesMax: 4096, bytesMax: 8 * 1024 * 1024 };

/** Events per read of the table: how long one read may keep the event loop. */
const PAGE = 128;

/**
 * The newest events for all sinks: from memory while a sink keeps up, from the table when it is further behind. Nothing is
 * here that is not durable, and a sink that lags holds nothing in memory.
 */
export class EventTail {
  private readonly ring: EventRing<TailEntry>;
  private pending: CommittedUnit[] = [];
  private scheduled = false;
  private unsubscribe = (): void => {};
  private listeners: TailListener[] = [];

  constructor(
    private readonly source: TailSource,
    private readonly sender: Sender,
    /** Whether any sink wants a type. */
    private readonly isWanted: (eventType: string) => boolean,
    limits: RingLimits = RING_LIMITS,
  ) {
    this.ring = new EventRing(source.feed.head(), limits);
  }

  /** How many positions are durable. */
  head(): number {
    return this.source.feed.head();
  }

  start(listeners: readonly TailListener[]): void {
    this.listeners = [...listeners];
    this.ring.reset(this.source.feed.head());
    this.unsubscribe = this.source.feed.subscribe('outbox', (unit) => this.note(unit));
  }

  stop(): void {
    this.unsubscribe();
    this.pending = [];
  }

  /** The next events after a position, at most `limit`, without a gap; empty at the end. */
  async after(position: number, limit: number): Promise<readonly TailEntry[]> {
    const recent = this.ring.after(position, limit);
    // What the ring has not taken yet comes in a moment, and is told.
    return recent ?? this.page(position, Math.min(limit, PAGE));
  }

  private async page(position: number, limit: number): Promise<readonly TailEntry[]> {
    try {
      return (await this.source.read.eventsAfter(position, limit, null)).map((event) => this.render(event));
    } catch (error) {
      // A store that does not answer is no reason to give up an event.
      if (!(await this.canRead())) throw error;
      if (limit === 1) return [unreadable(position + 1)];
      // One of them cannot be opened: those before it go out, then it is met alone.
      return this.page(position, 1);
    }
  }

  /** Whether the table answers at all: reading nothing fails only when it does not. */
  private async canRead(): Promise<boolean> {
    return this.source.read.eventsAfter(this.source.feed.head(), 1, null).then(
      () => true,
      () => false,
    );
  }

  private render(event: CommittedEvent): TailEntry {
    const { position, envelope } = event;
    const { eventId, eventType, recordedAt } = envelope;
    const body = this.isWanted(eventType) ? cloudEventJson(this.sender, event) : null;
    const size = body === null ? 0 : body.length;
    return { position, size, eventId, eventType, recordedAt, partition: partitionOf(envelope), body };
  }

  /** Runs before `commit` answers, so it renders nothing. */
  private note(unit: CommittedUnit): void {
    if (isForBooks(unit)) for (const listener of this.listeners) listener.onBooksChanged();
    if (unit.committed.eventCount === 0) return;
    this.pending.push(unit);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.take());
  }

  private take(): void {
    this.scheduled = false;
    const units = this.pending;
    this.pending = [];
    try {
      for (const event of units.flatMap(eventsOfUnit)) this.ring.push(this.render(event));
    } catch {
      // The sinks meet the same event in the table.
      this.ring.reset(this.source.feed.head());
    }
    for (const listener of this.listeners) listener.onEvents();
  }
}

/** Whether a command changed what only the relay changes otherwise; the relay's own units hold no event. */
const isForBooks = ({ unit }: CommittedUnit): boolean =>
  unit.appends.length > 0 && unit.writes.some(({ table }) => table === 'sink_parked' || table === 'sink_cursors');

function unreadable(position: number): TailEntry {
  const nothing = { eventId: '', eventType: '', partition: `position/${position}`, recordedAt: '' };
  return { ...nothing, position, size: 0, body: null, isUnreadable: true };
}
