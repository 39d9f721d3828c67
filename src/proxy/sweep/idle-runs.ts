import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { TOOL_CALL_STATUSES, isTerminal } from '../../domain/tool-call/tool-call.state.js';
import { runFacts, runState } from '../../storage/rows/run.row.js';
import { GuardFailed } from '../../storage/unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';

const BATCH = 100;
const OPEN_STATUSES = TOOL_CALL_STATUSES.filter((status) => !isTerminal(status));

/** Completes implicit runs in which nothing has happened for a long time and nothing is open. */
@Injectable()
export class IdleRuns {
  constructor(
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
  ) {}

  async tick(): Promise<void> {
    const before = new Date(this.desk.clock.now() - this.settings.runs.implicitIdleMs).toISOString();
    for (const row of await this.desk.read.idleImplicitRuns(before, BATCH)) {
      const draft = this.desk.beginAbout(row, { lane: 'govern', causeKind: 'timer' });
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
      try {
        await this.desk.commit(draft);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
  }
}
