import { Injectable } from '@nestjs/common';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';

const BATCH = 100;

/**
 * Makes overdue approvals expire as events, without anybody reading them. Nobody answering is `expired`: never a
 * person's denial and never an allowance.
 */
@Injectable()
export class ApprovalExpiry {
  constructor(
    private readonly desk: UnitDesk,
    private readonly logger: Logger,
  ) {}

  /** One pass over what is overdue; each approval by itself, so one that fails holds up no other. */
  async tick(): Promise<void> {
    const now = this.desk.now();
    const pending = await this.desk.read.overdueApprovals(now, BATCH);
    const granted = await this.desk.read.overdueGrants(now, BATCH);
    for (const row of [...pending, ...granted]) await this.expireRow(row);
  }

  /** Expires one approval if it is overdue. @throws GuardFailed when somebody else was faster. */
  async expire(tenant: string, approvalId: string): Promise<void> {
    const approval = await loadApproval(this.desk.read, tenant, approvalId);
    const call = approval === null ? null : await loadCall(this.desk.read, tenant, approval.row.tool_call_id);
    if (approval === null || call === null) return;
    const now = this.desk.now();
    const draft = this.desk.beginAbout(call.row, { lane: 'govern', causeKind: 'timer', occurredAt: now });
    const closing = new CallInUnit(draft, call);
    new ApprovalInUnit(draft, approval, closing.refs).do({ kind: 'expire', now });
    closing.do({ kind: 'close', closing: { reason: 'approval_expired' } }, {}, 'recovery');
    await this.desk.commit(draft);
  }

  private async expireRow(row: TableRow<'approvals'>): Promise<void> {
    try {
      await this.expire(row.tenant, row.approval_id);
    } catch (error) {
      if (error instanceof GuardFailed) return;
      this.logger.error('approval could not expire', { approvalId: row.approval_id, error: errorName(error) });
    }
  }
}
