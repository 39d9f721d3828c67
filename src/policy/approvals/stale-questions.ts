import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { loadApproval, loadCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { Judge } from '../judge.js';
import { Rejudgement } from './rejudgement.js';

const BATCH = 100;

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

  async tick(): Promise<void> {
    const revision = this.judge.revision();
    if (revision === null) return;
    const stale = await this.desk.read.questionsOutsideOf(revision, this.gate.digestsInForce(), BATCH);
    for (const row of stale) await this.askAnew(row, revision);
  }

  private async askAnew(row: TableRow<'approvals'>, revision: string): Promise<void> {
    try {
      const approval = await loadApproval(this.desk.read, row.tenant, row.approval_id);
      const call = approval === null ? null : await loadCall(this.desk.read, row.tenant, row.tool_call_id);
      if (approval === null || call === null) return;
      const reason = row.policy_revision === revision ? 'capability_changed' : 'policy_changed';
      await this.rejudgement.rejudge(approval, call, reason);
    } catch (error) {
      // Somebody else moved it, or the engine cannot answer now: the next pass looks again. One question that cannot
      // be asked anew holds up no other.
      if (error instanceof GuardFailed || error instanceof CountersignError) return;
      this.logger.error('question could not be asked anew', { approvalId: row.approval_id, error: errorName(error) });
    }
  }
}
