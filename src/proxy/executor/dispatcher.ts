import { Injectable } from '@nestjs/common';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { capabilityIsActive, planDispatch } from '../../capabilities/dispatch-plan.js';
import type { Capability } from '../../capabilities/manifest.js';
import { PauseBoard } from '../../capabilities/pause-board.js';
import { Settings } from '../../config/settings.js';
import { approvalFacts } from '../../domain/approval/approval-progress.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { CaseFile, type Papers } from '../../policy/case-file.js';
import type { PolicyDecision, PolicyRequest } from '../../policy/core/policy-types.js';
import { recordDecision, recordJudgement, type Judged } from '../../policy/judgement.js';
import { policyIsCurrent } from '../../policy/policy-guard.js';
import { PolicyService } from '../../policy/policy.service.js';
import { Rejudgement } from '../../policy/approvals/rejudgement.js';
import { InstanceIdentity } from '../../storage/instance-identity.js';
import { Store } from '../../storage/store.js';
import { GuardFailed } from '../../storage/unit.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall, type LoadedApproval, type LoadedCall } from '../../storage/units/load.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import { UnitDraft } from '../../storage/units/unit-draft.js';
import { Clock } from '../../system/clock.js';
import { IdSource } from '../../system/id-source.js';
import { PROXY } from './call-recorder.js';

/** `dispatching`: the intent is durable and the feed tells the executor. `held`: nothing may be sent now, look again later. */
export type DispatchResult = 'dispatching' | 'closed' | 'held';

const TRIES_MAX = 3;

/**
 * Takes an authorized call to `dispatching`. Everything it rests on is looked at again at this moment: the policy with
 * the real approval facts, the definition, pauses, the run, both clocks. The approval is consumed in the unit that makes
 * the intent durable, so one consent starts at most one attempt.
 */
