import type { CommittedEvent } from '../domain/events/envelope.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import type { CommittedUnit, Feed } from './feed.js';
import type { EventReader, StoreReader, ToolCallReader } from './readers/store-reader.js';
import type { TableRow } from './rows/tables.js';
import { committedEvent, unitEvents, type UnitEvent } from './unit-events.js';
import type { Write } from './unit.js';

export interface RecentLimits {
  readonly callsMax: number;
  /** Of payloads, roughly. */
  readonly bytesMax: number;
}

/** What is on its way, and what ended just now: more than the calls that may be on the wire at once. */
const LIMITS: RecentLimits = { callsMax: 512, bytesMax: 8 * 1024 * 1024 };

interface RecentCall {
  row: TableRow<'tool_calls'>;
  readonly attempts: Map<number, TableRow<'attempts'>>;
  readonly eventIds: string[];
  bytes: number;
}

/**
 * The tool calls that this process has opened lately, as it made them durable: after its own commit a reader uses what was
 * committed, instead of reading and unsealing it from the disk. It is told by the feed, so it never knows more than
 * what is on disk; it knows a call from its first unit on or not at all, and forgets the oldest.
 */
export class RecentCalls {
  private readonly calls = new Map<string, RecentCall>();
  private readonly events = new Map<string, UnitEvent>();
  private bytes = 0;

  constructor(
    private readonly versionSetId: string,
    private readonly limits: RecentLimits = LIMITS,
  ) {}

  follow(feed: Feed): void {
    feed.subscribe('recent-calls', (durable) => this.note(durable));
  }

  /** The reader that looks here first. */
  inFrontOf(read: StoreReader): StoreReader {
    const own: Pick<ToolCallReader, 'toolCall' | 'attempt'> & Pick<EventReader, 'event' | 'positionOf'> = {
      toolCall: async (tenant, id) => this.toolCall(tenant, id) ?? read.toolCall(tenant, id),
      attempt: async (tenant, id, attempt) => this.attempt(tenant, id, attempt) ?? read.attempt(tenant, id, attempt),
      event: async (tenant, eventId) => this.event(tenant, eventId) ?? read.event(tenant, eventId),
      positionOf: async (tenant, eventId) => this.positionOf(tenant, eventId) ?? read.positionOf(tenant, eventId),
    };
    return { ...read, ...own };
  }

  private toolCall(tenant: string, toolCallId: string): TableRow<'tool_calls'> | null {
    const row = this.calls.get(toolCallId)?.row;
    return row?.tenant === tenant ? row : null;
  }

  private attempt(tenant: string, toolCallId: string, attempt: number): TableRow<'attempts'> | null {
    const row = this.calls.get(toolCallId)?.attempts.get(attempt);
    return row?.tenant === tenant ? row : null;
  }

  private event(tenant: string, eventId: string): CommittedEvent | null {
    const placed = this.placed(tenant, eventId);
    return placed === null ? null : committedEvent(placed, this.versionSetId);
  }

  private positionOf(tenant: string, eventId: string): number | null {
    const placed = this.placed(tenant, eventId);
    return placed === null ? null : placed.durable.committed.firstPosition + placed.unitIndex;
  }

  private placed(tenant: string, eventId: string): UnitEvent | null {
    const placed = this.events.get(eventId);
    return placed?.durable.unit.tenant === tenant ? placed : null;
  }

  private note(durable: CommittedUnit): void {
    for (const write of durable.unit.writes) this.noteWrite(write);
    for (const placed of unitEvents(durable)) this.noteEvent(placed);
    this.forgetOldest();
  }

  private noteWrite(write: Write): void {
    if (write.table !== 'tool_calls' && write.table !== 'attempts') return;
    const call = this.callOf(write);
    if (call === undefined) return;
    if (write.table === 'tool_calls') {
      // Spread alone, which copies the shape; then assigned: on Node 20 spreading two objects of many keys is slow.
      if (write.op === 'set') call.row = Object.assign({ ...call.row }, write.set);
    } else if (write.op === 'insert') {
      call.attempts.set(write.row.attempt, write.row);
    } else {
      // Rare enough to be read again.
      call.attempts.clear();
    }
  }

  /** A write that does not name its call could be about any: then nothing here is believed any more. */
  private callOf(write: Extract<Write, { table: 'tool_calls' | 'attempts' }>): RecentCall | undefined {
    const id = 'row' in write ? write.row.tool_call_id : write.where['tool_call_id'];
    if (typeof id !== 'string' || write.op === 'put' || write.op === 'delete') return this.forgetAll();
    if (write.op === 'insert' && write.table === 'tool_calls') {
      this.calls.set(id, { row: write.row, attempts: new Map(), eventIds: [], bytes: 0 });
    }
    return this.calls.get(id);
  }

  private noteEvent(placed: UnitEvent): void {
    const { stream, event } = placed;
    if (stream.kind !== 'call') return;
    const call = this.calls.get(stream.id);
    if (call === undefined) return;
    this.events.set(event.eventId, placed);
    call.eventIds.push(event.eventId);
    const bytes = weight(event.payload);
    call.bytes += bytes;
    this.bytes += bytes;
  }

  private forgetOldest(): void {
    for (const [id, call] of this.calls) {
      if (this.calls.size <= this.limits.callsMax && this.bytes <= this.limits.bytesMax) return;
      this.calls.delete(id);
      this.bytes -= call.bytes;
      for (const eventId of call.eventIds) this.events.delete(eventId);
    }
  }

  private forgetAll(): undefined {
    this.calls.clear();
    this.events.clear();
    this.bytes = 0;
  }
}

const BYTES_PER_VALUE = 16;

/** Roughly the memory of a value: its texts, and something for every value. */
function weight(value: JsonValue): number {
  if (typeof value === 'string') return BYTES_PER_VALUE + value.length;
  if (typeof value !== 'object' || value === null) return BYTES_PER_VALUE;
  let sum = BYTES_PER_VALUE;
  if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) sum += weight(item);
  else for (const name of Object.keys(value)) sum += name.length + weight((value as JsonObject)[name] as JsonValue);
  return sum;
}
