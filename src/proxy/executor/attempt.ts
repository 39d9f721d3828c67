import { Injectable } from '@nestjs/common';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import type { Capability } from '../../capabilities/manifest.js';
import { Settings } from '../../config/settings.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import { CaseFile, RecordTampered } from '../../policy/case-file.js';
import { Store } from '../../storage/store.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { Clock } from '../../system/clock.js';
import { Logger, errorName } from '../../system/logger.js';
import { HttpConnector, type Carried } from '../connectors/http.connector.js';
import { settlementOf } from '../core/settlement.js';
import { CallRecorder } from './call-recorder.js';

/** How an attempt ended, for the breaker. */
export type AttemptEnd = 'settled' | 'unknown' | 'not_sent' | 'not_recorded';

/**
 * One attempt of one call: the intent to send is durable already; here the bytes leave, at most once, and what came back
 * is recorded. An attempt never has two units of its call in the queue at a time.
 */
@Injectable()
export class Attempt {
  constructor(
    private readonly store: Store,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly capabilities: CapabilityRegistry,
    private readonly caseFile: CaseFile,
    private readonly connector: HttpConnector,
    private readonly recorder: CallRecorder,
  ) {}

  async run(tenant: string, toolCallId: string): Promise<AttemptEnd> {
    const call = await loadCall(this.store.read, tenant, toolCallId);
    if (call === null || call.state.status !== 'dispatching') return 'not_recorded';
    const capability = this.capabilities.get(call.state.capability);
    if (capability === undefined || capability.manifestDigest !== call.state.manifestDigest) {
      return this.refuse(call, 'capability_definition_changed', 'the definition that was judged is no longer in force');
    }
    try {
      const { args } = await this.caseFile.open(call);
      return await this.send(call, capability, args);
    } catch (error) {
      if (!(error instanceof RecordTampered)) throw error;
      this.logger.error('record of a call differs from what was agreed to', { toolCallId });
      return this.refuse(call, 'record_tampered', error.message);
    }
  }

  private async send(call: LoadedCall, capability: Capability, args: Parameters<typeof jsonDigest>[0]): Promise<AttemptEnd> {
    const { state } = call;
    if (!('deadline' in state)) throw new Error('an attempt needs a deadline');
    const deadline = this.clock.monotonic() + (Date.parse(state.deadline) - this.clock.now());
    const sent = new SentNote(() => this.isoNow());
    const slow = this.recordWhenSlow(call, sent);
    const carried = await this.connector
      .carryOut(capability, {
        args: args as Parameters<HttpConnector['carryOut']>[1]['args'],
        downstreamKey: state.downstreamKey,
        externalRequestId: null,
        sendBefore: deadline - this.settings.execution.deadlineMarginMs,
        deadline,
        onSent: () => sent.mark(),
      })
      .catch((error: unknown) => this.surprised(error, sent));
    const current = await slow.stop();
    return this.settle(current, capability, carried, sent);
  }

  /** When no answer comes for a while, "sent" becomes a fact of its own, before the answer. */
  private recordWhenSlow(call: LoadedCall, sent: SentNote): { stop: () => Promise<LoadedCall> } {
    let recorded: Promise<LoadedCall> = Promise.resolve(call);
    const timer = setTimeout(() => {
      if (sent.at === null) return;
      const dispatchedAt = sent.at;
      recorded = this.recorder
        .record(call, { kind: 'record_sent', sent: { dispatchedAt } })
        .catch((error: unknown) => {
          this.logger.warn('sent could not be recorded by itself', { toolCallId: call.row.tool_call_id, error: errorName(error) });
          return call;
        });
    }, this.settings.execution.recordSentAfterMs);
    return {
      stop: () => {
        clearTimeout(timer);
        return recorded;
      },
    };
  }

  private async settle(call: LoadedCall, capability: Capability, carried: Carried, sent: SentNote): Promise<AttemptEnd> {
    const { manifest } = capability;
    const command = settlementOf({
      ...carried,
      sentAt: carried.observation.class === 'not_sent' ? null : sent.at,
      endedAt: this.isoNow(),
      retryRejected: manifest.retryRejected,
      digest: (value: JsonValue) => jsonDigest(value),
    });
    const recorded = await this.recorder.settle(call, command, { quiesceMs: manifest.quiesceMs });
    if (!recorded) return 'not_recorded';
    switch (carried.observation.class) {
      case 'unknown':
        return 'unknown';
      case 'not_sent':
        return 'not_sent';
      case 'completed':
      case 'accepted':
      case 'rejected':
        return 'settled';
    }
  }

  /** Nothing was handed to the transport, and nothing will be. */
  private async refuse(call: LoadedCall, code: string, message: string): Promise<AttemptEnd> {
    await this.recorder.settle(
      call,
      {
        kind: 'fail',
        acceptedAt: this.isoNow(),
        sentAt: null,
        failure: { code, effect: 'none', basis: 'not_sent', retryable: false, message },
      },
      { quiesceMs: 0 },
    );
    return 'settled';
  }

  /** A mistake of ours in the middle of an exchange: what is known is only whether bytes may have left. */
  private surprised(error: unknown, sent: SentNote): Carried {
    this.logger.error('an exchange ended with an unexpected error', { error: errorName(error) });
    const observation =
      sent.at === null ? ({ class: 'not_sent', cause: 'internal' } as const) : ({ class: 'unknown', cause: 'internal' } as const);
    return { observation, evidence: {}, toolWords: null };
  }

  private isoNow(): string {
    return new Date(this.clock.now()).toISOString();
  }
}

/** When the request was given to the socket. */
class SentNote {
  private moment: string | null = null;

  constructor(private readonly now: () => string) {}

  get at(): string | null {
    return this.moment;
  }

  mark(): void {
    this.moment ??= this.now();
  }
}
