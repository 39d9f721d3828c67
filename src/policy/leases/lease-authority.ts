import { Injectable } from '@nestjs/common';
import { QUERY_SCOPE } from '../../capabilities/lease-rules.js';
import type { Capability, ExecutionEnvironment, LeaseOffer } from '../../capabilities/manifest.js';
import { Settings } from '../../config/settings.js';
import type { EventPayload } from '../../domain/events/catalogue.js';
import { timeAt } from '../../domain/events/instant.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { LeaseKind } from '../../domain/lease/lease.state.js';
import type { CallInUnit } from '../../storage/units/call-in-unit.js';
import { LeaseInUnit, type LoadedLease } from '../../storage/units/lease-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { planLease, type LeasePlan } from '../core/lease-plan.js';
import type { PolicyDecision } from '../core/policy-types.js';
import { LeaseTokens } from './lease-tokens.js';

/** How long after a limit was reached nobody tries to dispatch at once. */
const FULL_FOR_MS = 1000;

/** A look-up is over long before. */
const PROBE_TTL_MS = 60_000;

/** What is to be lent, or why nothing may be; `none`: the capability needs no lease. */
export type Lending =
  | { readonly kind: 'none' }
  | { readonly kind: 'lend'; readonly plan: LeasePlan; readonly terms: LeaseGround }
  | { readonly kind: 'refused'; readonly code: 'lease_scope_exceeded' | 'lease_expired'; readonly terms: LeaseGround };

/** What the manifest says of leases, all of it. */
interface LeaseGround {
  readonly offer: LeaseOffer;
  readonly execution: ExecutionEnvironment;
  readonly policyRevision: string;
}

/** When the lease would be used; milliseconds since 1970, and ISO 8601. */
export interface LeaseMoment {
  readonly nowMs: number;
  readonly executeBy: string;
  /** Of the attempt. */
  readonly deadline: string;
}

const NONE: Lending = { kind: 'none' };

/** The one that lends: it decides what a call may be lent and writes it into the unit that makes its dispatch durable. */
@Injectable()
export class LeaseAuthority {
  private readonly fullUntil = new Map<string, number>();

  constructor(
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
    private readonly tokens: LeaseTokens,
  ) {}

  plan({ manifest }: Capability, decision: PolicyDecision, { nowMs, executeBy, deadline }: LeaseMoment): Lending {
    const { lease: offer, execution, lateResult } = manifest;
    if (offer === undefined || execution === undefined) return NONE;
    const planned = planLease(
      {
        ...offer,
        nowMs,
        executeByMs: Date.parse(executeBy),
        neededUntilMs: lateResult === 'none' ? Date.parse(deadline) : null,
      },
      decision.lease ?? null,
    );
    const terms = { offer, execution, policyRevision: decision.policyRevision };
    return planned.ok ? { kind: 'lend', plan: planned.plan, terms } : { kind: 'refused', code: planned.code, terms };
  }

  /**
   * Issues the lease into the unit that will dispatch. Where the proxy itself uses it, the same unit burns it: sending
   * under it a second time finds it used.
   */
  issue(draft: UnitDraft, call: CallInUnit, { plan, terms }: Extract<Lending, { kind: 'lend' }>, nowMs: number): void {
    const leaseId = this.desk.newId(ID_PREFIXES.lease);
    const now = timeAt(nowMs);
    call.underLease(leaseId);
    const grant = {
      ...this.grantOf('act', call, terms, now),
      credentialScope: plan.scopes,
      maxUses: plan.maxUses,
      expiresAt: timeAt(plan.expiresAtMs),
      renewableUntil: timeAt(plan.renewableUntilMs),
    };
    const issue = terms.offer.mode === 'token' ? { ...grant, kid: this.tokens.currentKid } : { ...grant, usedAt: now };
    this.inUnit(draft, call, leaseId).do({ kind: 'issue', issue }, this.settings.leases);
  }

