import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { callFromRow, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { readWithoutAnswer } from '../core/settlement.js';
import { CallRecorder } from '../executor/call-recorder.js';
import { Executor } from '../executor/executor.worker.js';

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
    private readonly gate: CapabilityGate,
  ) {}

  async tick(): Promise<void> {
    let after: string | null = null;
    for (;;) {
      const rows: readonly TableRow<'tool_calls'>[] = await this.desk.read.callsInStates(
        ['dispatching', 'dispatched', 'accepted'],
        BATCH,
        after,
      );
      for (const row of rows) await this.settle(row);
      const last = rows[rows.length - 1];
      if (last === undefined || rows.length < BATCH) return;
      after = last.tool_call_id;
    }
  }

  private async settle(row: TableRow<'tool_calls'>): Promise<void> {
    if (this.executor.isCarrying(row.tool_call_id)) return;
    try {
      const call = await callFromRow(this.desk.read, row);
      const cause = this.orphanedBy(call);
      if (cause === null) return;
      const endedAt = this.desk.now();
      const command: ToolCallCommand =
        call.state.effect === 'read_only'
          ? readWithoutAnswer(cause, { sentAt: null, endedAt, evidence: {} })
          : { kind: 'mark_unknown', unknown: { cause, lastError: cause } };
      await this.recorder.record(call, command, { producer: 'recovery', synthetic: true });
    } catch (error) {
      if (error instanceof GuardFailed) return; // somebody else moved it, which is all this wants
      this.logger.error('an orphaned attempt could not be settled', {
        toolCallId: row.tool_call_id,
        error: errorName(error),
      });
    }
  }

  private orphanedBy({ state }: LoadedCall): 'owner_lost' | 'deadline_passed' | 'cancel_unanswered' | null {
    if (!('ownerEpoch' in state)) return null;
    const patienceMs = state.status === 'accepted' ? this.patienceFor(state) : 0;
    const pastDeadline = this.desk.clock.now() >= Date.parse(state.deadline) + patienceMs;
    // What the tool has accepted is the tool's to finish: a new owner may wait for it as well as the old one.
    if (state.status !== 'accepted' && state.ownerEpoch < this.desk.instance.epoch) {
      // Whether the dead owner had asked the tool to stop it is as unknown as what became of it.
      return state.cancellationRequested ? 'cancel_unanswered' : 'owner_lost';
    }
    if (state.status === 'accepted' && state.cancelBy !== null && this.desk.now() >= state.cancelBy) {
      return 'cancel_unanswered';
    }
    return pastDeadline ? 'deadline_passed' : null;
  }

  /** Milliseconds beyond the attempt's deadline for which what the tool has accepted is waited for. */
  private patienceFor(state: LoadedCall['state']): number {
    const manifest = this.gate.bound(state)?.manifest;
    if (manifest?.lateResult !== 'callback' || manifest.callback === null) return 0;
    return manifest.quiesceMs + manifest.callback.budgetMs;
  }
}
