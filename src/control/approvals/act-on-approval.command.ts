import { Command } from '@nestjs/cqrs';
import type { ReviewFinding } from '../../domain/approval/approval.state.js';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** What a person does about a question besides allowing and denying. */
export type ApprovalAct =
  | { readonly kind: 'withdraw_vote'; readonly reason: string | null }
  | {
      readonly kind: 'delegate';
      readonly to: string;
      /** ISO 8601 in UTC; null: as long as the question may be decided. */
      readonly until: string | null;
      readonly groups: readonly string[] | null;
      readonly reason: string | null;
    }
  | { readonly kind: 'revoke_delegation'; readonly to: string; readonly reason: string | null }
  | { readonly kind: 'escalate'; readonly group: string; readonly reason: string }
  | { readonly kind: 'break_glass'; readonly digest: string; readonly reason: string }
  | { readonly kind: 'review'; readonly finding: ReviewFinding; readonly reason: string };

export class ActOnApproval extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly approvalId: string,
    readonly act: ApprovalAct,
    readonly commandId: string | null,
  ) {
    super();
  }
}
