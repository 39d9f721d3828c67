import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { planDispatch } from '../../capabilities/dispatch-plan.js';
import type { Capability } from '../../capabilities/manifest.js';
import { approvalFacts } from '../../domain/approval/approval-progress.js';
import { consentDigest } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { ToolCallIn } from '../../domain/tool-call/tool-call.state.js';
import { Rejudgement } from '../../policy/approvals/rejudgement.js';
import { besides, type StandingConsent } from '../../policy/grants/grant-book.js';
import { reasonsOf, snapshotOf } from '../../policy/core/precondition.js';
import { circumstancesOf } from '../../policy/facts/fact-reader.js';
import type { Judged } from '../../policy/judged.js';
import { LeaseAuthority, type Lending } from '../../policy/leases/lease-authority.js';
import { Judge } from '../../policy/judge.js';
import { recordDecision } from '../../policy/judgement.js';
import { needsReadings, type Ground } from '../../policy/preconditions/preconditions.js';
import { GuardFailed, type Guard } from '../../storage/unit.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { isLeaseLimit } from '../../storage/units/lease-in-unit.js';
import { loadApproval, loadCall, type LoadedApproval, type LoadedCall } from '../../storage/units/load.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';

/** `dispatching`: the intent is durable and the feed tells the executor. `held`: nothing may be sent now, look again later. */
export type DispatchResult = 'dispatching' | 'closed' | 'held';

type Authorized = LoadedCall & { readonly state: ToolCallIn<'authorized'> };

const TRIES_MAX = 3;

/**
 * Takes an authorized call to `dispatching`. Everything it rests on is looked at again at this moment: the policy with
 * the real approval facts, the definition, pauses, the run, both clocks. The approval is consumed in the unit that makes
 * the intent durable, so one consent starts at most one attempt.
 */
