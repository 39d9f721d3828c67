import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { loadApproval, loadCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';
import { Judge } from '../judge.js';
import { Rejudgement } from './rejudgement.js';

/** Questions that were asked under a policy or a definition that is no longer in force: closed, and asked anew where still wanted. */
@Injectable()
export class StaleQuestions {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    private readonly rejudgement: Rejudgement,
    private readonly logger: Logger,
  ) {}

  /** Answers how many questions could not be asked anew although nobody else was about to. */
  async tick(): Promise<number> {
    const revision = this.judge.revision();
    if (revision === null) return 0;
    const digests = this.gate.digestsInForce();
    return sweepRows<TableRow<'approvals'>>({
      read: (limit) => this.desk.read.questionsOutsideOf(revision, digests, limit),
      idOf: (row) => row.approval_id,
      look: (row) => this.askAnew(row, revision),
    });
  }

  private async askAnew(row: TableRow<'approvals'>, revision: string): Promise<boolean> {
    try {
      const approval = await loadApproval(this.desk.read, row.tenant, row.approval_id);
      const call = approval === null ? null : await loadCall(this.desk.read, row.tenant, row.tool_call_id);
      if (approval === null || call === null) return true;
      const reason = row.policy_revision === revision ? 'capability_changed' : 'policy_changed';
      await this.rejudgement.rejudge(approval, call, reason);
      return true;
    } catch (error) {
      // Somebody else moved it, or the engine cannot answer now: the next pass looks again. One question that cannot
      // be asked anew holds up no other.
      if (error instanceof GuardFailed || error instanceof CountersignError) return true;
      this.logger.error('question could not be asked anew', { approvalId: row.approval_id, error: errorName(error) });
      return false;
    }
  }
}
