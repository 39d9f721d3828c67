import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ON_THE_WIRE } from '../../domain/tool-call/tool-call.place.js';
import { isTerminal } from '../../domain/tool-call/tool-call.state.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { loadOwnCall } from '../own-call.js';
import { CancelToolCall } from './cancel-tool-call.command.js';

/** Ends a call that has not been sent, and closes its open approval, in one unit. It never ends the run. */
@CommandHandler(CancelToolCall)
export class CancelToolCallHandler implements ICommandHandler<CancelToolCall> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
  ) {}

  async execute({ caller, toolCallId, reason, commandId }: CancelToolCall): Promise<Acknowledged> {
    const asked = { type: 'cancel', target: { toolCallId }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start) => {
      const loaded = await loadOwnCall(this.desk.read, caller, toolCallId);
      const { row, state } = loaded;
      if (isTerminal(state.status))
        throw new CountersignError('tool_call_already_ended', `the call is ${state.status}`, { toolCallId });
      if (state.status === 'result_unknown' || state.status === 'reconciling' || includes(ON_THE_WIRE, state.status)) {
        throw new CountersignError(
          'cancel_not_supported',
          'the request may be on the wire and the tool has no cancel',
          { toolCallId },
        );
      }
      const draft = start({ correlationId: row.correlation_id, runId: row.run_id, sessionId: row.session_id });
      const approval =
        row.approval_id === null ? null : await loadApproval(this.desk.read, caller.tenant, row.approval_id);
      const call = new CallInUnit(draft, loaded);
      if (approval !== null && (approval.state.status === 'pending' || approval.state.status === 'granted')) {
        new ApprovalInUnit(draft, approval, call.refs).do(
          { kind: 'close', closing: { reason: 'cancelled' } },
          'control-plane',
        );
      }
      call.do({ kind: 'close', closing: { reason: 'cancelled' } }, {}, 'control-plane');
      return draft;
    });
  }
}

const includes = (words: readonly string[], word: string): boolean => words.includes(word);
