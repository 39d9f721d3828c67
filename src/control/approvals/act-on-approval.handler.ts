import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import type { ApprovalCommand } from '../../domain/approval/approval.commands.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import { Rejudgement } from '../../policy/approvals/rejudgement.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall, type LoadedApproval, type LoadedCall } from '../../storage/units/load.js';
import { runTakesDecisions } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { AlreadyDone, CommandLog, type Acknowledged } from '../command-log.js';
import { ActOnApproval, type ApprovalAct } from './act-on-approval.command.js';
import { ConsentGround, stillToDecide } from './consent-ground.js';
import { mustBeAPerson } from './deputy.js';
import { voterOf } from './speaker.js';

/** Types of command by which each act is on record. */
const TYPES: Readonly<Record<ApprovalAct['kind'], string>> = {
  withdraw_vote: 'withdraw_vote',
  delegate: 'delegate_approval',
  revoke_delegation: 'revoke_approval_delegation',
  escalate: 'escalate_approval',
  break_glass: 'break_glass',
  review: 'review_break_glass',
};

const CANNOT_ASK: readonly string[] = ['engine_error', 'precondition_unavailable'];

/** Records what a person does about a question, and what follows from it for the call, in one unit. */
@CommandHandler(ActOnApproval)
export class ActOnApprovalHandler implements ICommandHandler<ActOnApproval> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly ground: ConsentGround,
    private readonly rejudgement: Rejudgement,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, approvalId, act, commandId }: ActOnApproval): Promise<Acknowledged> {
    const { kind, ...details } = act;
    const asked = { type: TYPES[kind], target: { approvalId }, details: details as unknown as JsonObject, commandId };
    try {
      return await this.log.carryOut(caller, asked, async (start, now) => {
        const { approval, call } = await this.load(caller.tenant, approvalId);
        const { row } = call;
        if (act.kind === 'delegate') await mustBeAPerson(this.desk.read, caller.tenant, act.to);
        const draft = start({ correlationId: row.correlation_id, runId: row.run_id, sessionId: row.session_id });
        await this.record({ caller, act, approval, call, draft, now });
        return draft;
      });
    } catch (error) {
      if (error instanceof CountersignError) await this.ground.follow(error, caller.tenant, approvalId);
      throw error;
    }
  }

  private async load(tenant: string, id: string): Promise<{ approval: LoadedApproval; call: LoadedCall }> {
    const approval = await loadApproval(this.desk.read, tenant, id);
    const call = approval === null ? null : await loadCall(this.desk.read, tenant, approval.row.tool_call_id);
    if (approval !== null && call !== null) return { approval, call };
    throw new CountersignError('approval_not_found', 'there is no such approval');
  }

  private async record(acting: Acting): Promise<void> {
    const { act, approval: loaded, call: loadedCall, draft, now } = acting;
    const call = new CallInUnit(draft, loadedCall);
    const approval = new ApprovalInUnit(draft, loaded, call.refs).do(this.commandFor(acting));
    if (!approval.changed) throw new AlreadyDone(null);
    if (act.kind === 'review') return;
    draft.guard(runTakesDecisions(loaded.row.run_id));
    if (act.kind !== 'withdraw_vote') draft.guard(stillToDecide(loaded.row.approval_id));
    const { state } = approval;
    if (act.kind === 'break_glass' && state.status === 'granted') {
      this.ground.guard(draft, loaded, loadedCall);
      await this.ground.mustStillHold(loaded, loadedCall);
      const { executeBy, attempt } = state;
      call.do({ kind: 'authorize', authorization: { basis: 'approval', executeBy, attempt } });
    }
    if (act.kind === 'withdraw_vote' && state.status === 'invalidated') {
      if (loadedCall.state.status === 'authorized') {
        call.do({ kind: 'withdraw', withdrawal: { reason: 'vote_withdrawn' } });
      }
      await this.judgeAnewOrClose(draft, call, loadedCall, now);
    }
  }

  /** Consent that is taken back is gone also while the policy or the world cannot be asked: then the call ends. */
  private async judgeAnewOrClose(draft: UnitDraft, call: CallInUnit, loaded: LoadedCall, now: string): Promise<void> {
    try {
      await this.rejudgement.judgeAnew(draft, call, loaded, now);
    } catch (error) {
      const cannotAsk = error instanceof CountersignError && CANNOT_ASK.includes(error.code);
      if (!cannotAsk) throw error;
      call.do({ kind: 'close', closing: { reason: 'approval_closed' } });
    }
  }

  /** All of this is a person's own right; what others have lent them is for votes. */
  private commandFor({ caller, act, now }: Acting): ApprovalCommand {
    const voter = voterOf(caller);
    switch (act.kind) {
      case 'withdraw_vote':
        return { kind: 'withdraw_vote', voter, reason: act.reason, now };
      case 'delegate':
        return { ...act, voter, now };
      case 'revoke_delegation':
        return { ...act, voter, now };
      case 'escalate': {
        const isForAll = this.settings.policy.escalationGroups.includes(act.group);
        return { kind: 'escalate', voter, to: act.group, isForAll, reason: act.reason, now };
      }
      case 'break_glass': {
        const isTrusted = caller.groups.some((group) => this.settings.policy.breakGlassGroups.includes(group));
        // A group alone decides nothing: a token for giving feedback, say, has its person's groups too.
        const mayBreakGlass = isTrusted && hasRole(caller, 'approver', 'operator');
        return { kind: 'break_glass', voter, mayBreakGlass, consentDigest: act.digest, reason: act.reason, now };
      }
      case 'review':
        if (!hasRole(caller, 'approver', 'operator', 'auditor')) {
          throw new CountersignError('approver_not_allowed', 'only an approver, operator or auditor may review');
        }
        return { kind: 'review', voter, finding: act.finding, reason: act.reason, now };
    }
  }
}

interface Acting {
  readonly caller: Caller;
  readonly act: ApprovalAct;
  readonly approval: LoadedApproval;
  readonly call: LoadedCall;
  readonly draft: UnitDraft;
  readonly now: string;
}