@Injectable()
export class Dispatcher {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    private readonly rejudgement: Rejudgement,
    private readonly leases: LeaseAuthority,
  ) {}

  /** @throws RecordTampered when the record of the call is not what was agreed to. */
  async dispatch(tenant: string, toolCallId: string): Promise<DispatchResult> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      try {
        return await this.tryOnce(tenant, toolCallId);
      } catch (error) {
        // What it rests on cannot be told now, so nothing is sent; the sweep comes again until its time is over.
        if (isUnreadable(error)) return 'held';
        if (!(error instanceof GuardFailed)) throw error;
        if (error.guard === 'pauses') await this.gate.lookAgain();
        if (error.guard === 'run_open' || error.guard === 'capability' || isLeaseLimit(error.guard)) return 'held';
      }
    }
    return 'held';
  }

  /** `ground`: what a first look at everything has read of the world, where the call rests on it. */
  private async tryOnce(tenant: string, toolCallId: string, ground: Ground | null = null): Promise<DispatchResult> {
    const call = await loadCall(this.desk.read, tenant, toolCallId);
    if (call === null || !isAuthorized(call)) return 'closed';
    const nowMs = this.desk.clock.now();
    const now = new Date(nowMs).toISOString();
    if (now >= call.state.executeBy) return 'held'; // the expiry sweep closes it
    if (this.gate.pauseFor(tenant, call.state.principal, call.state.capability) !== null) return 'held';
    const approval = await this.approvalOf(call);
    const capability = this.gate.bound(call.state);
    if (capability === undefined) return this.definitionIsGone(call, approval);
    await this.judge.verify(call, approval);
    const papers = await this.judge.open(call);
    if (approval !== null && !isConsentTo(call, approval, papers.target)) {
      await this.rejudgement.rejudge(approval, call, 'digest_mismatch');
      return 'closed';
    }
    // A call that rests on no standing grant costs no read where nobody has given any.
    const { grants } = this.judge;
    const standing = grants.isEmpty ? null : await grants.consentForRecorded(call, papers, now);
    const voted = approval === null ? {} : approvalFacts(approval.state);
    const approvals = standing === null ? voted : besides(voted, standing.facts);
    const emergency = approval !== null && approval.state.breakGlass !== null ? { breakGlass: true } : {};
    const asked = { ...papers.request, approvals, attempt: call.state.attempt, nowMs, ...emergency };
    const { request, decision } = await this.judge.decide(asked, circumstancesOf(call));
    // An engine that fails says nothing about this call: it is not sent, and its authorization is not burnt either.
    if (decision.denyCode === 'engine_error') return 'held';
    const judged = { ...papers, phase: 'dispatch' as const, request, decision, capability, now };
    const moment = { call, approval, capability, judged, standing, nowMs };
    if (decision.outcome !== 'allow') return this.withdraw(moment);
    if (capability.manifest.preconditions === undefined) return this.commitDispatch(moment, null);
    return ground === null ? this.lookAtTheWorld(moment) : this.sendOn(moment, ground);
  }

  private async approvalOf({ row, state }: Authorized): Promise<LoadedApproval | null> {
    if (state.basis !== 'approval' || row.approval_id === null) return null;
    return loadApproval(this.desk.read, row.tenant, row.approval_id);
  }

  /** The policy would let it go: now what it rests on is read, and then everything is looked at again, which takes no time. */
  private async lookAtTheWorld({ call, approval, capability, judged }: Moment): Promise<DispatchResult> {
    const ground = await this.judge.preconditions.groundOf(capability, judged, call, approval);
    if (ground.verdict === 'stands') return this.tryOnce(call.row.tenant, call.row.tool_call_id, ground);
    if (approval !== null) {
      await this.rejudgement.rejudge(approval, call, 'precondition_changed', ground);
      return 'closed';
    }
    const draft = this.begin(call, this.desk.now()).guard(this.desk.ownerGuard());
    const closing = { reason: 'precondition_failed', reasons: reasonsOf(ground.broken) } as const;
    new CallInUnit(draft, call).do({ kind: 'close', closing });
    await this.desk.commit(draft);
    return 'closed';
  }

  private async sendOn(moment: Moment, ground: Ground): Promise<DispatchResult> {
    // Whatever moved the call while the world was read, its ground was of another question perhaps.
    return ground.callVersion === moment.call.row.version ? this.commitDispatch(moment, ground) : 'held';
  }

  private async commitDispatch(moment: Moment, ground: Ground | null): Promise<DispatchResult> {
    const { call, approval, capability, judged, standing, nowMs } = moment;
    const { now } = judged;
    const nonce = this.desk.newId(ID_PREFIXES.attempt);
    const { instance } = this.desk;
    const dispatch = planDispatch(capability, call.state, { instance, nonce, target: judged.target, nowMs });
    const when = { nowMs, executeBy: call.state.executeBy, deadline: dispatch.deadline };
    const lending = this.leases.plan(capability, judged.decision, when);
    if (lending.kind === 'refused') return this.refuseLease(moment, lending);
    const draft = this.begin(call, now);
    this.guard(draft, call, capability, judged);
    draft.guard(stillAuthorized(call));
    if (standing !== null) for (const guard of standing.guards) draft.guard(guard);
    const next = new CallInUnit(draft, call);
    recordDecision(draft, next, judged);
    if (approval !== null) {
      draft.guard(consentStands(call, approval));
      const consumption = { attempt: call.state.attempt, nonce };
      new ApprovalInUnit(draft, approval, next.refs).do({ kind: 'consume', consumption, now });
    }
    if (lending.kind === 'lend') this.leases.issue(draft, next, lending, nowMs);
    next.do({ kind: 'dispatch', now, dispatch: ground === null ? dispatch : withEvidence(dispatch, ground) });
    await this.desk.commit(draft);
    return 'dispatching';
  }

  /** L2, E4: what it would need may not be lent. Nothing was sent, and the consent, if there was one, was not used. */
  private async refuseLease(
    { call, approval, capability, judged, nowMs }: Moment,
    lending: Extract<Lending, { kind: 'refused' }>,
  ): Promise<DispatchResult> {
    const draft = this.begin(call, judged.now);
    this.guard(draft, call, capability, judged);
    const next = new CallInUnit(draft, call);
    recordDecision(draft, next, judged);
    this.leases.refuse(draft, next, lending, nowMs);
    if (approval !== null) {
      new ApprovalInUnit(draft, approval, next.refs).do({ kind: 'close', closing: { reason: 'superseded' } });
    }
    next.do({ kind: 'close', closing: { reason: 'lease_refused' } });
    await this.desk.commit(draft);
    return 'closed';
  }

  /** The policy of this moment no longer allows it: the authorization is withdrawn and what it now wants is recorded. */
  private async withdraw({ call, approval, capability, judged }: Moment): Promise<DispatchResult> {
    const { decision, now } = judged;
    if (approval !== null && decision.outcome === 'requires_confirmation') {
      await this.rejudgement.rejudge(approval, call, 'policy_changed');
      return 'closed';
    }
    const readings = needsReadings(capability, decision)
      ? await this.judge.preconditions.read(capability, judged)
      : undefined;
    const draft = this.begin(call, now);
    const next = new CallInUnit(draft, call);
    if (approval !== null) {
      const { policy_revision: oldVersion } = approval.row;
      const invalidation = { reason: 'policy_changed', oldVersion, newVersion: decision.policyRevision } as const;
      new ApprovalInUnit(draft, approval, next.refs).do({ kind: 'invalidate', invalidation });
    }
    if (decision.outcome === 'deny') {
      draft.guard(this.judge.guard(decision));
      recordDecision(draft, next, judged);
      next.do({ kind: 'deny', denial: { basis: 'policy_at_dispatch', reasons: decision.reasons } });
    } else {
      this.guard(draft, call, capability, judged);
      next.do({ kind: 'withdraw', withdrawal: { reason: 'policy_changed' } });
      this.judge.record(draft, next, { ...judged, phase: 'propose', readings });
    }
    await this.desk.commit(draft);
    return 'closed';
  }

  private async definitionIsGone(call: LoadedCall, approval: LoadedApproval | null): Promise<DispatchResult> {
    if (approval !== null) {
      await this.rejudgement.rejudge(approval, call, 'capability_changed');
      return 'closed';
    }
    const draft = this.begin(call, this.desk.now());
    new CallInUnit(draft, call).do({ kind: 'close', closing: { reason: 'superseded' } });
    await this.desk.commit(draft);
    return 'closed';
  }

  private guard(draft: UnitDraft, call: LoadedCall, capability: Capability, judged: Judged): void {
    for (const guard of this.gate.guards(capability, call.row.tenant, call.state.principal)) draft.guard(guard);
    draft
      .guard(this.desk.ownerGuard())
      .guard(runIsOpen(call.row.run_id))
      .guard(this.judge.guard(judged.decision, judged.request));
  }

  private begin(call: LoadedCall, now: string): UnitDraft {
    return this.desk.beginAbout(call.row, { lane: 'settle', causeKind: 'event', occurredAt: now });
  }
}

