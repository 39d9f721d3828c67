import { Injectable } from '@nestjs/common';
import { outputProblem } from '../../capabilities/argument-schema.js';
import type { Cancel, Capability, Probe, RequestTemplate } from '../../capabilities/manifest.js';
import { renderRequest, type RenderedRequest } from '../../capabilities/request-rendering.js';
import { jsonLimits } from '../../config/json-limits.js';
import { Settings } from '../../config/settings.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { parseStrictJson } from '../../domain/json/strict-json.js';
import { truncateText } from '../../domain/text/truncate-text.js';
import { HttpClient } from '../../egress/http-client.js';
import type { OutboundResult } from '../../egress/outbound-request.js';
import type { CredentialHeader } from '../../secrets/credential-header.js';
import { Credentials } from '../../secrets/credentials.js';
import { UpstreamCredentials } from '../../secrets/upstream/upstream-credentials.js';
import type { LoadedLease } from '../../storage/units/lease-in-unit.js';
import { LeaseCredentials } from './lease-credentials.js';
import type { Scrubber } from '../core/scrub.js';
import { classifyHttp, type HttpRules, type Observation } from '../core/classify-http.js';
import { readCancelAnswer, type CancelHeard } from '../core/cancel-answer.js';
import { readFinding, readReplay, type Finding } from '../core/probe-finding.js';

/** What varies between two uses of a request template. */
export interface Use {
  readonly args: JsonObject;
  readonly downstreamKey: string;
  readonly externalRequestId: string | null;
  /** Monotonic milliseconds: nothing is written shortly before it, and everything is torn down at it. */
  readonly deadline: number;
  /** Texts that nobody may see, besides credentials: the redacted arguments of this call. */
  readonly masked?: readonly string[];
  /** What the request is made under, where the manifest has leases. */
  readonly lease?: LoadedLease;
  /** The token of that lease; only this file makes and reads it. */
  readonly token?: string;
  /** Called when the request has been given to the socket. */
  readonly onSent?: () => void;
}

/** What one exchange with a tool brought, with credentials scrubbed out of everything that came from outside. */
export interface Carried {
  readonly observation: Observation;
  /** For the record: how the transport went. */
  readonly evidence: JsonObject;
  /** The tool's own words where it did not simply succeed, bounded. */
  readonly toolWords: string | null;
}

/** What a look-up brought. */
export interface LookedUp {
  readonly finding: Finding;
  /** True when the tool answered at all. */
  readonly reached: boolean;
  readonly evidence: JsonObject;
}

const WORDS_MAX = 500;
const PROBE_BYTES_MAX = 1024 * 1024;
const UNAUTHORIZED = 401;

/** Nothing is ever sent without the credential that its definition names. */
const WITHOUT_CREDENTIAL: OutboundResult = {
  kind: 'no_response',
  cause: 'credential_unavailable',
  evidence: { bytesWritten: false, headersFlushed: false, startedAtMs: 0, endedAtMs: 0 },
};

/** Carries out a capability over HTTP, and looks its effect up. Agents choose neither hosts nor headers. */
@Injectable()
export class HttpConnector {
  constructor(
    private readonly http: HttpClient,
    private readonly credentials: Credentials,
    private readonly settings: Settings,
    private readonly upstream: UpstreamCredentials,
    private readonly leased: LeaseCredentials,
  ) {}

  /** Milliseconds without an answer after which "sent" is a fact of its own. */
  get recordSentAfterMs(): number {
    return this.settings.execution.recordSentAfterMs;
  }

  /** Sends the effect. Called only after the intent to send is durable, once per attempt. */
  async carryOut(capability: Capability, given: Use): Promise<Carried> {
    const { connector } = capability.manifest;
    const use = given.lease === undefined ? given : await this.withToken(given);
    const bytesMax = Math.min(connector.responseBytesMax, this.settings.execution.resultBytesMax);
    const result = await this.send(capability, connector.request, use, bytesMax);
    const scrub = this.scrubberFor(use);
    const observation = scrubbed(classifyHttp(result, this.rules(capability)), scrub);
    const succeeded = observation.class === 'completed' || observation.class === 'accepted';
    return { observation, evidence: evidenceOf(result), toolWords: succeeded ? null : wordsOf(result, scrub) };
  }

