import type { CompatibilityVerdict } from '../../domain/events/session-events.js';
import type { AgentState, HistoryMessage, SessionRunState } from '../../domain/session/session-state.js';
import type { TableRow } from '../../storage/rows/tables.js';
import type { Recovery } from './resume-packet.js';

/** What a harness gets that takes a session over: the resume packet. Making it sends, asks and decides nothing. */
export interface AttachedSession extends Recovery {
  readonly sessionId: string;
  readonly ownerEpoch: number;
  readonly headSeq: number;
  readonly durableSeq: number;
  readonly canResume: boolean;
  readonly notResumableReason: string | null;
  readonly loadedFrom: string;
  readonly history: readonly HistoryMessage[];
  readonly waitingCalls: readonly string[];
  readonly state: AgentState;
  readonly runState: SessionRunState | null;
  readonly pendingApprovals: readonly TableRow<'approvals'>[];
  readonly versions: { readonly verdict: CompatibilityVerdict; readonly from: string; readonly to: string } | null;
  readonly checkpoint: TableRow<'checkpoints'> | null;
}
