import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { Capability } from '../../capabilities/manifest.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import type { ErrorCode } from '../../domain/errors/error-codes.js';
import { isBefore } from '../../domain/events/instant.js';
import { endedLease } from '../../domain/lease/lease.place.js';
import { isLiveLease } from '../../domain/lease/lease.state.js';
import type { ToolCallIn } from '../../domain/tool-call/tool-call.state.js';
import { RecordTampered, type Papers } from '../../policy/case-file.js';
import { Judge } from '../../policy/judge.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { reached } from '../../system/crash-points.js';
import { HttpConnector } from '../connectors/http.connector.js';
import { settlementOf } from '../core/settlement.js';
import { CallRecorder } from './call-recorder.js';
import { SentNote } from './sent-note.js';

type Dispatching = LoadedCall & { readonly state: ToolCallIn<'dispatching'> };

/**
 * One attempt of one call: the intent to send is durable already; here the bytes leave, at most once, and what came back
 * is recorded. An attempt never has two units of its call in the queue at a time.
 */
@Injectable()
export class Attempt {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    private readonly connector: HttpConnector,
    private readonly recorder: CallRecorder,
  ) {}

  async run(tenant: string, toolCallId: string): Promise<void> {
    const call = await loadCall(this.desk.read, tenant, toolCallId);
    if (call === null || !isDispatching(call)) return;
    const capability = this.gate.bound(call.state);
    if (capability === undefined) {
      return this.refuse(call, 'capability_definition_changed', 'the definition that was judged is no longer in force');
    }
    let papers: Papers;
    try {
      papers = await this.judge.open(call);
    } catch (error) {
      if (!(error instanceof RecordTampered)) throw error;
      return this.refuse(call, 'record_tampered', error.message);
    }
    const missing = leaseProblem(call, capability, this.desk.now());
    if (missing !== null) return this.refuse(call, missing, 'the lease of the attempt can no longer be used');
    await this.send(call, capability, papers);
  }

  private async send(call: Dispatching, capability: Capability, { args, masked }: Papers): Promise<void> {
    const { clock } = this.desk;
    const { timeoutMs, retryRejected, effect } = capability.manifest;
    // However the wall clock jumps, an attempt never lives longer than the manifest says.
    const leftMs = Math.min(Date.parse(call.state.deadline) - clock.now(), timeoutMs);
    const sent = new SentNote(call, this.desk, this.recorder);
    const carried = await this.connector.carryOut(capability, {
      args,
      masked,
      downstreamKey: call.state.downstreamKey,
      externalRequestId: null,
      ...(call.lease === undefined ? {} : { lease: call.lease }),
      deadline: clock.monotonic() + leftMs,
      onSent: () => sent.mark(this.connector.recordSentAfterMs),
    });
    reached('proxy.answer-unrecorded', carried.observation);
    const endedAt = this.desk.now();
    const current = await sent.stop();
    const sentAt = carried.observation.class === 'not_sent' ? null : sent.at;
    await this.recorder.settle(
      current,
      settlementOf({ ...carried, sentAt, endedAt, retryRejected, isRead: effect === 'read_only', digest: jsonDigest }),
    );
  }

  /** Nothing was handed to the transport, and nothing will be. */
  private refuse(call: LoadedCall, code: string, message: string): Promise<void> {
    return this.recorder.settle(call, {
      kind: 'fail',
      acceptedAt: this.desk.now(),
      sentAt: null,
      failure: { code, effect: 'none', basis: 'not_sent', retryable: false, message },
    });
  }
}

/** What was lent is still there: whoever revokes a lease before its use keeps the request from being sent. */
function leaseProblem(call: Dispatching, { manifest }: Capability, now: string): ErrorCode | null {
  if (manifest.lease === undefined) return null;
  const { lease } = call;
  if (lease === undefined || lease.state.attempt !== call.state.attempt) return 'lease_not_found';
  if (!isLiveLease(lease.state)) {
    const ended = endedLease(lease.state);
    return ended.code;
  }
  return isBefore(now, lease.state.expiresAt) ? null : 'lease_expired';
}

const isDispatching = (call: LoadedCall): call is Dispatching => call.state.status === 'dispatching';