  /** Sends the read-only look-up of the manifest's probe and reads what it says about the effect. */
  async lookUp(capability: Capability, probe: Probe, given: Use): Promise<LookedUp> {
    const use = given.lease === undefined ? given : await this.withToken(given);
    const credential = probe.credential ?? capability.manifest.connector.credential;
    const result = await this.send(capability, probe.request, use, PROBE_BYTES_MAX, credential);
    const evidence = evidenceOf(result);
    if (result.kind !== 'response') return { finding: { finding: 'unclear' }, reached: false, evidence };
    const body = result.bodyTruncated ? undefined : this.parse(result.body, PROBE_BYTES_MAX);
    const finding = scrubbedFinding(readFinding(result.status, body, probe), this.scrubberFor(use));
    return { finding, reached: true, evidence };
  }

  /** Sends the identical request again, under the tool's idempotency contract, to hear what became of the first. */
  async replay(capability: Capability, use: Use): Promise<LookedUp> {
    const { observation, evidence } = await this.carryOut(capability, use);
    const reached = observation.class !== 'not_sent' && 'status' in observation;
    return { finding: readReplay(observation), reached, evidence: { ...evidence, replayed: true } };
  }

  /** Asks the tool to stop a call. Called only after the wish is durable, at most once per attempt. */
  async cancel(capability: Capability, cancel: Cancel, use: Use): Promise<CancelHeard> {
    const result = await this.send(capability, cancel.request, use, PROBE_BYTES_MAX);
    const { effect } = cancel;
    const evidence = evidenceOf(result);
    if (result.kind !== 'response') {
      return { answer: result.evidence.bytesWritten ? 'unanswered' : 'not_sent', effect, evidence };
    }
    const body = result.bodyTruncated ? undefined : this.parse(result.body, PROBE_BYTES_MAX);
    return { answer: readCancelAnswer(result.status, body, cancel), effect, evidence };
  }

  /** The token is masked like every other secret of the call: a tool that repeats it does not get it into the record. */
  private async withToken(use: Use): Promise<Use> {
    const token = await this.leased.tokenFor(use.lease);
    return token === null ? use : { ...use, token, masked: [...(use.masked ?? []), token] };
  }

  private credentialHeaders(
    capability: Capability,
    rendered: RenderedRequest,
    use: Use,
    header: CredentialHeader | null,
  ): Readonly<Record<string, string>> | null {
    if (use.token !== undefined) return this.leased.bearer(capability, use.token);
    if (header === null) return null;
    if (capability.manifest.lease?.mode === 'sign_on_behalf') {
      return this.leased.signature(rendered, header, use.lease);
    }
    return header.reveal();
  }

  private send(
    capability: Capability,
    template: RequestTemplate,
    use: Use,
    responseBytesMax: number,
    credential = capability.manifest.connector.credential,
  ): Promise<OutboundResult> {
    const sendBefore = use.deadline - this.settings.execution.deadlineMarginMs;
    const waiting = credential === null ? null : this.upstream.ready(credential, sendBefore);
    if (waiting === null) return this.transmit(capability, template, use, { responseBytesMax, credential });
    return waiting.then((isReady) =>
      isReady ? this.transmit(capability, template, use, { responseBytesMax, credential }) : WITHOUT_CREDENTIAL,
    );
  }

