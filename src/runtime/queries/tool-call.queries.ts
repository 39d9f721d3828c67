import { Query } from '@nestjs/cqrs';
import type { ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import type { Caller } from '../../identity/caller.js';
import type { ToolCallView } from '../views/tool-call.view.js';

/** One call as it stands, or as it stands when it has ended, waiting at most `waitMs` for that. */
export class GetToolCall extends Query<ToolCallView> {
  constructor(
    readonly caller: Caller,
    readonly toolCallId: string,
    /** Milliseconds; 0 answers at once. */
    readonly waitMs: number,
    /** Aborted when the client has gone: the wait ends, the call goes on. */
    readonly gone: AbortSignal,
  ) {
    super();
  }
}

export interface ToolCallFilter {
  readonly statuses: readonly ToolCallStatus[] | null;
  /** Leaves out handoffs that have a finding. */
  readonly unresolvedOnly: boolean;
  readonly contradictedOnly?: boolean;
  readonly runId: string | null;
  readonly capability: string | null;
  readonly principal: string | null;
  /** ISO 8601 in UTC. */
  readonly from: string | null;
  readonly to: string | null;
  readonly limit: number;
  readonly cursor: string | null;
}

export interface PageOf<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Calls of the tenant, newest first. */
export class ListToolCalls extends Query<PageOf<ToolCallView>> {
  constructor(
    readonly caller: Caller,
    readonly filter: ToolCallFilter,
  ) {
    super();
  }
}
