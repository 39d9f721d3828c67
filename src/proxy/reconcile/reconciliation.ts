import { Injectable } from '@nestjs/common';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import type { Capability, Probe } from '../../capabilities/manifest.js';
import { jsonLimits } from '../../config/json-limits.js';
import { Settings } from '../../config/settings.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { parseStrictJson } from '../../domain/json/strict-json.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { ToolCallIn } from '../../domain/tool-call/tool-call.state.js';
import type { OutboundResult } from '../../egress/outbound-request.js';
import { CaseFile, RecordTampered } from '../../policy/case-file.js';
import { Credentials } from '../../secrets/credentials.js';
import { Store } from '../../storage/store.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { Clock } from '../../system/clock.js';
import { IdSource } from '../../system/id-source.js';
import { RandomSource } from '../../system/random-source.js';
import { HttpConnector } from '../connectors/http.connector.js';
import { backoffMs } from '../core/backoff.js';
import { readFinding, type Finding } from '../core/probe-finding.js';
import { CallRecorder } from '../executor/call-recorder.js';
import { handoffPacket } from './handoff-packet.js';

type HandoffReason = Extract<ToolCallCommand, { kind: 'hand_off' }>['handoff']['reason'];
type Reconciling = LoadedCall & { readonly state: ToolCallIn<'reconciling'> };

const LOOK_UP_TIMEOUT_MS = 10_000;
const BODY_BYTES_MAX = 1024 * 1024;

/**
 * Finds out what became of a call, with read-only requests alone. There is no way from here back to sending: evidence
 * settles the call, or people are asked.
 */
