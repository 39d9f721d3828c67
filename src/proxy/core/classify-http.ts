import { parsePointer, valueAt } from '../../domain/json/json-pointer.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import { outputOf, parsedBody, type OutputRules } from './http-output.js';

/** What one attempt over HTTP brought, as far as its class depends on it. `egress` results have this shape. */
export type HttpObservation =
  | {
      readonly kind: 'response';
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      readonly bodyTruncated: boolean;
    }
  | {
      readonly kind: 'no_response';
      readonly cause: string;
      /** False is proof that no byte of the request left. */
      readonly evidence: { readonly bytesWritten: boolean };
    };

type HttpResponse = Extract<HttpObservation, { kind: 'response' }>;

export interface HttpRules extends OutputRules {
  /** Answers of 400 and above after which nothing has happened and nothing will. */
  readonly definitiveStatus: readonly number[];
  /** Further answers of 400 and above that the manifest declares to be given before anything is executed. */
  readonly rejectedBeforeExecutionStatus: readonly number[];
  /** Answers of 2xx that mean "still working"; the pointer (RFC 6901) names the provider's reference in the body. */
  readonly pending?: { readonly status: readonly number[]; readonly referencePointer: string };
}

export const DEFAULT_DEFINITIVE_STATUS: readonly number[] = [400, 401, 403, 404, 405, 410, 422];

/**
 * The class of an attempt. `not_sent` and `rejected` prove that there was no effect, `completed` that there was one, `accepted` that it
 * is being worked on; `unknown` proves nothing, and nothing may be sent again because of it.
 */
export type Observation =
  | { readonly class: 'not_sent'; readonly cause: string }
  | { readonly class: 'rejected'; readonly status: number }
  | { readonly class: 'completed'; readonly output: JsonValue; readonly status: number; readonly truncated: boolean }
  | { readonly class: 'accepted'; readonly externalRequestId: string; readonly status: number }
  /** `cause` is the transport's word where there was no response, otherwise one of `output_*`, `redirect`, `status_not_definitive`, `accepted_without_reference`. */
  | { readonly class: 'unknown'; readonly cause: string; readonly status?: number };

const ACCEPTED = 202;
const REFERENCE_CHARACTERS_MAX = 512;

/**
 * The table of HTTP answers. Only an affirmative answer settles anything: whatever is not listed, readable and valid is `unknown`. A status
 * of 5xx, and 408, 409, 425 or 429, is a rejection only where the rules name it.
 */
export function classifyHttp(observation: HttpObservation, rules: HttpRules): Observation {
  if (observation.kind === 'no_response') {
    return observation.evidence.bytesWritten
      ? { class: 'unknown', cause: observation.cause }
      : { class: 'not_sent', cause: observation.cause };
  }
  const { status } = observation;
  if (status >= 200 && status < 300) return classifySuccess(observation, rules);
  if (status >= 300 && status < 400) return { class: 'unknown', cause: 'redirect', status };
  const isRejection =
    status >= 400 && (rules.definitiveStatus.includes(status) || rules.rejectedBeforeExecutionStatus.includes(status));
  return isRejection ? { class: 'rejected', status } : { class: 'unknown', cause: 'status_not_definitive', status };
}

function classifySuccess(response: HttpResponse, rules: HttpRules): Observation {
  const { status } = response;
  if (status === ACCEPTED || rules.pending?.status.includes(status) === true) return classifyPending(response, rules);
  const output = outputOf(response, rules);
  return output.ok
    ? { class: 'completed', output: output.value, status, truncated: response.bodyTruncated }
    : { class: 'unknown', cause: output.cause, status };
}

/** Without a reference nobody could ever ask how it went on, so "accepted" would be a dead end. */
function classifyPending(response: HttpResponse, rules: HttpRules): Observation {
  const { status } = response;
  const externalRequestId =
    rules.pending === undefined ? null : referenceIn(response, rules, rules.pending.referencePointer);
  return externalRequestId === null
    ? { class: 'unknown', cause: 'accepted_without_reference', status }
    : { class: 'accepted', externalRequestId, status };
}

function referenceIn(response: HttpResponse, rules: HttpRules, pointer: string): string | null {
  const parsed = parsedBody(response, rules);
  if (!parsed.ok || parsePointer(pointer) === null) return null;
  const reference = valueAt(parsed.value, pointer);
  if (typeof reference === 'number') return Number.isSafeInteger(reference) ? String(reference) : null;
  const isUsable = typeof reference === 'string' && reference !== '' && reference.length <= REFERENCE_CHARACTERS_MAX;
  return isUsable ? reference : null;
}
