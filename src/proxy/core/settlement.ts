import type { UnknownCause } from '../../domain/events/catalogue.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { Observation } from './classify-http.js';

/** What the executor knows when an attempt has ended. */
export interface Ended {
  readonly observation: Observation;
  readonly evidence: JsonObject;
  /** The tool's own words about a rejection, scrubbed and bounded. */
  readonly toolWords: string | null;
  /** ISO 8601: when the request was given to the socket; null when it was not. */
  readonly sentAt: string | null;
  /** ISO 8601: when the answer was there. */
  readonly endedAt: string;
  readonly retryRejected: boolean;
  /** A read has no effect whatever became of it. */
  readonly isRead: boolean;
  readonly digest: (value: JsonValue) => string;
}

/** The command that records how an attempt ended: only affirmative evidence settles anything. */
export function settlementOf(ended: Ended): ToolCallCommand {
  const { observation, evidence, sentAt, endedAt } = ended;
  switch (observation.class) {
    case 'completed':
      return {
        kind: 'complete',
        acceptedAt: endedAt,
        sentAt,
        completion: {
          basis: 'direct',
          result: observation.output,
          resultDigest: ended.digest(observation.output),
          resultTruncated: observation.truncated,
          evidence,
        },
      };
    case 'accepted':
      return {
        kind: 'record_acceptance',
        sentAt,
        acceptance: { acceptedAt: endedAt, basis: 'ack', externalRequestId: observation.externalRequestId },
      };
    case 'rejected':
      return {
        kind: 'fail',
        acceptedAt: endedAt,
        sentAt,
        failure: {
          code: 'rejected_by_tool',
          effect: 'none',
          basis: 'rejected',
          retryable: ended.retryRejected,
          message: ended.toolWords ?? `the tool answered ${observation.status}`,
          evidence,
        },
      };
    case 'not_sent':
      return {
        kind: 'fail',
        acceptedAt: endedAt,
        sentAt: null,
        failure: {
          code: observation.cause === WITHOUT_CREDENTIAL ? WITHOUT_CREDENTIAL : 'not_sent',
          effect: 'none',
          basis: 'not_sent',
          retryable: true,
          message: `nothing was sent: ${observation.cause}`,
          evidence,
        },
      };
    case 'unknown':
      if (ended.isRead) return readWithoutAnswer(observation.cause, { sentAt, endedAt, evidence });
      return {
        kind: 'mark_unknown',
        sentAt,
        unknown: { cause: unknownCause(observation.cause), lastError: observation.cause, evidence },
      };
  }
}

/** Of a call whose credential was not to be had: nothing is sent without it. */
const WITHOUT_CREDENTIAL = 'credential_unavailable';

/** A read that brought no usable answer: there is no effect to look up, and it may be made again. */
export function readWithoutAnswer(
  cause: string,
  { sentAt, endedAt, evidence }: Pick<Ended, 'sentAt' | 'endedAt' | 'evidence'>,
): ToolCallCommand {
  const message = `the tool gave no usable answer: ${cause}`;
  return {
    kind: 'fail',
    acceptedAt: endedAt,
    sentAt,
    failure: { code: 'read_without_answer', effect: 'none', basis: 'read_only', retryable: true, message, evidence },
  };
}

/** The record's word for why nobody knows. */
export function unknownCause(cause: string): UnknownCause {
  switch (cause) {
    case 'timeout':
      return 'timeout';
    case 'redirect':
      return 'redirected';
    case 'status_not_definitive':
      return 'ambiguous_status';
    case 'output_unreadable':
    case 'output_invalid':
    case 'output_truncated':
    case 'accepted_without_reference':
    case 'bad_framing':
    case 'body_incomplete':
      return 'unreadable_answer';
    default:
      return 'reset';
  }
}
