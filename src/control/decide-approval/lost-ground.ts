import { Injectable } from '@nestjs/common';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { ErrorCode } from '../../domain/errors/error-codes.js';
import { ApprovalExpiry } from '../../policy/approvals/approval-expiry.js';
import { Rejudgement } from '../../policy/approvals/rejudgement.js';
import type { Ground } from '../../policy/preconditions/preconditions.js';
import { GuardFailed } from '../../storage/unit.js';
import { loadApproval, loadCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';

/** After a vote was refused because the question's time or ground has gone: the question does not stay open. */
@Injectable()
export class LostGround {
  constructor(
    private readonly desk: UnitDesk,
    private readonly expiry: ApprovalExpiry,
    private readonly rejudgement: Rejudgement,
  ) {}

  /** `ground`: what was read when the vote was refused, if anything. */
  async follow(code: ErrorCode, tenant: string, approvalId: string, ground?: Ground): Promise<void> {
    try {
      if (code === 'approval_expired') await this.expiry.expire(tenant, approvalId);
      if (code === 'policy_version_changed') await this.rejudge(tenant, approvalId, 'policy_changed');
      if (code === 'capability_version_changed') await this.rejudge(tenant, approvalId, 'capability_changed');
      if (code === 'precondition_changed') await this.rejudge(tenant, approvalId, 'precondition_changed', ground);
    } catch (failure) {
      // Somebody else moved it, or the sweep will: the vote is refused either way.
      if (!(failure instanceof GuardFailed) && !(failure instanceof CountersignError)) throw failure;
    }
  }

  private async rejudge(
    tenant: string,
    approvalId: string,
    reason: 'policy_changed' | 'capability_changed' | 'precondition_changed',
    ground?: Ground,
  ): Promise<void> {
    const approval = await loadApproval(this.desk.read, tenant, approvalId);
    const call = approval === null ? null : await loadCall(this.desk.read, tenant, approval.row.tool_call_id);
    if (approval !== null && call !== null) await this.rejudgement.rejudge(approval, call, reason, ground);
  }
}
