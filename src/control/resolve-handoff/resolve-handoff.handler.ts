import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { CommittedEvent } from '../../domain/events/envelope.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { Feedback, OutcomeCommand } from '../../domain/outcome/outcome.commands.js';
import type { Caller } from '../../identity/caller.js';
import { contradicts } from '../../domain/tool-call/tool-call.contradict.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import type { LoadedCall } from '../../storage/units/load.js';
import { loadOutcome, OutcomeInUnit } from '../../storage/units/outcome-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { loadOwnCall, requireOperator } from '../own-call.js';
import { ResolveHandoff, type FoundOut } from './resolve-handoff.command.js';

/**
 * Records a person's finding about a handed-off call, with its evidence, and closes the intent. Where
 * the definition asks for two people, the first finding is recorded and the second, equal one closes it.
 */
@CommandHandler(ResolveHandoff)
export class ResolveHandoffHandler implements ICommandHandler<ResolveHandoff> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly gate: CapabilityGate,
  ) {}

  async execute(command: ResolveHandoff): Promise<Acknowledged> {
    const { caller, toolCallId, commandId } = command;
    const { finding, evidenceRefs, note } = command.found;
    const asked = {
      type: 'resolve_handoff',
      target: { toolCallId },
      details: { finding, evidenceRefs, note },
      commandId,
    };
    return this.log.carryOut(caller, asked, async (start) => {
      requireOperator(caller);
      const loaded = await loadOwnCall(this.desk.read, caller, toolCallId);
      const { row, state } = loaded;
      if (state.status !== 'manual_handoff' || state.handoffId === null || state.resolution !== null) {
        throw new CountersignError('handoff_not_open', 'the call is not in a handoff without a finding', {
          toolCallId,
        });
      }
      if (finding !== 'unknowable' && evidenceRefs.length === 0) {
        throw new CountersignError('evidence_required', 'a finding needs at least one evidence reference', {
          pointer: '/evidenceRefs',
        });
      }
      const draft = start({ correlationId: row.correlation_id, runId: row.run_id, sessionId: row.session_id });
      const fact = { handoffId: state.handoffId, finding, evidenceRefs, note };
      const by = caller.actor as unknown as JsonObject;
      const needsTwo = (this.gate.get(state.capability)?.manifest.resolvers ?? 1) > 1;
      const first = needsTwo ? await this.firstFinding(loaded, finding, caller.actor.sub) : null;
      const isDecided = !needsTwo || first !== null;
      const call = new CallInUnit(draft, loaded).do(
        isDecided
          ? { kind: 'resolve_handoff', finding: { ...fact, ...confirmed(first, evidenceRefs), resolvedBy: by } }
          : { kind: 'record_finding', finding: { ...fact, foundBy: by } },
      );
      if (isDecided) await this.holdAgainstEvidence(call, row.tenant, finding);
      const outcome = isDecided ? await loadOutcome(this.desk.read, caller.tenant, toolCallId) : null;
      if (outcome !== null) {
        const { handoffId } = state;
        const refs = confirmed(first, evidenceRefs).evidenceRefs;
        const found = foundBy(caller, handoffId, { finding, evidenceRefs: refs, note }, draft.context.occurredAt);
        new OutcomeInUnit(draft, outcome, call.refs).do(found, { feedbackId: handoffId });
      }
      return draft;
    });
  }

  /** A tool or a statement that said otherwise stays on record beside the finding, and then nothing is sent on its account. */
  private async holdAgainstEvidence(call: CallInUnit, tenant: string, finding: string): Promise<void> {
    const events = await this.desk.read.streamEvents(tenant, { kind: 'call', id: call.toolCallId });
    const otherwise = events.filter(({ envelope, payload }) => {
      const { meaning } = payload;
      if (envelope.eventType !== 'tool.call.callback_received') return false;
      return (meaning === 'happened' || meaning === 'failed') && contradicts(call.state, meaning);
    });
    if (otherwise.length === 0) return;
    const evidenceRefs = otherwise.map(({ envelope }) => envelope.eventId);
    const meaning = `the evidence on record says otherwise than the finding ${finding}`;
    call.do({ kind: 'record_contradiction', contradiction: { evidenceRefs, meaning } });
  }

  /** What another person has found about the same handoff; the same person again is not a second one. */
  private async firstFinding({ row, state }: LoadedCall, finding: string, sub: string): Promise<CommittedEvent | null> {
    const events = await this.desk.read.streamEvents(row.tenant, { kind: 'call', id: row.tool_call_id });
    const handoffId = state.status === 'manual_handoff' ? state.handoffId : null;
    const equal = events.filter(
      ({ envelope, payload }) =>
        envelope.eventType === 'manual.finding_recorded' &&
        payload['handoffId'] === handoffId &&
        payload['finding'] === finding,
    );
    const other = equal.find(({ envelope }) => envelope.actor.sub !== sub);
    if (other === undefined && equal.length > 0) {
      throw new CountersignError('second_person_required', 'another operator has to find the same', {
        toolCallId: row.tool_call_id,
      });
    }
    return other ?? null;
  }
}

/** Both people's evidence, and the event of the first. */
function confirmed(
  first: CommittedEvent | null,
  evidenceRefs: readonly string[],
): { readonly confirms?: string; readonly evidenceRefs: readonly string[] } {
  if (first === null) return { evidenceRefs };
  const earlier = first.payload['evidenceRefs'] as readonly string[];
  return { confirms: first.envelope.eventId, evidenceRefs: [...new Set([...earlier, ...evidenceRefs])] };
}

/** What an effect that was found, or not, says of the success criteria. Half of it is not what was wanted. */
const VERDICTS: Readonly<Record<FoundOut['finding'], Feedback['verdict']>> = {
  happened: 'met',
  not_happened: 'failed',
  partial: 'failed',
  unknowable: 'inconclusive',
};

/** P-42: the person who looked is a source of the outcome as well. */
function foundBy(caller: Caller, handoffId: string, found: FoundOut, now: string): OutcomeCommand {
  const evidence = found.evidenceRefs.map((ref) => ({ kind: 'operator_finding', ref, digest: null }));
  const feedback = {
    feedbackId: handoffId,
    source: caller.actor.sub,
    verdict: VERDICTS[found.finding],
    evidence,
    verifiedAt: now,
    note: found.note,
  };
  return { kind: 'take_finding', feedback, now };
}
