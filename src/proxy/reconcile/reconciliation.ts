import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { Capability } from '../../capabilities/manifest.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import type { EventPayload } from '../../domain/events/catalogue.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { isTerminal, type ToolCallIn } from '../../domain/tool-call/tool-call.state.js';
import { contradicts } from '../../domain/tool-call/tool-call.contradict.js';
import { GuardFailed } from '../../storage/unit.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { LookedUp } from '../connectors/http.connector.js';
import { backoffMs } from '../core/backoff.js';
import type { Finding } from '../core/probe-finding.js';
import { nextAtMs, planFor, type Plan } from '../core/reconciliation-plan.js';
import { CallRecorder } from '../executor/call-recorder.js';
import { handoffPacket } from './handoff-packet.js';
import { Inquiry, type Reconciling } from './inquiry.js';

/** How long a question that may not be asked just now is left alone: a pause can last, and may be about many calls. */
const PUT_OFF_MS = 10_000;

type Unknown = LoadedCall & { readonly state: ToolCallIn<'result_unknown' | 'reconciling'> };

/**
 * Finds out what became of a call, with read-only requests alone. There is no way from here back to sending: evidence
 * settles the call, or people are asked.
 */
@Injectable()
export class Reconciliation {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly inquiry: Inquiry,
    private readonly recorder: CallRecorder,
  ) {}

  /** One step: start, look once, settle, wait, or hand off. @throws GuardFailed when somebody else moved the call. */
  async step(tenant: string, toolCallId: string): Promise<void> {
    const call = await loadCall(this.desk.read, tenant, toolCallId);
    if (call === null || !isUnknown(call)) return;
    const capability = this.gate.bound(call.state);
    const plan = capability === undefined ? null : this.planFor(call, capability);
    if (capability === undefined || plan === null) return this.handOff(call, 'no_query_possible');
    await this.look(await this.started(call, plan), capability, plan);
  }

  private planFor({ state }: Unknown, { manifest }: Capability): Plan | null {
    const means = {
      onAmbiguous: manifest.onAmbiguous,
      quiesceMs: manifest.quiesceMs,
      probe: manifest.probe,
      replayAsProbe: manifest.idempotency.replayAsProbe,
      callbackBudgetMs: manifest.callback?.budgetMs ?? null,
      statementBudgetMs: manifest.statement?.budgetMs ?? null,
    };
    const { externalRequestId, deadline } = state;
    return planFor(means, { externalRequestId, deadline, nowMs: this.desk.clock.now() });
  }

  private async started(call: Unknown, plan: Plan): Promise<Reconciling> {
    if (isReconciling(call)) return call;
    const deadline = new Date(plan.deadlineMs).toISOString();
    const recording = plan.asks === 'none' ? { nextAt: deadline } : {};
    const start = { strategy: plan.strategy, deadline };
    return (await this.recorder.record(call, { kind: 'start_reconciliation', start }, recording)) as Reconciling;
  }

  private async look(call: Reconciling, capability: Capability, plan: Plan): Promise<void> {
    const { state } = call;
    const askedAt = this.desk.now();
    const isOver = askedAt >= state.reconciliationDeadline;
    const mayAsk = plan.asks !== 'none' && state.queries < plan.attemptsMax;
    if (!mayAsk && plan.asks !== 'none' && !plan.waits) return this.handOff(call, 'attempts_exhausted');
    if (isOver) return this.handOff(call, 'deadline_passed');
    if (!mayAsk) return; // evidence may still come by itself, and the deadline is when somebody looks again
    const looked = await this.inquiry.ask(call, capability, plan.asks === 'replay');
    if (looked === null) return this.handOff(call, 'no_query_possible');
    if (looked === 'later') return this.putOff(call);
    const evidence = { finding: looked.finding.finding, askedAt, ...looked.evidence };
    const quietAtMs = await this.quietFrom(call, capability);
    const proof = proofIn(looked.finding, evidence, quietAtMs !== null && Date.parse(askedAt) >= quietAtMs);
    if (proof === null) return this.askAgain(call, looked, evidence, { ...plan, quietAtMs });
    await this.recorder.record(call, proof).catch((error: unknown) => this.compare(call, looked.finding, error));
  }

  /**
   * Milliseconds since 1970 from which not finding the effect proves something, or null: only where the manifest says so,
   * and only after everything on the wire must have arrived and the tool has had time to show it. What its own process gave
   * up was on the wire until then, whatever a clock that has jumped ahead makes of the deadline; and what a restored store
   * has lost may be as young as its hold.
   */
  private async quietFrom({ row, state }: Reconciling, { manifest }: Capability): Promise<number | null> {
    const { probe, quiesceMs } = manifest;
    if (probe?.absenceIsProof !== true) return null;
    const { envelope } = (await this.desk.read.event(row.tenant, row.settled_event_id ?? '')) ?? {};
    const isOrphan = envelope?.synthetic === true && state.cause !== 'restored';
    const givenUpAt = envelope === undefined || isOrphan ? state.deadline : envelope.occurredAt;
    const overMs = Math.max(Date.parse(state.deadline), Date.parse(givenUpAt));
    return overMs + quiesceMs + probe.visibilityDelayMs;
  }

  private async askAgain(
    call: Reconciling,
    { finding, reached }: LookedUp,
    evidence: JsonObject,
    { attemptsMax, waits, quietAtMs }: Plan & { readonly quietAtMs: number | null },
  ): Promise<void> {
    const made = call.state.queries + 1;
    const result = !reached ? 'unreachable' : finding.finding === 'absent' ? 'absent_too_early' : 'inconclusive';
    const nextMs = nextAtMs({
      nowMs: this.desk.clock.now(),
      backoffMs: backoffMs(call.row.tool_call_id, made),
      made,
      attemptsMax,
      deadlineMs: Date.parse(call.state.reconciliationDeadline),
      quietAtMs,
      waits,
    });
    const nextAt = new Date(nextMs).toISOString();
    await this.recorder.record(
      call,
      { kind: 'record_query', query: { n: made, result, nextAt, evidence } },
      { nextAt },
    );
  }

  /** Nothing was asked, so nothing is recorded and no look-up is used up: only the time of the next step moves. */
  private async putOff({ row, state }: Reconciling): Promise<void> {
    const laterMs = this.desk.clock.now() + PUT_OFF_MS;
    const nextAt = new Date(Math.min(laterMs, Date.parse(state.reconciliationDeadline))).toISOString();
    const draft = this.desk.beginAbout(row, { lane: 'settle', causeKind: 'event' }).guard(this.desk.ownerGuard());
    const where = { tool_call_id: row.tool_call_id, kind: 'reconcile' };
    await this.desk.commit(draft.write({ op: 'set', table: 'work', where, set: { next_at: nextAt }, guard: 'work' }));
  }

  /** Somebody else settled the call while it was looked up: what was found and says otherwise is put beside it. */
  private async compare(call: LoadedCall, { finding }: Finding, error: unknown): Promise<void> {
    const current = await loadCall(this.desk.read, call.row.tenant, call.row.tool_call_id);
    if (!(error instanceof GuardFailed) || current === null || !isTerminal(current.state.status)) throw error;
    const says = finding === 'happened' ? 'happened' : 'failed';
    if (current.state.attempt !== call.state.attempt || !contradicts(current.state, says)) return;
    const meaning = `a look-up says ${finding}, the record says ${current.state.status}`;
    const contradiction = { evidenceRefs: [`look-up ${this.desk.now()}`], meaning };
    await this.recorder.record(current, { kind: 'record_contradiction', contradiction });
  }

  private async handOff(call: LoadedCall, reason: EventPayload<'tool.call.manual_handoff'>['reason']): Promise<void> {
    const opened = {
      handoffId: this.desk.newId(ID_PREFIXES.handoff),
      packet: await handoffPacket(this.desk.read, call),
    };
    await this.recorder.record(call, { kind: 'hand_off', handoff: { reason, evidenceRefs: [] }, opened });
  }
}