@Injectable()
export class Dispatcher {
  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly capabilities: CapabilityRegistry,
    private readonly pauses: PauseBoard,
    private readonly policy: PolicyService,
    private readonly caseFile: CaseFile,
    private readonly rejudgement: Rejudgement,
    private readonly instance: InstanceIdentity,
  ) {}

  /** @throws RecordTampered when the record of the call is not what was agreed to. */
  async dispatch(tenant: string, toolCallId: string): Promise<DispatchResult> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      try {
        return await this.tryOnce(tenant, toolCallId);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        if (error.guard === 'pauses') await this.pauses.reload();
        if (error.guard === 'run_open' || error.guard === 'capability') return 'held';
      }
    }
    return 'held';
  }

  private async tryOnce(tenant: string, toolCallId: string): Promise<DispatchResult> {
    const call = await loadCall(this.store.read, tenant, toolCallId);
    if (call === null || call.state.status !== 'authorized') return 'closed';
    const nowMs = this.clock.now();
    const now = new Date(nowMs).toISOString();
    if (now >= call.state.executeBy) return 'held'; // the expiry sweep closes it
    if (this.pauses.find(tenant, call.state.principal, call.state.capability) !== null) return 'held';
    const approval = await this.approvalOf(call);
    const capability = this.capabilities.get(call.state.capability);
    if (capability === undefined || capability.manifestDigest !== call.state.manifestDigest) {
      return this.definitionIsGone(call, approval);
    }
    const papers = await this.caseFile.open(call);
    const approvals = approval === null ? {} : approvalFacts(approval.state);
    const request = { ...papers.request, approvals, attempt: call.state.attempt, nowMs };
    const decision = await this.policy.decide(request);
    // An engine that fails says nothing about this call: it is not sent, and its authorization is not burnt either.
    if (decision.denyCode === 'engine_error') return 'held';
    const moment = { call, approval, capability, papers, request, decision, nowMs, now };
    return decision.outcome === 'allow' ? this.commitDispatch(moment) : this.withdraw(moment);
  }

  private async approvalOf(call: LoadedCall): Promise<LoadedApproval | null> {
    const { row, state } = call;
    if (state.status !== 'authorized' || state.basis !== 'approval' || row.approval_id === null) return null;
    return loadApproval(this.store.read, row.tenant, row.approval_id);
  }

  private async commitDispatch(moment: Moment): Promise<DispatchResult> {
    const { call, approval, capability, papers, decision, nowMs, now } = moment;
    const draft = this.begin(call, now)
      .guard(runIsOpen(call.row.run_id))
      .guard(this.pauses.guard())
      .guard(capabilityIsActive(capability))
      .guard(policyIsCurrent(decision.policyRevision));
    const next = new CallInUnit(draft, call);
    recordDecision(draft, next, this.judged(moment, 'dispatch'));
    const nonce = this.ids.next(ID_PREFIXES.attempt);
    if (approval !== null) {
      draft.guard({
        name: 'approval',
        table: 'approvals',
        where: {
          approval_id: approval.row.approval_id,
          status: { oneOf: ['granted'] },
          consent_digest: { oneOf: [approval.row.consent_digest] },
          execute_by: { clock: 'after_now' },
        },
        expect: 'present',
      });
      const consumption = { attempt: call.state.attempt, nonce };
      new ApprovalInUnit(draft, approval).do({ kind: 'consume', consumption, now });
    }
    const instance = this.instance.get();
    const dispatch = planDispatch(capability, next.state, { instance, nonce, target: papers.target, nowMs });
    next.do({ kind: 'dispatch', now, dispatch });
    await this.store.commit(draft.build());
    return 'dispatching';
  }

  /** The policy of this moment no longer allows it: the authorization is withdrawn and what it now wants is recorded. */
  private async withdraw(moment: Moment): Promise<DispatchResult> {
    const { call, approval, capability, decision, now } = moment;
    if (approval !== null && decision.outcome === 'requires_confirmation') {
      await this.rejudgement.rejudge(approval, call, 'policy_changed');
      return 'closed';
    }
    const draft = this.begin(call, now).guard(policyIsCurrent(decision.policyRevision));
    if (approval !== null) {
      new ApprovalInUnit(draft, approval).do({
        kind: 'invalidate',
        invalidation: { reason: 'policy_changed', oldVersion: approval.row.policy_revision, newVersion: decision.policyRevision },
      });
    }
    const next = new CallInUnit(draft, call);
    if (decision.outcome === 'deny') {
      recordDecision(draft, next, this.judged(moment, 'dispatch'));
      next.do({ kind: 'deny', denial: { basis: 'policy_at_dispatch', reasons: decision.reasons } });
    } else {
      draft.guard(runIsOpen(call.row.run_id)).guard(capabilityIsActive(capability));
      next.do({ kind: 'withdraw', withdrawal: { reason: 'policy_changed' } });
      recordJudgement(draft, next, this.judged(moment, 'propose'), this.settings);
    }
    await this.store.commit(draft.build());
    return 'closed';
  }

  private async definitionIsGone(call: LoadedCall, approval: LoadedApproval | null): Promise<DispatchResult> {
    if (approval !== null) {
      await this.rejudgement.rejudge(approval, call, 'capability_changed');
      return 'closed';
    }
    const draft = this.begin(call, new Date(this.clock.now()).toISOString());
    new CallInUnit(draft, call).do({ kind: 'close', closing: { reason: 'superseded' } });
    await this.store.commit(draft.build());
    return 'closed';
  }

  private judged(moment: Moment, phase: Judged['phase']): Judged {
    const { papers, request, decision, capability, now } = moment;
    return {
      phase,
      request,
      decision,
      capability,
      args: papers.args,
      redacted: papers.redacted,
      target: papers.target,
      requesterSubjects: papers.requesterSubjects,
      agentReason: papers.agentReason,
      now,
    };
  }

  private begin(call: LoadedCall, now: string): UnitDraft {
    return new UnitDraft(this.ids, {
      tenant: call.row.tenant,
      lane: 'settle',
      actor: PROXY,
      correlationId: call.row.tool_call_id,
      runId: call.row.run_id,
      sessionId: call.row.session_id,
      occurredAt: now,
      causationId: call.row.last_event_id,
      causeKind: 'event',
    });
  }
}

interface Moment {
  readonly call: LoadedCall;
  readonly approval: LoadedApproval | null;
  readonly capability: Capability;
  readonly papers: Papers;
  readonly request: PolicyRequest;
  readonly decision: PolicyDecision;
  readonly nowMs: number;
  readonly now: string;
}
