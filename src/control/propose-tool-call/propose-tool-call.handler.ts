import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Caller } from '../../identity/caller.js';
import { overBudget } from '../../policy/core/decide.js';
import { fullLimit } from '../../policy/core/limits.js';
import type { PolicyRequest } from '../../policy/core/policy-types.js';
import type { StandingConsent } from '../../policy/grants/grant-book.js';
import { Judge, mustBeAnAnswer } from '../../policy/judge.js';
import { needsReadings } from '../../policy/preconditions/preconditions.js';
import { GuardFailed } from '../../storage/unit.js';
import { isOpenApprovalsGuard } from '../../storage/units/open-approvals.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { pausedFor } from '../paused-for.js';
import { requestersOf } from '../approvals/edited-proposal.js';
import { IntentReader, type Intent } from './intent-reader.js';
import { ProposalUnits, type JudgedProposal, type Reasoning } from './proposal-units.js';
import { ProposeToolCall, type Proposal, type Proposed } from './propose-tool-call.command.js';
import type { RunPlace } from './run-directory.js';

const TRIES_MAX = 3;

/** Collects what a decision needs, decides, commits, answers. A failed guard means: look again and decide again. */
@CommandHandler(ProposeToolCall)
export class ProposeToolCallHandler implements ICommandHandler<ProposeToolCall> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly intents: IntentReader,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    private readonly units: ProposalUnits,
  ) {}

  async execute({ caller, proposal }: ProposeToolCall): Promise<Proposed> {
    const intent = this.intents.read(caller, proposal);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const earlier = await this.earlierByKey(caller, intent);
      if (earlier !== null) return earlier;
      const answer = await this.propose(caller, proposal, intent);
      if (answer !== null) return answer;
    }
    throw new CountersignError('contended', 'other writers changed the same records three times in a row');
  }

  /** Null when a guard failed and everything must be looked at again. */
  private async propose(caller: Caller, proposal: Proposal, intent: Intent): Promise<Proposed | null> {
    this.mustNotBePaused(caller, intent);
    const nowMs = this.desk.clock.now();
    const now = new Date(nowMs).toISOString();
    if (proposal.executeBefore !== null && proposal.executeBefore <= now) {
      throw new CountersignError('invalid_timestamp', 'executeBefore has passed', { pointer: '/executeBefore' });
    }
    const place = await this.units.runs.find(caller, proposal, intent, now);
    const named = await this.earlierByCallId(caller, proposal, intent, place.runId);
    if (named !== null) return named;
    const reasoning = await this.reasoningOf(caller, proposal, place);
    const ordinal = await this.intentOrdinal(caller, proposal, intent);
    const standing = this.judge.grants.isEmpty ? null : await this.standingConsent(caller, proposal, intent, now);
    const asked = policyRequest(caller, proposal, intent, nowMs, standing);
    const { request, decision } = await this.judge.decide(asked, {
      runId: place.runId,
      intentDigest: intent.intentDigest,
      toolCallId: '',
      compensates: proposal.compensates !== undefined,
      held: [],
    });
    mustBeAnAnswer(decision);
    const readings = needsReadings(intent.capability, decision)
      ? await this.judge.preconditions.read(intent.capability, intent)
      : undefined;
    try {
      const toolCallId = await this.record({
        caller,
        proposal,
        intent,
        place,
        reasoning,
        ordinal,
        request,
        decision,
        readings,
        standing,
        nowMs,
      });
      this.units.runs.opened(caller.tenant, intent, place);
      return { toolCallId, replayed: false };
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      await this.lookAgain(error.guard, caller, intent, place);
      return null;
    }
  }

  private standingConsent(
    caller: Caller,
    proposal: Proposal,
    intent: Intent,
    now: string,
  ): Promise<StandingConsent | null> {
    return this.judge.grants.consentFor({
      tenant: caller.tenant,
      capability: intent.capability.manifest.name,
      principal: intent.principal,
      requesterSubjects: requestersOf(caller, proposal),
      args: intent.args,
      intentDigest: intent.intentDigest,
      now,
    });
  }

  /** A budget that others have filled meanwhile denies: that is recorded, and is no failure. */
  private async record(judged: JudgedProposal): Promise<string> {
    try {
      return await this.commit(judged);
    } catch (error) {
      const full = error instanceof GuardFailed ? fullLimit(error.guard) : null;
      if (full === null) throw error;
      return this.commit({ ...judged, decision: overBudget(judged.decision, full) });
    }
  }

  private async commit(judged: JudgedProposal): Promise<string> {
    const { toolCallId, draft, abandon } = this.units.prepare(judged);
    try {
      await this.desk.commit(draft);
      return toolCallId;
    } catch (error) {
      abandon();
      throw error;
    }
  }

  private async lookAgain(guard: string, caller: Caller, intent: Intent, place: RunPlace): Promise<void> {
    if (guard === 'run_open' || guard === 'run_label') this.units.runs.forget(caller.tenant, intent, place);
    this.units.noteGuard(guard, caller.tenant);
    if (guard === 'pauses') await this.gate.lookAgain();
    if (isOpenApprovalsGuard(guard)) {
      throw new CountersignError('too_many_open_approvals', 'this agent has too many questions open', {
        retryAfterSeconds: 60,
      });
    }
    if (guard === 'capability') await this.mustNotBeHeld(intent);
  }

  private async earlierByKey(caller: Caller, intent: Intent): Promise<Proposed | null> {
    if (intent.keyHash === null) return null;
    const { name } = intent.capability.manifest;
    const row = await this.desk.read.idempotency(caller.tenant, intent.principalKey, name, intent.keyHash);
    if (row === null) return null;
    if (row.intent_digest !== intent.intentDigest) {
      throw new CountersignError('idempotency_conflict', 'this key belongs to a call with other arguments', {
        toolCallId: row.tool_call_id,
      });
    }
    return { toolCallId: row.tool_call_id, replayed: true };
  }

  /** A callId names one call within a run and turn; across turns it means nothing. */
  private async earlierByCallId(
    caller: Caller,
    proposal: Proposal,
    intent: Intent,
    runId: string,
  ): Promise<Proposed | null> {
    if (proposal.callId === null || proposal.turnId === null) return null;
    const row = await this.desk.read.callId(caller.tenant, runId, proposal.turnId, proposal.callId);
    if (row === null) return null;
    if (row.intent_digest !== intent.intentDigest) {
      throw new CountersignError('call_id_conflict', 'this callId named other arguments in the same turn', {
        toolCallId: row.tool_call_id,
        pointer: '/callId',
      });
    }
    return { toolCallId: row.tool_call_id, replayed: true };
  }

  /** A judgement that the proposal names must be on record in its run: policy may demand one. */
  private async reasoningOf(caller: Caller, proposal: Proposal, place: RunPlace): Promise<Reasoning | null> {
    if (proposal.reasoningObjectId === null) return null;
    const row = await this.desk.read.runObject(caller.tenant, proposal.reasoningObjectId);
    if (row?.kind === 'reasoning' && row.run_id === place.runId && row.event_id !== null) {
      return { eventId: row.event_id, correlationId: row.correlation_id };
    }
    throw new CountersignError('dangling_reference', 'reasoningObjectId names nothing in this run', {
      pointer: '/reasoningObjectId',
    });
  }

  /** The intent guard: an equal, unresolved intent under another key is answered with the call that carries it. */
  private async intentOrdinal(caller: Caller, proposal: Proposal, intent: Intent): Promise<number> {
    const { name, effect } = intent.capability.manifest;
    if (effect === 'read_only') return 0;
    const open = await this.desk.read.openIntents(caller.tenant, intent.principalKey, name, intent.intentDigest);
    const last = open[open.length - 1];
    if (last === undefined) return 0;
    if (!proposal.allowDuplicateIntent) {
      throw new CountersignError('outstanding_identical_intent', 'an identical call is not settled yet', {
        toolCallId: last.tool_call_id,
      });
    }
    return last.ordinal + 1;
  }

  private mustNotBePaused(caller: Caller, intent: Intent): void {
    const pause = this.gate.pauseFor(caller.tenant, intent.principal, intent.capability.manifest.name);
    if (pause === null) return;
    if (this.gate.storeIsHeld) throw pausedFor('store_held');
    throw pausedFor(pause.target_kind === 'capability' ? 'capability_paused' : 'paused');
  }

  private async mustNotBeHeld(intent: Intent): Promise<void> {
    const row = await this.desk.read.capability(intent.capability.manifest.name);
    if (row?.state === 'held') {
      throw new CountersignError('capability_held', 'the capability is held', { retryAfterSeconds: 10 });
    }
    throw new CountersignError('capability_version_changed', 'another definition of the capability is in force');
  }
}

function policyRequest(
  caller: Caller,
  proposal: Proposal,
  intent: Intent,
  nowMs: number,
  standing: StandingConsent | null,
): PolicyRequest {
  const { manifest } = intent.capability;
  return {
    tenant: caller.tenant,
    ...intent.principal,
    roles: caller.roles,
    capability: manifest.name,
    capabilityVersion: manifest.version,
    risk: manifest.risk,
    effect: manifest.effect,
    input: intent.args,
    approvals: standing?.facts ?? {},
    attempt: 1,
    reasoningPresent: proposal.reasoningObjectId !== null,
    allowDuplicateIntent: proposal.allowDuplicateIntent,
    nowMs,
  };
}
