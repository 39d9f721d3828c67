import { Injectable } from '@nestjs/common';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';

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

  /** One pass over what is overdue; each approval by itself, so one that fails holds up no other. Answers how many did. */
  async tick(): Promise<number> {
    const { read } = this.desk;
    const now = this.desk.now();
    const pending = await this.sweep((limit) => read.overdueApprovals(now, limit));
    return pending + (await this.sweep((limit) => read.overdueGrants(now, limit)));
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

  private sweep(read: (limit: number) => Promise<readonly TableRow<'approvals'>[]>): Promise<number> {
    return sweepRows({ read, idOf: (row) => row.approval_id, look: (row) => this.expireRow(row) });
  }

  private async expireRow(row: TableRow<'approvals'>): Promise<boolean> {
    try {
      await this.expire(row.tenant, row.approval_id);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true;
      this.logger.error('approval could not expire', { approvalId: row.approval_id, error: errorName(error) });
      return false;
    }
  }
}
