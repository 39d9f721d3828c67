import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { planDispatch } from '../../capabilities/dispatch-plan.js';
import { takesLateEvidence, type Capability } from '../../capabilities/manifest.js';
import { downstreamKeyFor } from '../../domain/digests/digests.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { Caller } from '../../identity/caller.js';
import { failing, type Readings } from '../../policy/core/precondition.js';
import type { PolicyDecision, PolicyRequest } from '../../policy/core/policy-types.js';
import type { StandingConsent } from '../../policy/grants/grant-book.js';
import { LeaseAuthority } from '../../policy/leases/lease-authority.js';
import { Judge } from '../../policy/judge.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { openIntent } from '../../storage/units/call-rows.js';
import type { LoadedCall } from '../../storage/units/load.js';
import { isLeaseLimit } from '../../storage/units/lease-in-unit.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { requestersOf, supersede } from '../approvals/edited-proposal.js';
import type { Intent } from './intent-reader.js';
import type { Proposal } from './propose-tool-call.command.js';
import { RunDirectory, type RunPlace } from './run-directory.js';

/** The caller's word for the intent, else the one its judgement began, else the call's own. */
function intentOf({ proposal, reasoning }: JudgedProposal, toolCallId: string): string {
  return proposal.intentId ?? reasoning?.correlationId ?? toolCallId;
}

/** Present only where an outcome will be verified, so that an ordinary proposal is no byte longer. */
function criteriaOf({ manifest: { success } }: Capability): { readonly successCriteria?: string } {
  return success === undefined ? {} : { successCriteria: `${success.criteria}@${success.version}` };
}

/** What a recorded judgement gives to the calls that name it: their cause, and the intent they belong to. */
export interface Reasoning {
  readonly eventId: string;
  readonly correlationId: string;
}

/** Everything that was decided about a proposal. */
export interface JudgedProposal {
  readonly caller: Caller;
  readonly proposal: Proposal;
  readonly intent: Intent;
  readonly place: RunPlace;
  /** The judgement that the proposal rests on; null when it names none. */
  readonly reasoning: Reasoning | null;
  /** 0, or the next number when the caller and the policy want an identical intent beside an open one. */
  readonly ordinal: number;
  readonly request: PolicyRequest;
  readonly decision: PolicyDecision;
  /** What the call rests on, where people are about to be asked; undefined where it rests on nothing. */
  readonly readings?: Readings | undefined;
  /** Standing allows that the decision could read; null: there were none. */
  readonly standing: StandingConsent | null;
  readonly nowMs: number;
}

export interface PreparedProposal {
  readonly toolCallId: string;
  readonly draft: UnitDraft;
  /** Gives back what was reserved, when the unit did not become true. */
  readonly abandon: () => void;
}

