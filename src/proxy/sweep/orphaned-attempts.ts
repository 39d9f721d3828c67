import { Injectable } from '@nestjs/common';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { callFromRow, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { reached } from '../../system/crash-points.js';
import { Logger, errorName } from '../../system/logger.js';
import { readWithoutAnswer } from '../core/settlement.js';
import { CallRecorder } from '../executor/call-recorder.js';
import { Executor } from '../executor/executor.worker.js';
import { Patience } from './patience.js';

const BATCH = 200;

/**
 * What a dead owner had on the wire, and what passed its deadline unobserved: nobody knows what became of it, and that is
 * recorded. Never touches what this process is carrying.
 */
@Injectable()
export class OrphanedAttempts {
  constructor(
    private readonly desk: UnitDesk,
    private readonly executor: Executor,
    private readonly recorder: CallRecorder,
    private readonly logger: Logger,
    private readonly patience: Patience,
  ) {}

  /** Answers how many attempts could not be settled. */
  async tick(): Promise<number> {
    let failed = 0;
    let after: string | null = null;
    for (;;) {
      const rows: readonly TableRow<'tool_calls'>[] = await this.desk.read.callsInStates(
        ['dispatching', 'dispatched', 'accepted'],
        BATCH,
        after,
      );
      for (const row of rows) if (!(await this.settle(row))) failed += 1;
      const last = rows[rows.length - 1];
      if (last === undefined || rows.length < BATCH) return failed;
      after = last.tool_call_id;
    }
  }

  private async settle(row: TableRow<'tool_calls'>): Promise<boolean> {
    if (this.executor.isCarrying(row.tool_call_id)) return true;
    try {
      const call = await callFromRow(this.desk.read, row);
      const cause = this.orphanedBy(call);
      if (cause === null) return true;
      const endedAt = this.desk.now();
      const command: ToolCallCommand =
        call.state.effect === 'read_only'
          ? readWithoutAnswer(cause, { sentAt: null, endedAt, evidence: {} })
          : { kind: 'mark_unknown', unknown: { cause, lastError: cause } };
      await this.recorder.record(call, command, { producer: 'recovery', synthetic: true });
      reached('proxy.sweep-settled', row);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true; // somebody else moved it, which is all this wants
      this.logger.error('an orphaned attempt could not be settled', {
        toolCallId: row.tool_call_id,
        error: errorName(error),
      });
      return false;
    }
  }

  private orphanedBy({ state }: LoadedCall): 'owner_lost' | 'deadline_passed' | 'cancel_unanswered' | null {
    if (!('ownerEpoch' in state)) return null;
    const givenUpAtMs = Date.parse(state.deadline) + this.patience.beyondDeadlineMs(state);
    const pastDeadline = this.desk.clock.now() >= givenUpAtMs;
    if (!this.patience.outlivesOwner(state) && state.ownerEpoch < this.desk.instance.epoch) {
      // Whether the dead owner had asked the tool to stop it is as unknown as what became of it.
      return state.cancellationRequested ? 'cancel_unanswered' : 'owner_lost';
    }
    if (state.status === 'accepted' && state.cancelBy !== null && this.desk.now() >= state.cancelBy) {
      return 'cancel_unanswered';
    }
    return pastDeadline ? 'deadline_passed' : null;
  }
}
