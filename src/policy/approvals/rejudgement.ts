import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import type { LoadedApproval, LoadedCall } from '../../storage/units/load.js';
import { runTakesDecisions } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { circumstancesOf } from '../facts/fact-reader.js';
import { Judge, mustBeAnAnswer } from '../judge.js';
import { needsReadings, type Ground } from '../preconditions/preconditions.js';

/**
 * What becomes of a question when its ground has shifted: the approval is invalidated with the reason, and the call is
 * judged anew by the policy in force. A call bound to a definition that is gone ends; it is never attached to another.
 */
@Injectable()
export class Rejudgement {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
  ) {}

  /**
   * `ground` is what was found changed; the new question shows it.
   *
   * @throws GuardFailed when somebody else moved the call or the approval meanwhile; `precondition_unavailable`
   */
  async rejudge(
    approval: LoadedApproval,
    call: LoadedCall,
    reason: 'policy_changed' | 'capability_changed' | 'digest_mismatch' | 'precondition_changed',
    ground?: Ground,
  ): Promise<void> {
    const now = this.desk.now();
    const draft = this.desk.beginAbout(call.row, { lane: 'govern', causeKind: 'event', occurredAt: now });
    const invalidation = {
      reason,
      oldVersion: approval.row.policy_revision,
      newVersion: this.judge.revision(),
      ...namesOf(ground),
    };
    const next = new CallInUnit(draft, call);
    new ApprovalInUnit(draft, approval, next.refs).do({ kind: 'invalidate', invalidation });
    if (call.state.status === 'authorized') next.do({ kind: 'withdraw', withdrawal: { reason } });
    if (reason === 'policy_changed' || reason === 'precondition_changed') {
      await this.judgeAnew(draft, next, call, now, ground);
    } else {
      next.do({ kind: 'close', closing: { reason: 'superseded' } });
    }
    await this.desk.commit(draft);
  }

  /**
   * Puts what the policy in force says of a call that has lost its ground into a unit in the making: an authorization, a
   * denial, another question. A call bound to a definition that is gone ends. `ground`: what was just read, if anything was.
   *
   * @throws CountersignError `engine_error`, `precondition_unavailable`
   */
  async judgeAnew(draft: UnitDraft, next: CallInUnit, call: LoadedCall, now: string, ground?: Ground): Promise<void> {
    const capability = this.gate.bound(call.state);
    if (capability === undefined) {
      next.do({ kind: 'close', closing: { reason: 'superseded' } });
      return;
    }
    const papers = await this.judge.open(call);
    const asked = { ...papers.request, approvals: {}, nowMs: Date.parse(now) };
    const { request, decision } = await this.judge.decide(asked, circumstancesOf(call));
    mustBeAnAnswer(decision);
    const readings = needsReadings(capability, decision)
      ? (ground?.readings ?? (await this.judge.preconditions.read(capability, papers)))
      : undefined;
    // Nothing is sent here, so neither a pause nor a run that rests matters: the dispatch looks at both.
    draft
      .guard(this.gate.definitionGuard(capability))
      .guard(runTakesDecisions(call.row.run_id))
      .guard(this.judge.guard(decision));
    this.judge.record(draft, next, { ...papers, phase: 'propose', request, decision, capability, now, readings });
  }
}

const namesOf = (ground: Ground | undefined): { readonly preconditions?: readonly string[] } =>
  ground === undefined ? {} : { preconditions: ground.broken.map(({ name }) => name) };
