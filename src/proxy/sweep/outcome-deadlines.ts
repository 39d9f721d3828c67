import { Injectable } from '@nestjs/common';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadCall } from '../../storage/units/load.js';
import { loadOutcome, OutcomeInUnit } from '../../storage/units/outcome-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';

/** Verifications that nobody has answered in time are inconclusive, as an event, without anybody reading them. */
@Injectable()
export class OutcomeDeadlines {
  constructor(
    private readonly desk: UnitDesk,
    private readonly logger: Logger,
  ) {}

  /** Answers how many verifications could not end. */
  async tick(): Promise<number> {
    const now = this.desk.now();
    return sweepRows<TableRow<'outcomes'>>({
      read: (limit) => this.desk.read.overdueOutcomes(now, limit),
      idOf: (row) => row.tool_call_id,
      look: (row) => this.expire(row),
    });
  }

  private async expire(row: TableRow<'outcomes'>): Promise<boolean> {
    try {
      const call = await loadCall(this.desk.read, row.tenant, row.tool_call_id);
      const outcome = await loadOutcome(this.desk.read, row.tenant, row.tool_call_id);
      const now = this.desk.now();
      if (call === null || outcome?.state?.status !== 'pending' || now < outcome.state.deadline) return true;
      const draft = this.desk.beginAbout(call.row, { lane: 'govern', causeKind: 'timer', occurredAt: now });
      new OutcomeInUnit(draft, outcome, new CallInUnit(draft, call).refs).do({ kind: 'expire', now });
      await this.desk.commit(draft);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true; // feedback came in the last moment
      const toolCallId = row.tool_call_id;
      this.logger.error('a verification could not end', { toolCallId, error: errorName(error) });
      return false;
    }
  }
}
