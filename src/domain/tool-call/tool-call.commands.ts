import type { EventPayload } from '../events/catalogue.js';

/**
 * What a tool call can be told to do. Each command carries the payload of the event it leads to; `decide` says whether
 * the transition exists, never what the world looks like. The letters in brackets are rows of the transition table.
 *
 * `sentAt` is when the bytes were handed to the transport, null or absent when that is not known. A unit that settles a
 * call which is still `dispatching` states it first (decision 17); once `tool.call.dispatched` is recorded it is not used.
 */
export type ToolCallCommand =
  | { readonly kind: 'propose'; readonly proposal: EventPayload<'tool.call.proposed'> } // E1
  | { readonly kind: 'record_decision'; readonly decision: EventPayload<'policy.decided'> } // any judged state
  | { readonly kind: 'authorize'; readonly authorization: EventPayload<'capability.authorized'> } // E2
  | { readonly kind: 'deny'; readonly denial: EventPayload<'tool.call.denied'> } // E3
  | { readonly kind: 'close'; readonly closing: EventPayload<'tool.call.not_executed'> } // E4
  | { readonly kind: 'withdraw'; readonly withdrawal: EventPayload<'capability.authorization_withdrawn'> } // E5
  | { readonly kind: 'dispatch'; readonly dispatch: EventPayload<'tool.call.dispatching'>; readonly now: string } // E6
  | { readonly kind: 'record_sent'; readonly sent: EventPayload<'tool.call.dispatched'> } // E7
  | ({ readonly kind: 'record_acceptance'; readonly acceptance: EventPayload<'tool.call.accepted'> } & Sent) // E8
  | ({
      readonly kind: 'complete'; // E9 with the implied E8
      readonly completion: EventPayload<'tool.call.completed'>;
      readonly acceptedAt: string;
    } & Sent)
  | ({
      readonly kind: 'fail'; // E10 with the implied E8, E11
      readonly failure: EventPayload<'tool.call.failed'>;
      readonly acceptedAt: string;
    } & Sent)
  | ({ readonly kind: 'mark_unknown'; readonly unknown: EventPayload<'tool.call.result_unknown'> } & Sent) // E12
  | { readonly kind: 'start_reconciliation'; readonly start: EventPayload<'reconciliation.started'> } // E13
  | { readonly kind: 'record_query'; readonly query: EventPayload<'reconciliation.attempted'> } // E14
  | {
      readonly kind: 'resolve_happened'; // E15
      readonly resolution: EventPayload<'reconciliation.resolved'>;
      readonly completion: EventPayload<'tool.call.completed'>;
    }
  | {
      readonly kind: 'resolve_failed'; // E16
      readonly resolution: EventPayload<'reconciliation.resolved'>;
      readonly failure: EventPayload<'tool.call.failed'>;
    }
  | {
      readonly kind: 'hand_off'; // E17
      readonly handoff: EventPayload<'tool.call.manual_handoff'>;
      readonly opened: EventPayload<'manual.handoff_opened'>;
    }
  | { readonly kind: 'record_finding'; readonly finding: EventPayload<'manual.finding_recorded'> } // the first of two
  | { readonly kind: 'resolve_handoff'; readonly finding: EventPayload<'manual.handoff_resolved'> } // decision 29
  | { readonly kind: 'accept_retry'; readonly retry: EventPayload<'tool.call.retry_accepted'> } // E18
  | { readonly kind: 'record_callback'; readonly callback: EventPayload<'tool.call.callback_received'> }
  | { readonly kind: 'ignore_callback'; readonly ignored: EventPayload<'tool.call.callback_ignored'> } // E19
  | { readonly kind: 'record_contradiction'; readonly contradiction: EventPayload<'tool.call.contradiction_recorded'> } // E20
  | { readonly kind: 'request_cancellation'; readonly cancellation: EventPayload<'tool.cancellation_requested'> } // S6
  | ({
      readonly kind: 'acknowledge_cancellation'; // E21
      readonly cancelled: EventPayload<'tool.cancelled'>;
      readonly failure: EventPayload<'tool.call.failed'>;
    } & Sent)
  | { readonly kind: 'record_irreversible'; readonly irreversible: EventPayload<'external_action_irreversible'> } // S8, S9
  | { readonly kind: 'request_compensation'; readonly request: EventPayload<'compensation.requested'> };

interface Sent {
  readonly sentAt?: string | null;
}

/** The command of one kind. */
export type ToolCallCommandOf<K extends ToolCallCommandKind> = Extract<ToolCallCommand, { readonly kind: K }>;

export type ToolCallCommandKind = ToolCallCommand['kind'];
