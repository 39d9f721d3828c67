import { CATALOGUE, type DomainEvent, type Producer, type StreamKind } from '../../domain/events/catalogue.js';
import type { Actor, CauseKind, EventRefs, NewEvent } from '../../domain/events/envelope.js';
import { ID_PREFIXES, type IdSource } from '../../domain/ids/ids.js';
import type { Append, CounterChange, Guard, Lane, Unit, Write } from '../unit.js';

/** What all events of a unit share, unless an append says otherwise. */
export interface UnitContext {
  readonly tenant: string;
  readonly lane: Lane;
  readonly actor: Actor;
  readonly correlationId: string;
  /** ISO 8601, the time of the thing that happened. */
  readonly occurredAt: string;
  readonly sessionId?: string;
  readonly runId?: string;
  /** Set on every event that a command caused. */
  readonly commandId?: string;
  /** The governed event that led here; null for requests from outside and for timers. */
  readonly causationId: string | null;
  readonly causeKind: CauseKind;
  /** True only when recovery speaks for a dead process. */
  readonly synthetic?: true;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Writes rows that follow from a stream, once, when the unit is complete. */
export interface RowSource {
  rows(): readonly Write[];
  /** What the rows mean for counters; left out where they never mean anything. */
  counters?(): readonly CounterChange[];
}

/**
 * A unit in the making: guards, events in reading order, the rows they produce. Each event is caused by the one before
 * it; the first by whatever the context names.
 */
export class UnitDraft {
  private readonly guards: Guard[] = [];
  private readonly appends: Append[] = [];
  private readonly writes: Write[] = [];
  private readonly counters: CounterChange[] = [];
  private readonly sources: RowSource[] = [];
  private lastEventId: string | null = null;

  constructor(
    readonly ids: IdSource,
    readonly context: UnitContext,
  ) {}

  guard(guard: Guard): this {
    this.guards.push(guard);
    return this;
  }

  write(write: Write): this {
    this.writes.push(write);
    return this;
  }

  count(change: CounterChange): this {
    this.counters.push(change);
    return this;
  }

  /** Rows that are known only when all events are there. */
  rowsFrom(source: RowSource): this {
    this.sources.push(source);
    return this;
  }

  /** Appends facts to one stream and answers their ids, in order. */
  append(
    stream: { readonly kind: StreamKind; readonly id: string },
    expectedVersion: number,
    events: readonly DomainEvent[],
    refs: EventRefs,
    producer?: Producer,
  ): readonly string[] {
    if (events.length === 0) return [];
    const all = this.refsWith(refs);
    const placed = events.map((event) => this.place(event, all, producer));
    this.appends.push({ stream, expectedVersion, events: placed });
    return placed.map((event) => event.eventId);
  }

  /** The newest event of the unit so far: what the next one is caused by. */
  get cause(): string | null {
    return this.lastEventId ?? this.context.causationId;
  }

  /** How many events the unit adds to this stream so far. */
  appendedTo(stream: { readonly kind: StreamKind; readonly id: string }): number {
    return this.appends
      .filter((append) => append.stream.kind === stream.kind && append.stream.id === stream.id)
      .reduce((sum, { events }) => sum + events.length, 0);
  }

  /** True while there is nothing to record. */
  get isEmpty(): boolean {
    return this.appends.length === 0 && this.writes.length === 0;
  }

  build(): Unit {
    const rows = this.sources.flatMap((source) => source.rows());
    const counted = this.sources.flatMap((source) => source.counters?.() ?? []);
    return {
      unitId: this.ids.next(ID_PREFIXES.unit),
      tenant: this.context.tenant,
      lane: this.context.lane,
      guards: this.guards,
      appends: this.appends,
      writes: [...rows, ...this.writes],
      counters: counted.length === 0 ? this.counters : [...this.counters, ...counted],
    };
  }

  private place(event: DomainEvent, refs: EventRefs, producer: Producer | undefined): NewEvent {
    const { context } = this;
    const eventId = this.ids.next(ID_PREFIXES.event);
    const causationId = this.cause;
    const placed: Mutable<NewEvent> = {
      eventId,
      type: event.type,
      refs,
      producer: producer ?? (CATALOGUE[event.type].producers[0] as Producer),
      actor: context.actor,
      correlationId: context.correlationId,
      causationId,
      causeKind: causationId === null ? context.causeKind : 'event',
      occurredAt: context.occurredAt,
      payload: event.payload as NewEvent['payload'],
    };
    if (context.synthetic !== undefined) placed.synthetic = context.synthetic;
    this.lastEventId = eventId;
    return placed;
  }

  /** The references of the unit, and those of the append before them. */
  private refsWith(refs: EventRefs): EventRefs {
    const { sessionId, runId, commandId } = this.context;
    const all: Mutable<EventRefs> = {};
    if (sessionId !== undefined) all.sessionId = sessionId;
    if (runId !== undefined) all.runId = runId;
    if (commandId !== undefined) all.commandId = commandId;
    return Object.assign(all, refs);
  }
}
