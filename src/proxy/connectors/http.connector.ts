import { Injectable } from '@nestjs/common';
import { outputProblem } from '../../capabilities/argument-schema.js';
import type { Capability, RequestTemplate } from '../../capabilities/manifest.js';
import { renderRequest } from '../../capabilities/request-rendering.js';
import { jsonLimits } from '../../config/json-limits.js';
import { Settings } from '../../config/settings.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { parseStrictJson } from '../../domain/json/strict-json.js';
import { truncateText } from '../../domain/text/truncate-text.js';
import { HttpClient } from '../../egress/http-client.js';
import type { OutboundResult } from '../../egress/outbound-request.js';
import { Credentials } from '../../secrets/credentials.js';
import { classifyHttp, type HttpRules, type Observation } from '../core/classify-http.js';

/** What varies between two uses of a request template. */
export interface Use {
  readonly args: JsonObject;
  readonly downstreamKey: string;
  readonly externalRequestId: string | null;
  /** Monotonic milliseconds: nothing is written at or after it. */
  readonly sendBefore: number;
  /** Monotonic milliseconds: everything is torn down at it. */
  readonly deadline: number;
  /** Called when the request has been given to the socket. */
  readonly onSent?: () => void;
}

/** What one exchange with a tool brought, with credentials scrubbed out of everything that came from outside. */
export interface Carried {
  readonly observation: Observation;
  /** For the record: how the transport went, and the tool's own words for a rejection, bounded. */
  readonly evidence: JsonObject;
  readonly toolWords: string | null;
}

const WORDS_MAX = 500;
const PROBE_BYTES_MAX = 1024 * 1024;

/** Carries out a capability over HTTP, and looks its effect up. Agents choose neither hosts nor headers. */
@Injectable()
export class HttpConnector {
  constructor(
    private readonly http: HttpClient,
    private readonly credentials: Credentials,
    private readonly settings: Settings,
  ) {}

  /** Sends the effect. Called only after the intent to send is durable, once per attempt. */
  async carryOut(capability: Capability, use: Use): Promise<Carried> {
    const { connector } = capability.manifest;
    const responseBytesMax = Math.min(connector.responseBytesMax, this.settings.execution.resultBytesMax);
    const result = await this.send(capability, connector.request, use, responseBytesMax);
    const observation = this.scrubbed(classifyHttp(result, this.rules(capability)));
    return {
      observation,
      evidence: evidenceOf(result),
      toolWords: observation.class === 'rejected' || observation.class === 'unknown' ? this.words(result) : null,
    };
  }

  /** Sends the read-only look-up of the manifest's probe. */
  async lookUp(capability: Capability, template: RequestTemplate, use: Use): Promise<OutboundResult> {
    return this.send(capability, template, use, PROBE_BYTES_MAX);
  }

  private send(capability: Capability, template: RequestTemplate, use: Use, responseBytesMax: number): Promise<OutboundResult> {
    const { connector } = capability.manifest;
    const rendered = renderRequest(capability, template, use);
    return this.http.send({
      method: rendered.method,
      url: rendered.url,
      headers: rendered.headers,
      ...(connector.credential === null ? {} : { credentialHeaders: this.credentials.header(connector.credential).reveal() }),
      ...(rendered.body === null ? {} : { body: rendered.body }),
      allowAddresses: connector.allowAddresses,
      sendBeforeMonotonicMs: use.sendBefore,
      deadlineMonotonicMs: use.deadline,
      responseBytesMax,
      ...(use.onSent === undefined ? {} : { onHandedToTransport: use.onSent }),
    });
  }

  private rules(capability: Capability): HttpRules {
    const { manifest } = capability;
    return {
      definitiveStatus: manifest.definitiveStatus,
      rejectedBeforeExecutionStatus: manifest.rejectedBeforeExecutionStatus,
      ...(manifest.pending === null
        ? {}
        : { pending: { status: manifest.pending.status, referencePointer: manifest.pending.referenceAt } }),
      validateOutput: manifest.outputSchema === null ? null : (value) => outputProblem(capability, value),
      parseBody: (bytes) => {
        const parsed = parseStrictJson(bytes, jsonLimits(this.settings, this.settings.execution.resultBytesMax));
        return parsed.ok ? { ok: true, value: parsed.value } : { ok: false };
      },
    };
  }

  /** A tool that repeats our credential must not get it into the record. */
  private scrubbed(observation: Observation): Observation {
    if (observation.class === 'completed') {
      return { ...observation, output: this.credentials.scrub.json(observation.output) };
    }
    if (observation.class === 'accepted') {
      return { ...observation, externalRequestId: this.credentials.scrub(observation.externalRequestId) };
    }
    return observation;
  }

  private words(result: OutboundResult): string | null {
    if (result.kind !== 'response' || result.body.byteLength === 0) return null;
    const text = Buffer.from(result.body).toString('utf8');
    return truncateText(this.credentials.scrub(text, { isCut: result.bodyTruncated }), WORDS_MAX).text;
  }
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
