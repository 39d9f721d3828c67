import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { Settings } from '../../config/settings.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ERRORS, type ErrorCode } from '../../domain/errors/error-codes.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { decideOutcome } from '../../domain/outcome/outcome.decide.js';
import type { OutcomeCommand, SourceRights } from '../../domain/outcome/outcome.commands.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import type { Caller } from '../../identity/caller.js';
import { GuardFailed } from '../../storage/unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { loadOutcome, OutcomeInUnit, type OutcomeBefore } from '../../storage/units/outcome-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { GiveFeedback, type GivenFeedback, type TakenFeedback } from './give-feedback.command.js';

const TRIES_MAX = 3;

/**
 * Takes feedback about the outcome of a call. Whatever it says, the execution of the call stays as it is. A refusal by
 * the machine is recorded as well, so that it can be seen who tried to say what.
 */
@CommandHandler(GiveFeedback)
export class GiveFeedbackHandler implements ICommandHandler<GiveFeedback> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, toolCallId, given }: GiveFeedback): Promise<TakenFeedback> {
    const requestDigest = jsonDigest({ ...given } as unknown as JsonObject);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const call = await loadCall(this.desk.read, caller.tenant, toolCallId);
      if (call === null) throw new CountersignError('tool_call_not_found', 'there is no such tool call');
      const outcome = await loadOutcome(this.desk.read, caller.tenant, toolCallId);
      if (outcome === null) throw notOpen(toolCallId);
      const earlier = await this.earlier(caller, toolCallId, given.feedbackId, requestDigest, outcome);
      if (earlier !== null) return earlier;
      this.mustBeTimely(call, given.verifiedAt);
      try {
        return await this.take(caller, call, outcome, given, requestDigest);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    throw new CountersignError('contended', 'other writers changed the same records three times in a row');
  }

  private async take(
    caller: Caller,
    call: LoadedCall,
    before: OutcomeBefore,
    given: GivenFeedback,
    requestDigest: string,
  ): Promise<TakenFeedback> {
    const now = this.desk.now();
    const source = caller.actor.sub;
    const feedback = { ...given, source };
    const command = { kind: 'take_feedback', feedback, rights: this.rightsOf(caller, call), now } as const;
    const decided = decideOutcome(before.state, command);
    const rejection = decided.ok ? null : { source, code: decided.code, message: decided.message };
    const recorded: OutcomeCommand = rejection === null ? command : { kind: 'reject', rejection };
    const { toolCallId, feedbackId } = { toolCallId: call.row.tool_call_id, feedbackId: given.feedbackId };
    const draft = this.begin(caller, call, now);
    const outcome = new OutcomeInUnit(draft, before, new CallInUnit(draft, call).refs);
    const [eventId] = outcome.do(recorded, { feedbackId });
    draft.write({
      op: 'insert',
      table: 'outcome_feedback',
      takenGuard: 'feedback',
      row: {
        tool_call_id: toolCallId,
        source: sourceKey(caller),
        feedback_id: feedbackId,
        tenant: caller.tenant,
        request_digest: requestDigest,
        status: rejection === null ? 'received' : 'rejected',
        code: rejection?.code ?? null,
        event_id: eventId as string,
        received_at: now,
      },
    });
    await this.desk.commit(draft);
    if (!decided.ok) throw new CountersignError(decided.code, decided.message, { toolCallId });
    return { toolCallId, feedbackId, replayed: false, outcome: outcome.state.status };
  }

  private begin(caller: Caller, { row }: LoadedCall, now: string): UnitDraft {
    return this.desk.begin({
      tenant: caller.tenant,
      lane: 'govern',
      actor: caller.actor,
      correlationId: row.correlation_id,
      runId: row.run_id,
      sessionId: row.session_id,
      occurredAt: now,
      causationId: null,
      causeKind: 'external',
    });
  }

  /** What this feedback was answered before; null when it is new. */
  private async earlier(
    caller: Caller,
    toolCallId: string,
    feedbackId: string,
    requestDigest: string,
    outcome: OutcomeBefore,
  ): Promise<TakenFeedback | null> {
    const row = await this.desk.read.outcomeFeedback(caller.tenant, toolCallId, sourceKey(caller), feedbackId);
    if (row === null) return null;
    if (row.request_digest !== requestDigest) {
      throw new CountersignError('feedback_id_conflict', 'this feedbackId named another feedback', {
        toolCallId,
        pointer: '/feedbackId',
      });
    }
    if (row.status === 'rejected') {
      const code = row.code as ErrorCode;
      const event = await this.desk.read.event(caller.tenant, row.event_id);
      const message = event?.payload['message'];
      throw new CountersignError(code, typeof message === 'string' ? message : ERRORS[code].mend, { toolCallId });
    }
    if (outcome.state === null) throw notOpen(toolCallId);
    return { toolCallId, feedbackId, replayed: true, outcome: outcome.state.status };
  }

  /**
   * From the definition in force: a source that was struck off the list says nothing about older calls either. Never the
   * agent whose call it is, nor anybody's agent: its own word is no evidence.
   */
  private rightsOf(caller: Caller, { state }: LoadedCall): SourceRights | null {
    const { sub } = caller.actor;
    if (caller.isAgent || sub === (state.principal.act ?? state.principal.sub)) return null;
    const sources = this.gate.get(state.capability)?.manifest.success?.sources ?? [];
    const source = sources.find(({ subject }) => subject === sub);
    return source === undefined ? null : { kinds: source.evidence, authoritative: source.authoritative };
  }

  /** Nobody has seen the future, and what was seen before the call was made is not about it. */
  private mustBeTimely({ row }: LoadedCall, verifiedAt: string): void {
    const seenMs = Date.parse(verifiedAt);
    const tolerance = this.settings.identity.clockToleranceMs;
    const tooLate = seenMs > this.desk.clock.now() + tolerance;
    if (!tooLate && seenMs >= Date.parse(row.created_at) - tolerance) return;
    const problem = tooLate ? 'verifiedAt lies in the future' : 'verifiedAt lies before the call';
    throw new CountersignError('invalid_timestamp', problem, { pointer: '/verifiedAt' });
  }
}

const sourceKey = (caller: Caller): string => principalKey(principalOf(caller.actor));

const notOpen = (toolCallId: string): CountersignError =>
  new CountersignError('outcome_not_open', 'no verification of this call has been opened', { toolCallId });