  private async transmit(
    capability: Capability,
    template: RequestTemplate,
    use: Use,
    { responseBytesMax, credential }: { readonly responseBytesMax: number; readonly credential: string | null },
  ): Promise<OutboundResult> {
    const { allowAddresses } = capability.manifest.connector;
    const header = credential === null ? null : this.credentials.find(credential);
    if (credential !== null && header === null) return WITHOUT_CREDENTIAL;
    const rendered = renderRequest(capability, template, use);
    const credentialHeaders = this.credentialHeaders(capability, rendered, use, header);
    const result = await this.http.send({
      method: rendered.method,
      url: rendered.url,
      headers: rendered.headers,
      ...(credentialHeaders === null ? {} : { credentialHeaders }),
      ...(rendered.body === null ? {} : { body: rendered.body }),
      allowAddresses,
      sendBeforeMonotonicMs: use.deadline - this.settings.execution.deadlineMarginMs,
      deadlineMonotonicMs: use.deadline,
      responseBytesMax,
      ...(use.onSent === undefined ? {} : { onHandedToTransport: use.onSent }),
    });
    if (credential !== null && result.kind === 'response' && result.status === UNAUTHORIZED) {
      this.upstream.refused(credential, result.evidence.startedAtMs);
    }
    return result;
  }

  private rules(capability: Capability): HttpRules {
    const { definitiveStatus, rejectedBeforeExecutionStatus, pending, outputSchema } = capability.manifest;
    return {
      definitiveStatus,
      rejectedBeforeExecutionStatus,
      ...(pending === null ? {} : { pending: { status: pending.status, referencePointer: pending.referenceAt } }),
      validateOutput: outputSchema === null ? null : (value) => outputProblem(capability, value),
      parseBody: (bytes) => {
        const value = this.parse(bytes, this.settings.execution.resultBytesMax);
        return value === undefined ? { ok: false } : { ok: true, value };
      },
    };
  }

  private parse(bytes: Uint8Array, bytesMax: number): JsonValue | undefined {
    const parsed = parseStrictJson(bytes, jsonLimits(this.settings, bytesMax));
    return parsed.ok ? parsed.value : undefined;
  }

  private scrubberFor(use: Use): Scrubber {
    const { masked = [] } = use;
    return masked.length === 0 ? this.credentials.scrub : this.credentials.scrubWith(masked);
  }
}

/** A tool that repeats a secret must not get it into the record. */
function scrubbed(observation: Observation, scrub: Scrubber): Observation {
  if (observation.class === 'completed') return { ...observation, output: scrub.json(observation.output) };
  if (observation.class === 'accepted' && recordable(observation.externalRequestId, scrub) === null) {
    return { class: 'unknown', cause: 'accepted_without_reference', status: observation.status };
  }
  return observation;
}

/** A reference with something scrubbed out is another one: asked by it, a tool would say that it knows of no effect. */
function recordable(reference: string | null, scrub: Scrubber): string | null {
  return reference === null || scrub(reference) !== reference ? null : reference;
}

function scrubbedFinding(finding: Finding, scrub: Scrubber): Finding {
  if (!('reference' in finding)) return finding;
  const reference = recordable(finding.reference, scrub);
  return 'effect' in finding
    ? { ...finding, effect: scrub.json(finding.effect), reference }
    : { ...finding, reference };
}

function wordsOf(result: OutboundResult, scrub: Scrubber): string | null {
  if (result.kind !== 'response' || result.body.byteLength === 0) return null;
  const text = Buffer.from(result.body).toString('utf8');
  return truncateText(scrub(text, { isCut: result.bodyTruncated }), WORDS_MAX).text;
}

function evidenceOf(result: OutboundResult): JsonObject {
  const { bytesWritten, headersFlushed, startedAtMs, endedAtMs, bodyBytes } = result.evidence;
  return {
    bytesWritten,
    headersFlushed,
    tookMs: Math.round(endedAtMs - startedAtMs),
    ...(bodyBytes === undefined ? {} : { bodyBytes }),
    ...(result.kind === 'response' ? { status: result.status } : { transport: result.cause }),
  };
}
