import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { jsonDigest } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { EventPayload } from '../../domain/events/catalogue.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { principalKey } from '../../domain/principal.js';
import type { Caller, Role } from '../../identity/caller.js';
import { Judge } from '../../policy/judge.js';
import { loadApproval, loadCall, type LoadedApproval, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog } from '../command-log.js';
import { ProposeToolCall, type Proposal } from '../propose-tool-call/propose-tool-call.command.js';
import { ProposeToolCallHandler } from '../propose-tool-call/propose-tool-call.handler.js';
import type { Edit } from './edit.js';
import { speakerOf } from './speaker.js';
import { type EditedCall, EditToolCall } from './edit-tool-call.command.js';

/**
 * Other arguments are a new call of the same principal in the same run, validated and judged like any other. What was
 * proposed, what was edited and what runs are all kept; who edited does not approve where requesters may not.
 */
@CommandHandler(EditToolCall)
export class EditToolCallHandler implements ICommandHandler<EditToolCall> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly judge: Judge,
    private readonly proposing: ProposeToolCallHandler,
    private readonly log: CommandLog,
  ) {}

  async execute(command: EditToolCall): Promise<EditedCall> {
    try {
      return await this.edit(command);
    } catch (error) {
      if (!(error instanceof CountersignError)) throw error;
      const { caller, approvalId, edited } = command;
      const { digest, args, reason } = edited;
      const details = { digest, argsDigest: jsonDigest(args), reason };
      throw await this.log.recordRefusal(
        caller,
        { type: 'edit', target: { approvalId }, details, commandId: null },
        error,
      );
    }
  }

  private async edit({ caller, approvalId, edited }: EditToolCall): Promise<EditedCall> {
    const approval = await loadApproval(this.desk.read, caller.tenant, approvalId);
    const call = approval === null ? null : await loadCall(this.desk.read, caller.tenant, approval.row.tool_call_id);
    if (approval === null || call === null) {
      throw new CountersignError('approval_not_found', 'there is no such approval');
    }
    if (caller.isAgent)
      throw new CountersignError('approver_not_allowed', "an agent's own credential can never decide");
    const papers = await this.judge.open(call);
    if (jsonDigest(edited.args) === jsonDigest(papers.args)) {
      throw new CountersignError('invalid_request', 'these are the arguments that are asked about', {
        pointer: '/arguments',
      });
    }
    const edit: Edit = {
      original: call,
      approval,
      editor: caller,
      speaker: await speakerOf(this.desk.read, caller, this.desk.now()),
      digest: edited.digest,
      reason: edited.reason,
      requesterSubjects: papers.requesterSubjects,
    };
    const asRequested = requesterOf(call, papers.request.roles as readonly Role[]);
    const proposal = await this.proposal(call, approval, edit, edited.args);
    const { toolCallId } = await this.proposing.execute(new ProposeToolCall(asRequested, proposal));
    const row = await this.desk.read.toolCall(caller.tenant, toolCallId);
    return {
      toolCallId,
      supersedesToolCallId: call.row.tool_call_id,
      status: row?.status ?? 'proposed',
      approvalId: row?.approval_id ?? null,
    };
  }

  private async proposal(call: LoadedCall, approval: LoadedApproval, edits: Edit, args: JsonObject): Promise<Proposal> {
    const event = await this.desk.read.event(call.row.tenant, call.row.proposed_event_id);
    const proposed = event?.payload as unknown as EventPayload<'tool.call.proposed'> | undefined;
    return {
      capability: `${call.state.capability}@${call.state.capabilityVersion}`,
      arguments: args,
      idempotencyKey: `edit:${approval.row.approval_id}`,
      runId: call.row.run_id,
      runLabel: null,
      turnId: call.row.turn_id,
      // The model's id names the arguments that it sent.
      callId: null,
      reasoningObjectId: call.row.reasoning_object_id,
      skillId: call.row.skill_id,
      intentId: call.row.correlation_id,
      allowDuplicateIntent: false,
      reason: proposed?.reason ?? null,
      executeBefore: call.state.executeBefore,
      edits,
    };
  }
}

/** The principal of the original proposes again; the editor is on record as the one who acts. */
function requesterOf({ row, state }: LoadedCall, roles: readonly Role[]): Caller {
  const { sub, act } = state.principal;
  if (row.principal !== principalKey(state.principal)) throw new Error('a call belongs to its principal');
  const actor = act === undefined ? { sub } : { sub, act: { sub: act } };
  return { tenant: row.tenant, actor, roles, groups: [], agentOwner: null, isAgent: true };
}
