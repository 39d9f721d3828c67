import type { EventType } from '../../domain/events/catalogue.js';
import type { CommittedEvent, EventEnvelope } from '../../domain/events/envelope.js';
import { eventView } from '../../domain/events/event-view.js';
import { EventRing, type Placed, type RingLimits } from '../../storage/event-ring.js';
import type { CommittedUnit, Feed } from '../../storage/feed.js';
import type { EventReader } from '../../storage/readers/store-reader.js';
import { eventsOfUnit } from '../../storage/unit-events.js';
import { readBatch } from './event-pages.js';
import { isInScope, type EventScope } from './event-scope.js';

/** An event as a stream sends it: its representation is rendered once, whoever follows. */
export interface EventLine {
  readonly position: number;
  readonly eventType: EventType;
  /** One line of JSON. */
  readonly json: string;
}

interface RecentEvent extends Placed, EventLine {
  readonly envelope: EventEnvelope;
}

/** Recent events of all tenants that are kept while somebody follows. */
const RING_LIMITS: RingLimits = { entriesMax: 4096, bytesMax: 8 * 1024 * 1024 };

/** Events per step: what a reader holds at a time, and how long a step may keep the event loop. */
const BATCH = 64;

/** What streams need of a store. */
export interface EventSource {
  readonly read: Pick<EventReader, 'eventsAfter'>;
  readonly feed: Feed;
}

/**
 * The events that everybody who follows is sent, without gap or repeat. All streams are fed by one ring of recent
 * events; who is further behind reads pages of the table until the ring has what comes next. The ring is there only
 * while somebody follows, so that nobody else pays for it, and nothing of a stream's position is kept here.
 */

export class EventStreams {
  private readonly ring: EventRing<RecentEvent>;
  private readonly asleep = new Set<() => void>();
  private pending: CommittedUnit[] = [];
  private scheduled = false;
  private followers = 0;
  private unsubscribe: () => void = () => {};
  private closed = false;

  constructor(
    private readonly source: EventSource,
    limits: RingLimits = RING_LIMITS,
  ) {
    this.ring = new EventRing(source.feed.head(), limits);
  }

  /** How many streams are open. */
  get size(): number {
    return this.followers;
  }

  /** The process is stopping: every stream ends, and none begins. */
  close(): void {
    this.closed = true;
    this.wakeAll();
  }

  /**
   * Events in scope after a position, in order, as they become durable; ends when the reader has gone or the process
   * stops. A reader that is slow to ask for the next batch costs nothing but its place.
   */
  async *follow(scope: EventScope, after: number, gone: AbortSignal): AsyncGenerator<readonly EventLine[], void> {
    // Joined before the first page is read: what becomes durable meanwhile is in the ring.
    this.join();
    let wake = (): void => {};
    const onGone = (): void => wake();
    gone.addEventListener('abort', onGone);
    try {
      let position = after;
      while (!this.closed && !gone.aborted) {
        const recent = this.ring.after(position, BATCH);
        if (recent !== null && recent.length === 0) {
          await new Promise<void>((resolve) => this.asleep.add((wake = resolve)));
          this.asleep.delete(wake);
          continue;
        }
        const step = recent === null ? await this.page(scope, position) : fromRing(scope, recent);
        position = Math.max(position, step.position);
        if (step.lines.length > 0) yield step.lines;
        // Reads and rendering keep the event loop: others get their turn between two steps.
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    } finally {
      gone.removeEventListener('abort', onGone);
      this.leave();
    }
  }

  private async page(scope: EventScope, after: number): Promise<Step> {
    const { events, position } = await readBatch(this.source, scope, after, BATCH);
    return { position, lines: events.map(lineOf) };
  }

  private join(): void {
    this.followers += 1;
    if (this.followers > 1) return;
    this.ring.reset(this.source.feed.head());
    this.unsubscribe = this.source.feed.subscribe('event-streams', (unit) => this.note(unit));
  }

  private leave(): void {
    this.followers -= 1;
    if (this.followers > 0) return;
    this.unsubscribe();
    this.pending = [];
    this.ring.reset(this.source.feed.head());
  }

  /** Runs before `commit` answers, so it renders nothing. */
  private note(unit: CommittedUnit): void {
    this.pending.push(unit);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.take();
    });
  }

  private take(): void {
    const units = this.pending;
    this.pending = [];
    try {
      for (const event of units.flatMap(eventsOfUnit)) {
        const line = lineOf(event);
        this.ring.push({ ...line, envelope: event.envelope, size: line.json.length });
      }
    } catch {
      // Whoever follows meets the same event in the table, where the failure is the stream's own.
      this.ring.reset(this.source.feed.head());
    }
    if (units.length > 0) this.wakeAll();
  }

  private wakeAll(): void {
    const asleep = [...this.asleep];
    this.asleep.clear();
    for (const wake of asleep) wake();
  }
}

interface Step {
  /** Everything up to here has been seen. */
  readonly position: number;
  readonly lines: readonly EventLine[];
}

function fromRing(scope: EventScope, recent: readonly RecentEvent[]): Step {
  return {
    position: (recent.at(-1) as RecentEvent).position,
    lines: recent.filter(({ envelope }) => isInScope(scope, envelope)),
  };
}

function lineOf(event: CommittedEvent): EventLine {
  const view = eventView(event);
  return { position: view.position, eventType: view.eventType, json: JSON.stringify(view) };
}
