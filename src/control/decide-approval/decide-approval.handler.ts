import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { ApprovalStatus } from '../../domain/approval/approval.state.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { Caller } from '../../identity/caller.js';
import { Judge } from '../../policy/judge.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall, type LoadedApproval, type LoadedCall } from '../../storage/units/load.js';
import { runTakesDecisions } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { groundIn, guardConsent, mustStillHold, stillToDecide } from '../approvals/consent-ground.js';
import { refusedIntent } from '../approvals/refused-intent.js';
import { speakerOf, type Speaker } from '../approvals/speaker.js';
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
    try {
      const acknowledged = await this.log.carryOut(caller, asked, async (start, now) => {
        const { approval, call } = await this.load(caller.tenant, word);
        const about = {
          correlationId: call.row.correlation_id,
          runId: call.row.run_id,
          sessionId: call.row.session_id,
        };
        const speaker = await speakerOf(this.desk.read, caller, now);
        const draft = start(about);
        const status = this.vote({ speaker, word, approval, call, draft, now });
        if (status === null) throw new AlreadyDone(await this.firstCommand(caller, approval));
        if (status === 'granted') await mustStillHold(approval, call, { gate: this.gate, judge: this.judge });
        return draft;
      });
      return { approvalId, commandId: acknowledged.commandId };
    } catch (error) {
      if (error instanceof CountersignError)
        await this.lostGround.follow(error.code, caller.tenant, approvalId, groundIn(error));
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
  private vote({ speaker, word, approval: loaded, call: loadedCall, draft, now }: Voting): ApprovalStatus | null {
    const call = new CallInUnit(draft, loadedCall);
    const approval = new ApprovalInUnit(draft, loaded, call.refs).do({
      kind: 'vote',
      voter: speaker.voter,
      decision: word.decision,
      consentDigest: word.digest,
      reason: word.reason,
      now,
    });
    if (!approval.changed) return null;
    // A vote that could lead to sending rests on what was asked: the same definition, the same policy, an open run.
    if (word.decision === 'allow') guardConsent(draft, loaded, loadedCall, { gate: this.gate, judge: this.judge });
    for (const guard of speaker.guards) draft.guard(guard);
    draft.guard(runTakesDecisions(loaded.row.run_id)).guard(stillToDecide(loaded.row.approval_id));
    const { state } = approval;
    if (state.status === 'granted') {
      const { executeBy, attempt } = state;
      call.do({ kind: 'authorize', authorization: { basis: 'approval', executeBy, attempt } });
    }
    if (state.status === 'denied') {
      const reasons = [word.reason === null ? 'denied by an approver' : `denied by an approver: ${word.reason}`];
      call.do({ kind: 'deny', denial: { basis: 'approval', reasons } });
      draft.write(refusedIntent(loadedCall, now));
    }
    return state.status;
  }

  /** The command by which this person said it first. */
  private async firstCommand(caller: Caller, { row, votes }: LoadedApproval): Promise<string | null> {
    const vote = votes.find(({ sub }) => sub === caller.actor.sub);
    const event = vote === undefined ? null : await this.desk.read.event(row.tenant, vote.event_id);
    return event?.envelope.commandId ?? null;
  }
}

interface Voting {
  readonly speaker: Speaker;
  readonly word: Decision;
  readonly approval: LoadedApproval;
  readonly call: LoadedCall;
  readonly draft: UnitDraft;
  readonly now: string;
}
