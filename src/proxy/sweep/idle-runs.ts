import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { TOOL_CALL_STATUSES, isTerminal } from '../../domain/tool-call/tool-call.state.js';
import { runFacts, runState } from '../../storage/rows/run.row.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { revokeRunLeases } from '../../storage/units/lease-in-unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';

const OPEN_STATUSES = TOOL_CALL_STATUSES.filter((status) => !isTerminal(status));

/** Completes implicit runs in which nothing has happened for a long time and nothing is open. */
@Injectable()
export class IdleRuns {
  constructor(
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  /** Answers how many runs could not be completed. */
  async tick(): Promise<number> {
    const before = new Date(this.desk.clock.now() - this.settings.runs.implicitIdleMs).toISOString();
    return sweepRows<TableRow<'runs'>>({
      read: (limit) => this.desk.read.idleImplicitRuns(before, limit),
      idOf: (row) => row.run_id,
      look: (row) => this.tryComplete(row),
    });
  }

  private async tryComplete(row: TableRow<'runs'>): Promise<boolean> {
    try {
      await this.complete(row);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true;
      this.logger.error('an idle run could not be completed', { runId: row.run_id, error: errorName(error) });
      return false;
    }
  }

  private async complete(row: TableRow<'runs'>): Promise<void> {
    const draft = this.desk.beginAbout(row, { lane: 'govern', causeKind: 'timer' });
    await revokeRunLeases(this.desk.read, draft, row, 'run_ended');
    new RunInUnit(draft, { state: runState(row), facts: runFacts(row) }).do(
      { kind: 'complete', completion: { reason: 'idle' }, openCalls: 0 },
      'recovery',
    );
    draft.guard({
      name: 'no_open_call',
      table: 'tool_calls',
      where: { run_id: row.run_id, status: { oneOf: OPEN_STATUSES } },
      expect: 'absent',
    });
    await this.desk.commit(draft);
  }
}
