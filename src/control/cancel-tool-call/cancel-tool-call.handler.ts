import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { cancelBy, isOnTheWire, stoppable, type Stoppable } from '../../capabilities/cancellation.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { isTerminal } from '../../domain/tool-call/tool-call.state.js';
import { closeUnsent } from '../../storage/units/close-unsent.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { loadOwnCall } from '../own-call.js';
import { CancelToolCall } from './cancel-tool-call.command.js';

const WHY_NOT: Readonly<Record<Extract<Stoppable, { possible: false }>['reason'], string>> = {
  not_supported: 'the request may be on the wire and the tool has no cancel',
  reference_unknown: 'the tool cancels by its own reference and has not told one yet',
  definition_changed: 'the definition the call was made with is no longer in force',
};

/**
 * Ends a call that has not been sent, with its open approval, in one unit. For one that may be on the wire it records the
 * wish to cancel, where the manifest has `cancel`: what the tool makes of it is a fact of its own. It never ends the run.
 */
@CommandHandler(CancelToolCall)
export class CancelToolCallHandler implements ICommandHandler<CancelToolCall> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly gate: CapabilityGate,
  ) {}

  async execute({ caller, toolCallId, reason, commandId }: CancelToolCall): Promise<Acknowledged> {
    const asked = { type: 'cancel', target: { toolCallId }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start, now) => {
      const loaded = await loadOwnCall(this.desk.read, caller, toolCallId);
      const { row, state } = loaded;
      if (isTerminal(state.status))
        throw new CountersignError('tool_call_already_ended', `the call is ${state.status}`, { toolCallId });
      if (state.status === 'result_unknown' || state.status === 'reconciling') {
        const message = 'it is not known what became of the request, so there is nothing to cancel';
        throw new CountersignError('cancel_not_supported', message, { toolCallId });
      }
      const about = { correlationId: row.correlation_id, runId: row.run_id, sessionId: row.session_id };
      if (isOnTheWire(state)) {
        const stop = stoppable(this.gate.bound(state), state);
        if (!stop.possible) throw new CountersignError('cancel_not_supported', WHY_NOT[stop.reason], { toolCallId });
        const draft = start(about);
        const cancellation = { deadline: cancelBy(stop.cancel, Date.parse(now)) };
        new CallInUnit(draft, loaded).do({ kind: 'request_cancellation', cancellation }, {}, 'control-plane');
        return draft;
      }
      const draft = start(about);
      const approval =
        row.approval_id === null ? null : await loadApproval(this.desk.read, caller.tenant, row.approval_id);
      closeUnsent(draft, loaded, approval, 'cancelled', 'control-plane');
      return draft;
    });
  }
}