/** Granted, for exactly what was shown, and its time is not over by the clock of the one who writes. */
function consentStands(call: LoadedCall, { row }: LoadedApproval): Guard {
  return {
    name: 'approval',
    table: 'approvals',
    where: {
      approval_id: row.approval_id,
      tool_call_id: call.row.tool_call_id,
      attempt: call.state.attempt,
      args_digest: call.state.argsDigest,
      status: 'granted',
      consent_digest: row.consent_digest,
      execute_by: { clock: 'after_now' },
    },
    expect: 'present',
  };
}

/** The authorization's own time is not over by the clock of the one who writes. */
function stillAuthorized({ row }: LoadedCall): Guard {
  const where = { tool_call_id: row.tool_call_id, execute_by: { clock: 'after_now' } } as const;
  return { name: 'execute_by', table: 'tool_calls', where, expect: 'present' };
}

/** What was shown and allowed is, value for value, what would be sent now. */
function isConsentTo({ row, state }: Authorized, approval: LoadedApproval, target: JsonObject): boolean {
  const { policyRevision, decideBy, executeByLatest } = approval.state;
  const digest = consentDigest({
    toolCallId: row.tool_call_id,
    attempt: state.attempt,
    tenant: row.tenant,
    principal: state.principal,
    capability: `${state.capability}@${state.capabilityVersion}`,
    manifestDigest: state.manifestDigest,
    argsDigest: state.argsDigest,
    target,
    risk: state.risk,
    policyRevision,
    decideBy,
    executeBy: executeByLatest,
  });
  return digest === approval.state.consentDigest;
}

/** Proof of the fresh reading that the attempt rests on. */
function withEvidence<D>(dispatch: D, { readings }: Ground): D & { readonly preconditions: readonly JsonObject[] } {
  return { ...dispatch, preconditions: snapshotOf(readings) };
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof CountersignError && error.code === 'precondition_unavailable';

const isAuthorized = (call: LoadedCall): call is Authorized => call.state.status === 'authorized';

interface Moment {
  readonly call: Authorized;
  readonly approval: LoadedApproval | null;
  readonly capability: Capability;
  readonly judged: Judged;
  readonly standing: StandingConsent | null;
  readonly nowMs: number;
}
