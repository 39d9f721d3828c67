import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { Capability, Probe } from '../../capabilities/manifest.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import type { EventPayload } from '../../domain/events/catalogue.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { ToolCallIn } from '../../domain/tool-call/tool-call.state.js';
import { RecordTampered } from '../../policy/case-file.js';
import { Judge } from '../../policy/judge.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { HttpConnector, type LookedUp } from '../connectors/http.connector.js';
import { backoffMs } from '../core/backoff.js';
import type { Finding } from '../core/probe-finding.js';
import { CallRecorder } from '../executor/call-recorder.js';
import { handoffPacket } from './handoff-packet.js';

type Unknown = LoadedCall & { readonly state: ToolCallIn<'result_unknown' | 'reconciling'> };
type Reconciling = LoadedCall & { readonly state: ToolCallIn<'reconciling'> };

const LOOK_UP_TIMEOUT_MS = 10_000;

/**
 * Finds out what became of a call, with read-only requests alone. There is no way from here back to sending: evidence
 * settles the call, or people are asked.
 */
@Injectable()
export class Reconciliation {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    private readonly connector: HttpConnector,
    private readonly recorder: CallRecorder,
  ) {}

  /** One step: start, look once, settle, or hand off. @throws GuardFailed when somebody else moved the call. */
  async step(tenant: string, toolCallId: string): Promise<void> {
    const call = await loadCall(this.desk.read, tenant, toolCallId);
    if (call === null || !isUnknown(call)) return;
    const capability = this.gate.bound(call.state);
    const probe = capability?.manifest.probe ?? null;
    const cannotAsk = probe?.strategy === 'query_by_external_id' && call.state.externalRequestId === null;
    if (capability === undefined || probe === null || cannotAsk || capability.manifest.onAmbiguous === 'handoff') {
      return this.handOff(call, 'no_query_possible');
    }
    await this.look(await this.started(call, probe), capability, probe);
  }

  private async started(call: Unknown, probe: Probe): Promise<Reconciling> {
    if (isReconciling(call)) return call;
    const deadline = new Date(this.desk.clock.now() + probe.budgetMs).toISOString();
    const start = { strategy: probe.strategy, deadline };
    return (await this.recorder.record(call, { kind: 'start_reconciliation', start })) as Reconciling;
  }

  private async look(call: Reconciling, capability: Capability, probe: Probe): Promise<void> {
    const { state } = call;
    if (state.queries >= probe.attemptsMax) return this.handOff(call, 'attempts_exhausted');
    const askedAt = this.desk.now();
    if (askedAt >= state.reconciliationDeadline) return this.handOff(call, 'deadline_passed');
    const looked = await this.ask(call, capability, probe);
    if (looked === null) return this.handOff(call, 'no_query_possible');
    const evidence = { finding: looked.finding.finding, askedAt, ...looked.evidence };
    const proof = proofIn(looked.finding, evidence, absenceProves(state, capability, probe, askedAt));
    if (proof === null) return this.askAgain(call, looked, evidence);
    await this.recorder.record(call, proof);
  }

  /** Null when the look-up cannot be made because the record of the call cannot be trusted. */
  private async ask(call: Reconciling, capability: Capability, probe: Probe): Promise<LookedUp | null> {
    try {
      const { args, masked } = await this.judge.open(call);
      return await this.connector.lookUp(capability, probe, {
        args,
        masked,
        downstreamKey: call.state.downstreamKey,
        externalRequestId: call.state.externalRequestId,
        deadline: this.desk.clock.monotonic() + LOOK_UP_TIMEOUT_MS,
      });
    } catch (error) {
      if (error instanceof RecordTampered) return null;
      throw error;
    }
  }

  private async askAgain(call: Reconciling, { finding, reached }: LookedUp, evidence: JsonObject): Promise<void> {
    const n = call.state.queries + 1;
    const result = !reached ? 'unreachable' : finding.finding === 'absent' ? 'absent_too_early' : 'inconclusive';
    const nextAt = new Date(this.desk.clock.now() + backoffMs(call.row.tool_call_id, n)).toISOString();
    await this.recorder.record(call, { kind: 'record_query', query: { n, result, nextAt, evidence } }, { nextAt });
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

/**
 * Not finding the effect proves something only when the manifest says so, and only when it was asked after everything on
 * the wire must have arrived and the tool has had time to show it.
 */
function absenceProves(
  state: ToolCallIn<'reconciling'>,
  { manifest }: Capability,
  probe: Probe,
  askedAt: string,
): boolean {
  const quietAtMs = Date.parse(state.deadline) + manifest.quiesceMs + probe.visibilityDelayMs;
  return probe.absenceIsProof && Date.parse(askedAt) >= quietAtMs;
}

const isReconciling = (call: LoadedCall): call is Reconciling => call.state.status === 'reconciling';
const isUnknown = (call: LoadedCall): call is Unknown =>
  call.state.status === 'result_unknown' || call.state.status === 'reconciling';