  /** L2: on record, and of no use to anybody. */
  refuse(
    draft: UnitDraft,
    call: CallInUnit,
    { code, terms }: Extract<Lending, { kind: 'refused' }>,
    nowMs: number,
  ): void {
    const now = timeAt(nowMs);
    const asked = {
      ...this.grantOf('act', call, terms, now),
      credentialScope: terms.offer.scopes,
      maxUses: terms.offer.maxUses,
      expiresAt: now,
      renewableUntil: now,
    };
    this.inUnit(draft, call, this.desk.newId(ID_PREFIXES.lease)).do({ kind: 'refuse', refusal: { ...asked, code } });
  }

  /** A lease for one read-only look-up; `ownCredential`: the probe has a credential of its own in the settings. */
  issueProbe(
    draft: UnitDraft,
    call: CallInUnit,
    terms: Omit<LeaseGround, 'policyRevision'>,
    { nowMs, ownCredential }: { readonly nowMs: number; readonly ownCredential: boolean },
  ): LoadedLease {
    const now = timeAt(nowMs);
    const asToken = terms.offer.mode === 'token' && !ownCredential;
    const mode = terms.offer.mode === 'token' && ownCredential ? 'inject' : terms.offer.mode;
    const { dataAccessPolicy } = terms.execution;
    const issue: EventPayload<'lease.issued'> = {
      ...this.grantOf('probe', call, { ...terms, policyRevision: null }, now),
      mode,
      credentialScope: [QUERY_SCOPE],
      dataAccessPolicy: { ...dataAccessPolicy, access: 'read' },
      maxUses: 1,
      expiresAt: timeAt(nowMs + PROBE_TTL_MS),
      renewableUntil: timeAt(nowMs + PROBE_TTL_MS),
      ...(asToken ? { kid: this.tokens.currentKid } : { usedAt: now }),
    };
    return this.inUnit(draft, call, this.desk.newId(ID_PREFIXES.lease)).do({ kind: 'issue', issue }).after;
  }

  /** After a unit failed because as many leases are live as may be: for a moment nothing is dispatched at once. */
  noteFull(tenant: string): void {
    this.fullUntil.set(tenant, this.desk.clock.now() + FULL_FOR_MS);
  }

  isFull(tenant: string): boolean {
    const until = this.fullUntil.get(tenant);
    if (until === undefined) return false;
    if (this.desk.clock.now() < until) return true;
    this.fullUntil.delete(tenant);
    return false;
  }

  private grantOf(
    kind: LeaseKind,
    { state }: CallInUnit,
    {
      offer,
      execution,
      policyRevision,
    }: Omit<LeaseGround, 'policyRevision'> & { readonly policyRevision: string | null },
    now: string,
  ) {
    return {
      kind,
      mode: offer.mode,
      attempt: state.attempt,
      principal: { ...state.principal },
      capability: state.capability,
      capabilityVersion: state.capabilityVersion,
      argsDigest: state.argsDigest,
      executionEnvironmentId: execution.environmentId,
      sandboxTrustLevel: execution.sandboxTrustLevel,
      networkPolicy: { ...execution.networkPolicy },
      dataAccessPolicy: { ...execution.dataAccessPolicy },
      audience: offer.audience,
      policyRevision,
      ownerEpoch: this.desk.instance.epoch,
      issuedAt: now,
    };
  }

  private inUnit(draft: UnitDraft, call: CallInUnit, leaseId: string): LeaseInUnit {
    const { facts } = call.after;
    const now = draft.context.occurredAt;
    return new LeaseInUnit(
      draft,
      {
        state: null,
        facts: {
          lease_id: leaseId,
          tenant: facts.tenant,
          tool_call_id: facts.tool_call_id,
          run_id: facts.run_id,
          session_id: facts.session_id,
          correlation_id: facts.correlation_id,
          approval_id: facts.approval_id,
          policy_decision_id: facts.policy_decision_id,
          version: 0,
          last_event_id: '',
          created_at: now,
          updated_at: now,
        },
      },
      { ...call.refs, credentialLeaseId: leaseId },
    );
  }
}
