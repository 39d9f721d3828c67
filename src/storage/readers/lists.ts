import type { ApprovalStatus } from '../../domain/approval/approval.state.js';
import type { LeaseStatus } from '../../domain/lease/lease.state.js';
import type { ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';

/** Rows one page may hold, whatever is asked for. */
export const PAGE_ROWS_MAX = 200;

export interface Page<R> {
  readonly rows: readonly R[];
  /** Opaque; null when this was the last page. */
  readonly nextCursor: string | null;
}

interface ListQuery {
  readonly tenant: string;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before, or null (or left out) for the first. */
  readonly cursor?: string | null;
}

export interface ToolCallListQuery extends ListQuery {
  readonly statuses?: readonly ToolCallStatus[];
  /** True leaves out handoffs that have a finding. */
  readonly unresolvedOnly?: boolean;
  /** True leaves only calls whose end evidence contradicts. */
  readonly contradictedOnly?: boolean;
  readonly runId?: string;
  /** The capability's name. */
  readonly capability?: string;
  /** `principalKey` of domain/principal. */
  readonly principal?: string;
  /** Created at or after. */
  readonly from?: string;
  /** Created before. */
  readonly to?: string;
}

export interface ApprovalListQuery extends ListQuery {
  readonly statuses?: readonly ApprovalStatus[];
  readonly toolCallId?: string;
  readonly runId?: string;
  /** What questions of one turn share. */
  readonly batchId?: string;
  /** True leaves only emergencies that nobody has looked at. */
  readonly reviewOwedOnly?: boolean;
}

export interface LeaseListQuery extends ListQuery {
  readonly statuses?: readonly LeaseStatus[];
  readonly toolCallId?: string;
  readonly runId?: string;
}
