import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { ON_THE_WIRE, UNSENT, isOneOf } from '../../domain/tool-call/tool-call.place.js';
import type { ToolCallState, ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import type { Hold } from '../../storage/hold.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { callFromRow, loadApproval, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { readWithoutAnswer } from '../core/settlement.js';
import { followOutcome } from '../executor/outcome-opening.js';

const BATCH = 200;
const OPEN: readonly ToolCallStatus[] = [...UNSENT, ...ON_THE_WIRE];

/** No process of this store is known to have made the attempt. */
const NOBODY = { nonce: 'unknown', owner: 'unknown', ownerEpoch: 0 } as const;

/**
 * What a held store cannot know of its open calls: what was on the wire when it was copied has long ended, and where events behind
 * it are lost, what it has as not sent may have been sent. Both are `result_unknown{restored}` from here on, with the open question
 * about them closed: evidence or people settle them, and no later yes sends them a second time. Reads may simply be made again.
 */
@Injectable()
export class RestoredCalls {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
  ) {}

  /** Before anything else looks at the calls. May be repeated: what was moved is not found again. */
  async settle(hold: Hold): Promise<void> {
    let after: string | null = null;
    for (;;) {
      const rows: readonly TableRow<'tool_calls'>[] = await this.desk.read.callsInStates(OPEN, BATCH, after);
      for (const row of rows) await this.move(row, hold);
      const last = rows[rows.length - 1];
      if (last === undefined || rows.length < BATCH) return;
      after = last.tool_call_id;
    }
  }

  /** A start that cannot record this must not go on: whatever comes later would take the call for what it was. */
  private async move(row: TableRow<'tool_calls'>, hold: Hold): Promise<void> {
    const call = await callFromRow(this.desk.read, row);
    const command = this.commandFor(call.state, hold);
    if (command === null) return;
    try {
      await this.record(call, command);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error; // somebody else moved it, which is all this wants
    }
  }

  private commandFor(state: ToolCallState, { complete }: Hold): ToolCallCommand | null {
    const now = this.desk.now();
    const isRead = state.effect === 'read_only';
    if (isOneOf(state, ON_THE_WIRE)) {
      return isRead
        ? readWithoutAnswer('restored', { sentAt: null, endedAt: now, evidence: {} })
        : { kind: 'mark_unknown', unknown: { cause: 'restored', lastError: 'restored' } };
    }
    if (isRead || complete) return null;
    const carrying = { ...NOBODY, fence: state.attempt, deadline: now };
    return { kind: 'mark_unknown', unknown: { cause: 'restored', lastError: 'restored', carrying } };
  }

  private async record(call: LoadedCall, command: ToolCallCommand): Promise<void> {
    const { row } = call;
    const draft = this.desk.beginAbout(row, { lane: 'settle', causeKind: 'event', synthetic: true });
    draft.guard(this.desk.ownerGuard());
    const next = new CallInUnit(draft, call);
    const approval = row.approval_id === null ? null : await loadApproval(this.desk.read, row.tenant, row.approval_id);
    if (approval !== null && (approval.state.status === 'pending' || approval.state.status === 'granted')) {
      new ApprovalInUnit(draft, approval, next.refs).do({ kind: 'close', closing: { reason: 'restored' } }, 'recovery');
    }
    next.do(command, {}, 'recovery');
    // What was sent in the lost time may only just have been: nobody is asked before it must have arrived.
    const quiesceMs = this.gate.get(call.state.capability)?.manifest.quiesceMs ?? 0;
    if (command.kind === 'mark_unknown')
      next.workAt({ nextAt: new Date(this.desk.clock.now() + quiesceMs).toISOString() });
    await followOutcome({ read: this.desk.read, gate: this.gate }, draft, call, next);
    await this.desk.commit(draft);
  }
}