@Injectable()
export class Reconciliation {
  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly settings: Settings,
    private readonly capabilities: CapabilityRegistry,
    private readonly caseFile: CaseFile,
    private readonly credentials: Credentials,
    private readonly connector: HttpConnector,
    private readonly recorder: CallRecorder,
  ) {}

  /** One step: start, look once, settle, or hand off. @throws GuardFailed when somebody else moved the call. */
  async step(tenant: string, toolCallId: string): Promise<void> {
    const call = await loadCall(this.store.read, tenant, toolCallId);
    if (call === null || (call.state.status !== 'result_unknown' && call.state.status !== 'reconciling')) return;
    const capability = this.capabilities.get(call.state.capability);
    const probe = capability?.manifest.probe ?? null;
    const unusable = capability === undefined || capability.manifestDigest !== call.state.manifestDigest;
    if (unusable || probe === null || capability.manifest.onAmbiguous === 'handoff') {
      await this.handOff(call, 'no_query_possible');
      return;
    }
    const looking = call.state.status === 'reconciling' ? (call as Reconciling) : await this.start(call, probe);
    await this.look(looking, capability, probe);
  }

  private async start(call: LoadedCall, probe: Probe): Promise<Reconciling> {
    const deadline = new Date(this.clock.now() + probe.budgetMs).toISOString();
    const started = await this.recorder.record(call, {
      kind: 'start_reconciliation',
      start: { strategy: probe.strategy, deadline },
    });
    return started as Reconciling;
  }

  private async look(call: Reconciling, capability: Capability, probe: Probe): Promise<void> {
    const { state } = call;
    if (state.queries >= probe.attemptsMax) return this.handOff(call, 'attempts_exhausted');
    if (new Date(this.clock.now()).toISOString() >= state.reconciliationDeadline) return this.handOff(call, 'deadline_passed');
    const askedAtMs = this.clock.now();
    const result = await this.ask(call, capability, probe);
    if (result === null) return this.handOff(call, 'no_query_possible');
    const finding = this.findingOf(result, probe);
    const evidence = { finding: finding.finding, askedAt: new Date(askedAtMs).toISOString(), ...transport(result) };
    switch (finding.finding) {
      case 'happened':
        await this.recorder.record(call, happened(finding, evidence, this.credentials), {}); // E15
        return;
      case 'failed':
        await this.recorder.record(call, didNotHappen('failed', 'failed_at_tool', evidence), {}); // E16
        return;
      case 'absent':
        if (this.absenceProves(call, capability, probe, askedAtMs)) {
          await this.recorder.record(call, didNotHappen('not_happened', 'absent_at_tool', evidence), {});
          return;
        }
        return this.askAgain(call, 'absent_too_early', evidence);
      case 'pending':
      case 'unclear':
        return this.askAgain(call, result.kind === 'response' ? 'inconclusive' : 'unreachable', evidence);
    }
  }

  /** Null when the look-up cannot be made because the record of the call cannot be trusted. */
  private async ask(call: Reconciling, capability: Capability, probe: Probe): Promise<OutboundResult | null> {
    try {
      const { args } = await this.caseFile.open(call);
      const deadline = this.clock.monotonic() + LOOK_UP_TIMEOUT_MS;
      return await this.connector.lookUp(capability, probe.request, {
        args,
        downstreamKey: call.state.downstreamKey,
        externalRequestId: call.state.externalRequestId,
        sendBefore: deadline,
        deadline,
      });
    } catch (error) {
      if (error instanceof RecordTampered) return null;
      throw error;
    }
  }

  private findingOf(result: OutboundResult, probe: Probe): Finding {
    if (result.kind !== 'response') return { finding: 'unclear' };
    const parsed = result.bodyTruncated ? null : parseStrictJson(result.body, jsonLimits(this.settings, BODY_BYTES_MAX));
    return readFinding(result.status, parsed !== null && parsed.ok ? parsed.value : undefined, probe);
  }

  /**
   * Not finding the effect proves something only when the manifest says so, and only when it was asked after everything
   * on the wire must have arrived and the tool has had time to show it.
   */
  private absenceProves(call: Reconciling, capability: Capability, probe: Probe, askedAtMs: number): boolean {
    const quietAtMs = Date.parse(call.state.deadline) + capability.manifest.quiesceMs + probe.visibilityDelayMs;
    return probe.absenceIsProof && askedAtMs >= quietAtMs;
  }

  private async askAgain(
    call: Reconciling,
    result: 'inconclusive' | 'unreachable' | 'absent_too_early',
    evidence: JsonObject,
  ): Promise<void> {
    const n = call.state.queries + 1;
    const luck = (this.random.bytes(1)[0] ?? 0) / 256;
    const nextAt = new Date(this.clock.now() + backoffMs(n, luck)).toISOString();
    await this.recorder.record(call, { kind: 'record_query', query: { n, result, nextAt, evidence } }, { nextAt });
  }

  private async handOff(call: LoadedCall, reason: HandoffReason): Promise<void> {
    const handoffId = this.ids.next(ID_PREFIXES.handoff);
    const packet = await handoffPacket(this.store.read, call, this.settings.limits.pageMax);
    await this.recorder.record(call, {
      kind: 'hand_off',
      handoff: { reason, evidenceRefs: [] },
      opened: { handoffId, packet },
    });
  }
}

function happened(
  finding: Extract<Finding, { finding: 'happened' }>,
  evidence: JsonObject,
  credentials: Credentials,
): ToolCallCommand {
  const result = credentials.scrub.json(finding.effect);
  return {
    kind: 'resolve_happened',
    resolution: { verdict: 'happened', evidenceRefs: [], evidence },
    completion: {
      basis: 'reconciliation',
      result,
      resultDigest: jsonDigest(result),
      resultTruncated: false,
      externalRequestId: finding.reference,
    },
  };
}

function didNotHappen(verdict: 'failed' | 'not_happened', code: string, evidence: JsonObject): ToolCallCommand {
  return {
    kind: 'resolve_failed',
    resolution: { verdict, evidenceRefs: [], evidence },
    failure: { code, effect: 'none', basis: 'reconciliation', retryable: verdict === 'not_happened' },
  };
}

function transport(result: OutboundResult): JsonObject {
  return result.kind === 'response' ? { status: result.status } : { transport: result.cause };
}
