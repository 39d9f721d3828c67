import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Caller } from '../../identity/caller.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { refusedIntent } from './refused-intent.js';
import { voterOf } from './speaker.js';
import { RefuseToolCall } from './refuse-tool-call.command.js';

/**
 * An authorized call of which nothing was sent becomes denied, with the consent it rested on closed, and no grant covers the
 * same intent again. A question that is open is answered by its decision.
 */
@CommandHandler(RefuseToolCall)
export class RefuseToolCallHandler implements ICommandHandler<RefuseToolCall> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly settings: Settings,
  ) {}

  execute({ caller, toolCallId, reason, commandId }: RefuseToolCall): Promise<Acknowledged> {
    const asked = { type: 'refuse', target: { toolCallId }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start, now) => {
      this.mustBeAnApprover(caller);
      const loaded = await loadCall(this.desk.read, caller.tenant, toolCallId);
      if (loaded === null) throw new CountersignError('tool_call_not_found', 'there is no such tool call');
      const { row, state } = loaded;
      const approvalId = row.approval_id;
      if (state.status === 'proposed') {
        const message = 'people are being asked about this call: decide its approval';
        throw new CountersignError('tool_call_not_ready', message, {
          toolCallId,
          ...(approvalId === null ? {} : { approvalId }),
        });
      }
      const draft = start({ correlationId: row.correlation_id, runId: row.run_id, sessionId: row.session_id });
      const call = new CallInUnit(draft, loaded);
      const approval = approvalId === null ? null : await loadApproval(this.desk.read, caller.tenant, approvalId);
      if (approval?.state.status === 'granted') {
        new ApprovalInUnit(draft, approval, call.refs).do({ kind: 'close', closing: { reason: 'refused' } });
      }
      call.do({ kind: 'deny', denial: { basis: 'refusal', reasons: [`refused by an approver: ${reason}`] } });
      return draft.write(refusedIntent(loaded, now));
    });
  }

  private mustBeAnApprover(caller: Caller): void {
    const { isAgent, groups } = voterOf(caller);
    const asked = groups.some((group) => this.settings.policy.approverGroups.includes(group));
    if (isAgent || !asked) throw new CountersignError('approver_not_allowed', 'only an approver may refuse a call');
  }
}
