import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { circumstancesOf } from '../../policy/facts/fact-reader.js';
import { Judge, mustBeAnAnswer } from '../../policy/judge.js';
import { failing, reasonsOf, type Readings } from '../../policy/core/precondition.js';
import { needsReadings } from '../../policy/preconditions/preconditions.js';
import { GuardFailed } from '../../storage/unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import type { LoadedCall } from '../../storage/units/load.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { pausedFor } from '../paused-for.js';
import { loadOwnCall } from '../own-call.js';
import { RetryToolCall } from './retry-tool-call.command.js';

/**
 * The one way back to sending: a call that is proven to have had no effect becomes a proposal again, with the next
 * attempt, the same downstream key and a new judgement. An approval authorises one attempt.
 */
@CommandHandler(RetryToolCall)
export class RetryToolCallHandler implements ICommandHandler<RetryToolCall> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
  ) {}

  async execute({ caller, toolCallId, reason, commandId }: RetryToolCall): Promise<Acknowledged> {
    const asked = { type: 'retry', target: { toolCallId }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start, now) => {
      const loaded = await this.withEvidence(await loadOwnCall(this.desk.read, caller, toolCallId));
      const { row } = loaded;
      const draft = start({ correlationId: row.correlation_id, runId: row.run_id, sessionId: row.session_id });
      return this.proposeAgain(draft, loaded, now);
    });
  }

  private async proposeAgain(draft: UnitDraft, loaded: LoadedCall, now: string): Promise<UnitDraft> {
    const { row, state } = loaded;
    const attempt = state.attempt + 1;
    const retry = { attempt, previousStatus: state.status };
    const call = new CallInUnit(draft, loaded).do({ kind: 'accept_retry', retry });
    const capability = this.gate.bound(state);
    if (capability === undefined) {
      throw new CountersignError('capability_version_changed', 'the definition the call was made with is not in force');
    }
    if (this.gate.pauseFor(row.tenant, state.principal, row.capability) !== null) {
      throw pausedFor(this.gate.storeIsHeld ? 'store_held' : 'paused');
    }
    const papers = await this.judge.open(loaded);
    const { grants } = this.judge;
    const standing = grants.isEmpty ? null : await grants.consentForRecorded(loaded, papers, now);
    const asked = { ...papers.request, approvals: standing?.facts ?? {}, attempt, nowMs: Date.parse(now) };
    const { request, decision } = await this.judge.decide(asked, circumstancesOf(loaded));
    mustBeAnAnswer(decision);
    const readings = needsReadings(capability, decision)
      ? await this.judge.preconditions.read(capability, papers)
      : undefined;
    if (readings !== undefined) mustHold(readings);
    for (const guard of this.gate.guards(capability, row.tenant, state.principal)) draft.guard(guard);
    draft.guard(runIsOpen(row.run_id)).guard(this.judge.guard(decision, request));
    if (standing !== null) for (const guard of standing.guards) draft.guard(guard);
    this.judge.record(draft, call, { ...papers, phase: 'retry', request, decision, capability, now, readings });
    return draft;
  }

  /** The proof behind a finding is in the sealed event alone; a retry after a handoff rests on it. */
  private async withEvidence(loaded: LoadedCall): Promise<LoadedCall> {
    const { state, row } = loaded;
    if (state.status !== 'manual_handoff' || state.resolution === null) return loaded;
    const event = await this.desk.read.event(row.tenant, row.resolution_event_id ?? '');
    if (event === null) throw new GuardFailed('tool_call');
    const evidenceRefs = event.payload['evidenceRefs'] as readonly string[];
    return { ...loaded, state: { ...state, resolution: { ...state.resolution, evidenceRefs } } };
  }
}

/** A denial would end the call for good; as it is, it can be retried once what it rests on is so. */
function mustHold(readings: Readings): void {
  const broken = failing(readings);
  if (broken.length === 0) return;
  throw new CountersignError('precondition_failed', 'something that the call rests on is not so', {
    problems: reasonsOf(broken),
  });
}
