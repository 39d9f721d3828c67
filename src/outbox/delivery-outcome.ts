import type { NoResponseResult, OutboundResult } from '../egress/outbound-request.js';
import { retryAfterMs } from './retry-after.js';
import type { Failure, Outcome } from './sink.js';

/** Answers about the receiver and not about the event: it, or something in front of it, cannot now. */
const UNAVAILABLE: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** What an answer to a POST of an event says of the event and of its receiver. `nowMs`: wall clock, for `Retry-After`. */
export function outcomeOf(result: OutboundResult, nowMs: number): Outcome {
  if (result.kind === 'no_response') return withoutAnswer(result);
  const { status, headers } = result;
  if (status >= 200 && status <= 299) return { kind: 'delivered' };
  // Standard Webhooks, "Responding to webhooks": 410 means that the receiver wants no more of them.
  const kind = status === 410 ? 'gone' : UNAVAILABLE.has(status) ? 'unavailable' : 'refused';
  return { kind, reason: `http_${status}`, retryAfterMs: retryAfterMs(headers['retry-after'], nowMs) };
}

function withoutAnswer({ cause }: NoResponseResult): Outcome {
  if (cause === 'aborted') return { kind: 'not_tried' };
  return { kind: 'unavailable', reason: cause, retryAfterMs: null } satisfies Failure;
}