/** The command that settles the call, when the finding proves anything. */
function proofIn(finding: Finding, evidence: JsonObject, absenceIsProof: boolean): ToolCallCommand | null {
  switch (finding.finding) {
    case 'happened':
      return {
        kind: 'resolve_happened',
        resolution: { verdict: 'happened', evidenceRefs: [], evidence },
        completion: {
          basis: 'reconciliation',
          result: finding.effect,
          resultDigest: jsonDigest(finding.effect),
          resultTruncated: false,
          externalRequestId: finding.reference,
        },
      };
    case 'failed':
      return didNotHappen('failed', 'failed_at_tool', evidence);
    case 'absent':
      return absenceIsProof ? didNotHappen('not_happened', 'absent_at_tool', evidence) : null;
    case 'pending':
    case 'unclear':
      return null;
  }
}

function didNotHappen(verdict: 'failed' | 'not_happened', code: string, evidence: JsonObject): ToolCallCommand {
  return {
    kind: 'resolve_failed',
    resolution: { verdict, evidenceRefs: [], evidence },
    failure: { code, effect: 'none', basis: 'reconciliation', retryable: verdict === 'not_happened' },
  };
}

const isReconciling = (call: LoadedCall): call is Reconciling => call.state.status === 'reconciling';
const isUnknown = (call: LoadedCall): call is Unknown =>
  call.state.status === 'result_unknown' || call.state.status === 'reconciling';
