import type { Principal } from '../principal.js';
import type { SessionParent } from './session-row.js';

export const SESSION_STATUSES = ['open', 'deleted'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** What is governed about a session: whose it is, and which harness may append to its log. */
export interface SessionState {
  readonly status: SessionStatus;
  readonly principal: Principal;
  /** Counts attachments; an append under an earlier number is refused. 0: nobody has attached yet. */
  readonly ownerEpoch: number;
  readonly harnessInstanceId: string | null;
  readonly parent: SessionParent | null;
}