/** Builds the unit of a proposal: the call, the judgement, and, where nothing stands in the way, the dispatch as well. */
@Injectable()
export class ProposalUnits {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    readonly runs: RunDirectory,
    private readonly leases: LeaseAuthority,
  ) {}

  prepare(judged: JudgedProposal): PreparedProposal {
    const { intent, place, nowMs, decision } = judged;
    const now = new Date(nowMs).toISOString();
    const toolCallId = this.desk.newId(ID_PREFIXES.toolCall);
    const draft = this.begin(judged, toolCallId, now);
    if (place.fresh) this.runs.openIn(draft, judged.caller.tenant, place, intent, now);
    else draft.guard(runIsOpen(place.runId));
    for (const guard of this.gate.guards(intent.capability, judged.caller.tenant, intent.principal)) draft.guard(guard);
    draft.guard(this.judge.guard(decision, judged.request));
    if (judged.standing !== null) for (const guard of judged.standing.guards) draft.guard(guard);
    const call = this.open(draft, judged, toolCallId, now);
    const { compensates, edits } = judged.proposal;
    if (edits !== undefined) supersede(draft, edits, toolCallId, now);
    if (compensates !== undefined) linkToOriginal(draft, compensates, toolCallId);
    this.claim(draft, judged, call, now);
    this.judge.record(draft, call, {
      phase: 'propose',
      request: judged.request,
      decision,
      capability: intent.capability,
      args: intent.args,
      redacted: intent.redacted,
      target: intent.target,
      requesterSubjects: requestersOf(judged.caller, judged.proposal),
      agentReason: judged.proposal.reason,
      now,
      readings: judged.readings,
    });
    const reserved = mayGoAtOnce(call, intent.capability) && this.dispatchAtOnce(draft, judged, call, now);
    if (reserved) draft.guard(this.desk.ownerGuard());
    return {
      toolCallId,
      draft,
      abandon: () => {
        if (reserved) this.gate.slots.cancel(toolCallId);
      },
    };
  }

  private begin(judged: JudgedProposal, toolCallId: string, now: string): UnitDraft {
    const { caller, place, reasoning } = judged;
    return this.desk.begin({
      tenant: caller.tenant,
      lane: 'admit',
      actor: judged.proposal.edits?.editor.actor ?? caller.actor,
      correlationId: intentOf(judged, toolCallId),
      runId: place.runId,
      sessionId: place.sessionId,
      occurredAt: now,
      causationId: reasoning?.eventId ?? null,
      causeKind: reasoning === null ? 'external' : 'event',
    });
  }

  private open(draft: UnitDraft, judged: JudgedProposal, toolCallId: string, now: string): CallInUnit {
    const { caller, proposal, intent, place } = judged;
    const { manifest } = intent.capability;
    const facts = {
      tool_call_id: toolCallId,
      tenant: caller.tenant,
      run_id: place.runId,
      session_id: place.sessionId,
      turn_id: proposal.turnId,
      call_id: proposal.callId,
      correlation_id: intentOf(judged, toolCallId),
      reasoning_object_id: proposal.reasoningObjectId,
      skill_id: proposal.skillId,
      version: 0,
      policy_decision_id: null,
      policy_revision: null,
      approval_id: null,
      lease_id: null,
      proposed_event_id: '',
      decided_event_id: null,
      settled_event_id: null,
      resolution_event_id: null,
      last_event_id: '',
      created_at: now,
      updated_at: now,
    };
    return new CallInUnit(draft, { state: null, facts }).do(
      {
        kind: 'propose',
        proposal: {
          capability: manifest.name,
          capabilityVersion: manifest.version,
          manifestDigest: intent.capability.manifestDigest,
          effect: manifest.effect,
          risk: manifest.risk,
          principal: { ...intent.principal },
          arguments: intent.args,
          argsDigest: intent.argsDigest,
          intentDigest: intent.intentDigest,
          target: intent.target,
          downstreamKey: downstreamKeyFor(toolCallId, manifest.idempotency.keyLengthMax),
          idempotencyKey: intent.key,
          callId: proposal.callId,
          intentId: proposal.intentId,
          reason: proposal.reason,
          executeBefore: proposal.executeBefore,
          allowDuplicateIntent: proposal.allowDuplicateIntent ? true : null,
          redacted: intent.redacted,
          requesterSubjects: requestersOf(caller, proposal),
          ...(proposal.compensates === undefined
            ? {}
            : { compensatesToolCallId: proposal.compensates.row.tool_call_id }),
          ...(proposal.edits === undefined ? {} : { supersedesToolCallId: proposal.edits.original.row.tool_call_id }),
          ...criteriaOf(intent.capability),
        },
      },
      { capabilityId: intent.capability.id },
    );
  }

  /** The unique rows that make a repeat recognisable: the key for ever, the intent while it is open, the callId. */
  private claim(draft: UnitDraft, judged: JudgedProposal, call: CallInUnit, now: string): void {
    const { caller, proposal, intent, place } = judged;
    const scope = { tenant: caller.tenant, toolCallId: call.toolCallId, principal: intent.principalKey, now };
    const common = { tool_call_id: call.toolCallId, intent_digest: intent.intentDigest };
    if (intent.keyHash !== null) {
      const row = {
        tenant: caller.tenant,
        principal: intent.principalKey,
        capability: intent.capability.manifest.name,
        key_hash: intent.keyHash,
        created_at: now,
        ...common,
      };
      draft.write({ op: 'insert', table: 'idempotency', row, takenGuard: 'idempotency' });
    }
    if (intent.capability.manifest.effect !== 'read_only' && !isRefused(judged)) {
      draft.write(openIntent(scope, call.state, judged.ordinal));
    }
    if (takesLateEvidence(intent.capability)) {
      const row = { downstream_key: call.state.downstreamKey, tenant: caller.tenant, tool_call_id: call.toolCallId };
      draft.write({ op: 'put', table: 'late_keys', row });
    }
    if (proposal.callId !== null && proposal.turnId !== null) {
      const row = {
        run_id: place.runId,
        turn_id: proposal.turnId,
        call_id: proposal.callId,
        ...common,
      };
      draft.write({ op: 'insert', table: 'call_ids', row, takenGuard: 'call_id' });
    }
  }

  /** Policy allows and a slot is free: the dispatch joins the unit and saves a wait for the disk. */
  private dispatchAtOnce(draft: UnitDraft, judged: JudgedProposal, call: CallInUnit, now: string): boolean {
    const { intent, nowMs, decision, caller } = judged;
    const { state } = call;
    const { lease } = intent.capability.manifest;
    if (state.status !== 'authorized' || (lease !== undefined && this.leases.isFull(caller.tenant))) return false;
    const dispatch = planDispatch(intent.capability, state, {
      instance: this.desk.instance,
      nonce: this.desk.newId(ID_PREFIXES.attempt),
      target: intent.target,
      nowMs,
    });
    const when = { nowMs, executeBy: state.executeBy, deadline: dispatch.deadline };
    const lending = this.leases.plan(intent.capability, decision, when);
    // The dispatcher says why nothing may be lent; here it only does not go on at once.
    if (lending.kind === 'refused' || !this.gate.slots.reserve(call.toolCallId, intent.capability)) return false;
    if (lending.kind === 'lend') this.leases.issue(draft, call, lending, nowMs);
    call.do({ kind: 'dispatch', now, dispatch });
    return true;
  }

  /** After a guard failed: while as many leases are live as may be, calls wait for theirs in `authorized`. */
  noteGuard(guard: string, tenant: string): void {
    if (isLeaseLimit(guard)) this.leases.noteFull(tenant);
  }
}

/** What rests on the world is sent by the dispatcher, which looks at the world first. */
function mayGoAtOnce({ state }: CallInUnit, { manifest }: Capability): boolean {
  return state.status === 'authorized' && manifest.preconditions === undefined;
}

/** By the policy, or because what it rests on does not hold: then nothing of it stays open. */
function isRefused({ decision, readings }: JudgedProposal): boolean {
  return decision.outcome === 'deny' || (readings !== undefined && failing(readings).length > 0);
}

/** The original names the call that is meant to undo it: whoever proposes a second one fails this comparison. */
function linkToOriginal(draft: UnitDraft, original: LoadedCall, newToolCallId: string): void {
  const request = { compensatesToolCallId: original.row.tool_call_id, newToolCallId };
  new CallInUnit(draft, original).do({ kind: 'request_compensation', request }, {}, 'control-plane');
}
