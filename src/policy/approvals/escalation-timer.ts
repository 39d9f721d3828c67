import { Injectable } from '@nestjs/common';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';

/** Widens questions that have waited as long as their policy says, as events: nobody has to look, and a restart loses no timer. */
@Injectable()
export class EscalationTimer {
  constructor(
    private readonly desk: UnitDesk,
    private readonly logger: Logger,
  ) {}

  async tick(): Promise<number> {
    const now = this.desk.now();
    return sweepRows<TableRow<'approvals'>>({
      read: (limit) => this.desk.read.dueEscalations(now, limit),
      idOf: (row) => row.approval_id,
      look: (row) => this.escalate(row),
    });
  }

  private async escalate(row: TableRow<'approvals'>): Promise<boolean> {
    try {
      const approval = await loadApproval(this.desk.read, row.tenant, row.approval_id);
      const call = approval === null ? null : await loadCall(this.desk.read, row.tenant, row.tool_call_id);
      if (approval === null || call === null || approval.row.escalate_at === null) return true;
      const now = this.desk.now();
      const draft = this.desk.beginAbout(call.row, { lane: 'govern', causeKind: 'timer', occurredAt: now });
      const { refs } = new CallInUnit(draft, call);
      new ApprovalInUnit(draft, approval, refs).do({ kind: 'escalate_due', now });
      await this.desk.commit(draft);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true;
      this.logger.error('question could not be escalated', { approvalId: row.approval_id, error: errorName(error) });
      return false;
    }
  }
}
