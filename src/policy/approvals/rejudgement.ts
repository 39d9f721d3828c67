import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import type { LoadedApproval, LoadedCall } from '../../storage/units/load.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { circumstancesOf } from '../facts/fact-reader.js';
import { Judge, mustBeAnAnswer } from '../judge.js';

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

  /** @throws GuardFailed when somebody else moved the call or the approval meanwhile. */
  async rejudge(
    approval: LoadedApproval,
    call: LoadedCall,
    reason: 'policy_changed' | 'capability_changed' | 'digest_mismatch',
  ): Promise<void> {
    const now = this.desk.now();
    const draft = this.desk.beginAbout(call.row, { lane: 'govern', causeKind: 'event', occurredAt: now });
    const invalidation = { reason, oldVersion: approval.row.policy_revision, newVersion: this.judge.revision() };
    const next = new CallInUnit(draft, call);
    new ApprovalInUnit(draft, approval, next.refs).do({ kind: 'invalidate', invalidation });
    if (call.state.status === 'authorized') next.do({ kind: 'withdraw', withdrawal: { reason } });
    const capability = reason === 'policy_changed' ? this.gate.bound(call.state) : undefined;
    if (capability === undefined) {
      next.do({ kind: 'close', closing: { reason: 'superseded' } });
      await this.desk.commit(draft);
      return;
    }
    const papers = await this.judge.open(call);
    const asked = { ...papers.request, approvals: {}, nowMs: Date.parse(now) };
    const { request, decision } = await this.judge.decide(asked, circumstancesOf(call));
    mustBeAnAnswer(decision);
    // Nothing is sent here, so a pause does not matter: the dispatch looks at it.
    draft
      .guard(this.gate.definitionGuard(capability))
      .guard(runIsOpen(call.row.run_id))
      .guard(this.judge.guard(decision));
    this.judge.record(draft, next, { ...papers, phase: 'propose', request, decision, capability, now });
    await this.desk.commit(draft);
  }
}
