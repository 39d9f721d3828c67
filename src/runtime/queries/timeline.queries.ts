import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { CommittedEvent } from '../../domain/events/envelope.js';
import type { Caller } from '../../identity/caller.js';
import { Store } from '../../storage/store.js';
import { missingLinks, timelineEntry, type TimelineEntry, type TimelineLink } from '../views/timeline.view.js';
import { runSeenBy } from './run-access.js';

/** Up to so many calls a run is read by its streams at once; a larger one by the positions since its start. */
const CALLS_MAX = 200;
/** Positions that are looked at in one step, so that nobody waits for a reader, and steps of a page. */
const WINDOW = 2000;
const WINDOWS_MAX = 10;

export interface Timeline {
  readonly runId: string;
  readonly items: readonly TimelineEntry[];
  /** Where the next page begins; null at the end of what there is now. */
  readonly nextAfter: number | null;
  /** With one call asked for: the links its story lacks. */
  readonly missing: readonly TimelineLink[] | null;
}

export interface TimelineRequest {
  readonly runId: string;
  /** Only the story of this call of the run, whole. */
  readonly toolCallId: string | null;
  readonly after: number;
  readonly limit: number;
}

/** Why and what of a run, joined, in the order in which it became true. For those who audit and operate. */
export class GetTimeline extends Query<Timeline> {
  constructor(
    readonly caller: Caller,
    readonly request: TimelineRequest,
  ) {
    super();
  }
}

@QueryHandler(GetTimeline)
export class GetTimelineHandler implements IQueryHandler<GetTimeline> {
  constructor(private readonly store: Store) {}

  async execute({ caller, request }: GetTimeline): Promise<Timeline> {
    const { runId, toolCallId } = request;
    await runSeenBy(this.store, caller, runId, 'operator', 'auditor');
    if (toolCallId !== null) return this.ofCall(caller.tenant, runId, toolCallId);
    const calls = await this.store.read.callCountUpTo(caller.tenant, runId, CALLS_MAX + 1);
    const page = calls > CALLS_MAX ? await this.byPosition(caller, request) : await this.byStream(caller, request);
    return { runId, items: page.events.map(timelineEntry), nextAfter: page.nextAfter, missing: null };
  }

  private async byStream({ tenant }: Caller, { runId, after, limit }: TimelineRequest): Promise<Page> {
    const events = await this.store.read.runEvents(tenant, runId, after, limit + 1);
    const page = events.slice(0, limit);
    return { events: page, nextAfter: events.length > limit ? (page.at(-1)?.position ?? null) : null };
  }

  /** A page of a run with many calls may hold few items, or none, before the end. */
  private async byPosition({ tenant }: Caller, { runId, after, limit }: TimelineRequest): Promise<Page> {
    const { read, feed } = this.store;
    const head = feed.head() - 1;
    const start = (await read.runStart(tenant, runId))?.position ?? 0;
    const events: CommittedEvent[] = [];
    let position = Math.max(after, start - 1);
    for (let windows = 0; windows < WINDOWS_MAX && position < head; windows += 1) {
      const upTo = Math.min(position + WINDOW, head);
      const found = await read.runEventsBetween(tenant, runId, position, upTo);
      const room = limit - events.length;
      events.push(...found.slice(0, room));
      if (found.length > room) return { events, nextAfter: events.at(-1)?.position ?? position };
      position = upTo;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return { events, nextAfter: position < head ? position : null };
  }

  private async ofCall(tenant: string, runId: string, toolCallId: string): Promise<Timeline> {
    const { read } = this.store;
    const row = await read.toolCall(tenant, toolCallId);
    if (row === null || row.run_id !== runId) {
      throw new CountersignError('tool_call_not_found', 'there is no such tool call in this run');
    }
    const call = await read.streamEvents(tenant, { kind: 'call', id: toolCallId });
    const approvals = new Set(call.flatMap(({ envelope }) => envelope.approvalId ?? []));
    if (row.approval_id !== null) approvals.add(row.approval_id);
    const asked = (
      await Promise.all([...approvals].map((id) => read.streamEvents(tenant, { kind: 'approval', id })))
    ).flat();
    // A command is told by its own stream, where what it led to has only its name.
    const commands = new Set([...call, ...asked].flatMap(({ envelope }) => envelope.commandId ?? []));
    const around = await Promise.all([
      ...[...commands].map((id) => read.streamEvents(tenant, { kind: 'command', id: `${tenant}/${id}` })),
      read.streamEvents(tenant, { kind: 'outcome', id: toolCallId }),
      this.reasonsOf(tenant, runId, row.reasoning_object_id),
    ]);
    const events = [...call, ...asked, ...around.flat()].toSorted((left, right) => left.position - right.position);
    const items = events.map(timelineEntry);
    return { runId, items, nextAfter: null, missing: missingLinks(items) };
  }

  private async reasonsOf(
    tenant: string,
    runId: string,
    reasoningObjectId: string | null,
  ): Promise<readonly CommittedEvent[]> {
    const { read } = this.store;
    const reasoning = reasoningObjectId === null ? null : await read.runObject(tenant, reasoningObjectId);
    const eventId = reasoning?.event_id ?? null;
    const found = [await read.runStart(tenant, runId), eventId === null ? null : await read.event(tenant, eventId)];
    return found.filter((event) => event !== null);
  }
}

interface Page {
  readonly events: readonly CommittedEvent[];
  readonly nextAfter: number | null;
}
