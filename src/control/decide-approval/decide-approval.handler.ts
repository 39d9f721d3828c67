import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { ApprovalStatus } from '../../domain/approval/approval.state.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { Caller } from '../../identity/caller.js';
import { policyIsCurrent } from '../../policy/policy-guard.js';
import { Judge } from '../../policy/judge.js';
import type { Ground } from '../../policy/preconditions/preconditions.js';
import type { Guard } from '../../storage/unit.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall, type LoadedApproval, type LoadedCall } from '../../storage/units/load.js';
import { runTakesDecisions } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { AlreadyDone, CommandLog } from '../command-log.js';
import { DecideApproval, type Decision } from './decide-approval.command.js';
import { LostGround } from './lost-ground.js';

/** Records a person's word, and what it decides, in one unit. It claims nothing about execution. */
@CommandHandler(DecideApproval)
export class DecideApprovalHandler implements ICommandHandler<DecideApproval> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    private readonly lostGround: LostGround,
  ) {}

  async execute({ caller, word, commandId }: DecideApproval): Promise<{ approvalId: string; commandId: string }> {
    const { approvalId, decision, digest, reason } = word;
    const details: JsonObject = { decision, digest, reason };
    const asked = { type: 'resume', target: { approvalId }, details, commandId };
    let ground: Ground | undefined;
    try {
      const acknowledged = await this.log.carryOut(caller, asked, async (start, now) => {
        const { approval, call } = await this.load(caller.tenant, word);
        const about = {
          correlationId: call.row.correlation_id,
          runId: call.row.run_id,
          sessionId: call.row.session_id,
        };
        const draft = start(about);
        const status = this.vote({ caller, word, approval, call, draft, now });
        if (status === null) throw new AlreadyDone(await this.firstCommand(caller, approval));
        ground = status === 'granted' ? await this.groundOf(approval, call) : undefined;
        if (ground?.verdict === 'changed') throw groundChanged(ground, approvalId);
        return draft;
      });
      return { approvalId, commandId: acknowledged.commandId };
    } catch (error) {
      if (error instanceof CountersignError)
        await this.lostGround.follow(error.code, caller.tenant, approvalId, ground);
      throw error;
    }
  }

  private async load(tenant: string, word: Decision): Promise<{ approval: LoadedApproval; call: LoadedCall }> {
    const approval = await loadApproval(this.desk.read, tenant, word.approvalId);
    const call = approval === null ? null : await loadCall(this.desk.read, tenant, approval.row.tool_call_id);
    if (approval === null || call === null)
      throw new CountersignError('approval_not_found', 'there is no such approval');
    if (word.expectedVersion !== null && word.expectedVersion !== approval.row.version) {
      throw new CountersignError('version_stale', 'the approval has changed since it was read', {
        approvalId: word.approvalId,
        recordedDecision: approval.row.status,
      });
    }
    return { approval, call };
  }

  /** What the approval will be; null when this person has said the same before: nothing is recorded. */
  private vote({ caller, word, approval: loaded, call: loadedCall, draft, now }: Voting): ApprovalStatus | null {
    const call = new CallInUnit(draft, loadedCall);
    const approval = new ApprovalInUnit(draft, loaded, call.refs).do({
      kind: 'vote',
      voter: {
        sub: caller.actor.sub,
        // Without the role a person is in no group that may decide.
        groups: caller.roles.includes('approver') ? caller.groups : [],
        isAgent: caller.isAgent,
      },
      decision: word.decision,
      consentDigest: word.digest,
      reason: word.reason,
      now,
    });
    if (!approval.changed) return null;
    // A vote that could lead to sending rests on what was asked: the same definition, the same policy, an open run.
    if (word.decision === 'allow') this.guardConsent(draft, loaded, loadedCall);
    draft.guard(runTakesDecisions(loaded.row.run_id)).guard(stillToDecide(loaded.row.approval_id));
    const { state } = approval;
    if (state.status === 'granted') {
      const { executeBy, attempt } = state;
      call.do({ kind: 'authorize', authorization: { basis: 'approval', executeBy, attempt } });
    }
    if (state.status === 'denied') {
      const reasons = [word.reason === null ? 'denied by an approver' : `denied by an approver: ${word.reason}`];
      call.do({ kind: 'deny', denial: { basis: 'approval', reasons } });
    }
    return state.status;
  }

  /** Before a vote grants: what the call rests on is looked at once more. Undefined where it rests on nothing. */
  private async groundOf(approval: LoadedApproval, call: LoadedCall): Promise<Ground | undefined> {
    const capability = this.gate.bound(call.state);
    if (capability?.manifest.preconditions === undefined) return undefined;
    return this.judge.preconditions.groundOf(capability, await this.judge.open(call), call, approval);
  }

  /** The command by which this person said it first. */
  private async firstCommand(caller: Caller, { row, votes }: LoadedApproval): Promise<string | null> {
    const vote = votes.find(({ sub }) => sub === caller.actor.sub);
    const event = vote === undefined ? null : await this.desk.read.event(row.tenant, vote.event_id);
    return event?.envelope.commandId ?? null;
  }

  private guardConsent(draft: UnitDraft, { row }: LoadedApproval, call: LoadedCall): void {
    const details = { approvalId: row.approval_id };
    const capability = this.gate.bound(call.state);
    if (capability === undefined) {
      throw new CountersignError('capability_version_changed', 'what was asked about is no longer in force', details);
    }
    if (row.policy_revision !== this.judge.revision()) {
      throw new CountersignError(
        'policy_version_changed',
        'the policy has changed since the question was asked',
        details,
      );
    }
    draft.guard(this.gate.definitionGuard(capability)).guard(policyIsCurrent(row.policy_revision));
  }
}

function groundChanged({ broken }: Ground, approvalId: string): CountersignError {
  const problems = broken.map(({ title }) => `not as it was shown: ${title}`);
  return new CountersignError('precondition_changed', 'what the approval rested on has changed', {
    approvalId,
    problems,
  });
}

/** By the clock of the one who writes. */
function stillToDecide(approvalId: string): Guard {
  const where = { approval_id: approvalId, decide_by: { clock: 'after_now' } } as const;
  return { name: 'decide_by', table: 'approvals', where, expect: 'present' };
}

interface Voting {
  readonly caller: Caller;
  readonly word: Decision;
  readonly approval: LoadedApproval;
  readonly call: LoadedCall;
  readonly draft: UnitDraft;
  readonly now: string;
}
