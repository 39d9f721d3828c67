import type { CommittedEvent } from '../../domain/events/envelope.js';
import { eventView, type EventView } from '../../domain/events/event-view.js';
import type { EventReader } from '../../storage/readers/store-reader.js';
import { isInScope, type EventScope } from './event-scope.js';

/** What a page is read from. */
export interface EventTable {
  readonly read: Pick<EventReader, 'eventsAfter'>;
  readonly feed: { head(): number };
}

export interface EventBatch {
  /** In scope, in order. */
  readonly events: readonly CommittedEvent[];
  /** Everything up to here has been looked at: where to go on. */
  readonly position: number;
  readonly isEnd: boolean;
}

export interface EventPage {
  readonly items: readonly EventView[];
  readonly nextAfter: number;
  /** Position of the newest durable event, -1 when there is none; `nextAfter` equals it when the end was reached. */
  readonly head: number;
}

/** How many events one page looks at for its filters; a page may therefore hold fewer than its limit before the end. */
const LOOKED_AT_MAX = 2000;
const BATCH = 200;

/** Looks at the next events of the table, at most `limit`, and gives those in scope. */
export async function readBatch(
  { read, feed }: EventTable,
  scope: EventScope,
  after: number,
  limit: number,
): Promise<EventBatch> {
  // Before the read, so that it is never beyond what the read can see.
  const newest = feed.head() - 1;
  const seen = await read.eventsAfter(after, limit, scope.installation ? null : scope.tenant);
  const isEnd = seen.length < limit;
  const last = seen.at(-1)?.position ?? after;
  return {
    events: seen.filter(({ envelope }) => isInScope(scope, envelope)),
    position: isEnd ? Math.max(last, newest) : last,
    isEnd,
  };
}

/** At most `limit` events in scope after a position. */
export async function readPage(table: EventTable, scope: EventScope, after: number, limit: number): Promise<EventPage> {
  const items: EventView[] = [];
  let position = after;
  const filters = scope.installation || scope.runId !== null || scope.types !== null;
  for (let lookedAt = 0; lookedAt < LOOKED_AT_MAX; lookedAt += BATCH) {
    const room = limit - items.length;
    const batch = await readBatch(table, scope, position, filters ? BATCH : Math.min(room, BATCH));
    const taken = batch.events.slice(0, room);
    items.push(...taken.map(eventView));
    // A page that is full ends at its last event: what was looked at beyond it comes next.
    position = batch.events.length > room ? (taken.at(-1)?.position ?? position) : batch.position;
    if (batch.isEnd || items.length === limit) break;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return { items, nextAfter: position, head: Math.max(table.feed.head() - 1, position) };
}
