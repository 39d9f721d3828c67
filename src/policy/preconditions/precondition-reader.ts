import { Injectable } from '@nestjs/common';
import type { Capability, Precondition } from '../../capabilities/manifest.js';
import { renderRequest } from '../../capabilities/request-rendering.js';
import { isSensitiveName, looksLikeCredential } from '../../capabilities/sensitive-names.js';
import { jsonLimits } from '../../config/json-limits.js';
import { Settings } from '../../config/settings.js';
import { DOWNSTREAM_KEY_LENGTH_MIN } from '../../domain/digests/digests.js';
import { parsePointer, valueAt } from '../../domain/json/json-pointer.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { parseStrictJson } from '../../domain/json/strict-json.js';
import { mask } from '../../domain/redaction/redact.js';
import { escapeForDisplay } from '../../domain/text/escape-text.js';
import { HttpClient } from '../../egress/http-client.js';
import type { OutboundResult } from '../../egress/outbound-request.js';
import type { Scrubber } from '../../proxy/core/scrub.js';
import { Credentials } from '../../secrets/credentials.js';
import { UpstreamCredentials } from '../../secrets/upstream/upstream-credentials.js';
import { Clock } from '../../system/clock.js';
import { judgeValue, SHOWN_CHARACTERS_MAX, type Reading, type Scalar } from '../core/precondition.js';

/** What a reading may depend on: the call's effective arguments, in clear. */
export interface ReadFor {
  readonly args: JsonObject;
  /** Texts that nobody may see: the redacted arguments. */
  readonly masked: readonly string[];
}

/** Why nothing can be said about a value; never what came back. */
export interface Unreadable {
  readonly cause: string;
}

const ANSWER_BYTES_MAX = 262_144;
const NOT_FOUND = [404, 410];

const WITHOUT_CREDENTIAL: OutboundResult = {
  kind: 'no_response',
  cause: 'credential_unavailable',
  evidence: { bytesWritten: false, headersFlushed: false, startedAtMs: 0, endedAtMs: 0 },
};

/** A request of a precondition never names the call, which does not exist yet when people are asked. */
const NO_KEY = 'x'.repeat(DOWNSTREAM_KEY_LENGTH_MIN);

/**
 * Reads one value of the world: a plain GET through the door out, below the connector's base URL and within its address
 * list, never redirected, bounded in time and size, with the credential that the precondition names and no other.
 */
@Injectable()
export class PreconditionReader {
  constructor(
    private readonly http: HttpClient,
    private readonly credentials: Credentials,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly upstream: UpstreamCredentials,
  ) {}

  async read(capability: Capability, precondition: Precondition, about: ReadFor): Promise<Reading | Unreadable> {
    const { name, title } = precondition;
    const answer = this.found(await this.ask(capability, precondition, about.args), precondition);
    if ('cause' in answer) return answer;
    const judged = judgeValue(precondition, answer.value, about.args);
    const shown = judged.isAbsent ? undefined : this.shown(answer.value, precondition, about.masked);
    const observedAt = new Date(this.clock.now()).toISOString();
    return { name, title, ...judged, observedAt, ...(shown === undefined ? {} : { shown }) };
  }

  private async ask(capability: Capability, precondition: Precondition, args: JsonObject): Promise<OutboundResult> {
    const { request, credential, timeoutMs } = precondition;
    const deadline = this.clock.monotonic() + timeoutMs;
    const isReady = credential === null || (await (this.upstream.ready(credential, deadline) ?? true));
    const header = credential === null ? null : this.credentials.find(credential);
    if (!isReady || (credential !== null && header === null)) return WITHOUT_CREDENTIAL;
    const rendered = renderRequest(capability, request, { args, downstreamKey: NO_KEY, externalRequestId: null });
    return this.http.send({
      method: rendered.method,
      url: rendered.url,
      headers: rendered.headers,
      ...(header === null ? {} : { credentialHeaders: header.reveal() }),
      allowAddresses: capability.manifest.connector.allowAddresses,
      sendBeforeMonotonicMs: deadline,
      deadlineMonotonicMs: deadline,
      responseBytesMax: ANSWER_BYTES_MAX,
    });
  }

  /** The value, undefined where the tool says that there is none. Only an answer that is whole says anything. */
  private found(result: OutboundResult, { at }: Precondition): { value: JsonValue | undefined } | Unreadable {
    if (result.kind !== 'response') return { cause: result.cause };
    if (NOT_FOUND.includes(result.status)) return { value: undefined };
    if (result.status < 200 || result.status > 299) return { cause: `status_${result.status}` };
    if (result.bodyTruncated) return { cause: 'answer_too_large' };
    const parsed = parseStrictJson(result.body, jsonLimits(this.settings, ANSWER_BYTES_MAX));
    return parsed.ok ? { value: valueAt(parsed.value, at) } : { cause: 'answer_not_json' };
  }

  /** A short text, a number, true, false or null as people may see it; undefined for everything else. */
  private shown(value: JsonValue | undefined, { at }: Precondition, masked: readonly string[]): Scalar | undefined {
    if (value === undefined || (typeof value === 'object' && value !== null)) return undefined;
    if (typeof value === 'boolean' || value === null) return value;
    if (isSecret(value, at, masked)) return mask(value);
    const scrub = masked.length === 0 ? this.credentials.scrub : this.credentials.scrubWith(masked);
    return displayed(value, scrub);
  }
}

function isSecret(value: string | number, at: string, masked: readonly string[]): boolean {
  const name = parsePointer(at)?.at(-1) ?? '';
  return isSensitiveName(name) || looksLikeCredential(String(value)) || masked.includes(String(value));
}

function displayed(value: string | number, scrub: Scrubber): Scalar | undefined {
  const clean = scrub.json(value) as string | number;
  if (typeof clean === 'number') return clean;
  const text = escapeForDisplay(clean);
  return text.length > SHOWN_CHARACTERS_MAX ? undefined : text;
}
