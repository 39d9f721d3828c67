import { decided, type Decided } from '../events/decided.js';
import type { EventIn } from '../events/domain-event.js';
import { refuse, type Refusal } from '../errors/error-codes.js';
import { isTerminal, type ToolCallState, type ToolCallStatus } from './tool-call.state.js';

export type CallEvent = EventIn<'call'>;
export type DecidedCall = Decided<CallEvent>;

/** Nothing of it is on record as sent. */
export const UNSENT = ['proposed', 'authorized'] as const;

/** Bytes may have left for the tool and no end is known. */
export const ON_THE_WIRE = ['dispatching', 'dispatched', 'accepted'] as const;

/** Nobody can tell yet whether the effect happened. */
export const UNKNOWN = ['result_unknown', 'reconciling'] as const;

/** The refusal of a transition that this status does not have. */
export function outOfPlace(state: ToolCallState): Refusal {
  return isTerminal(state.status)
    ? refuse('tool_call_already_ended', `The call has ended: ${state.status}.`)
    : refuse('tool_call_not_ready', `The call is ${state.status}; it has no such transition.`);
}

export function isOneOf<S extends ToolCallStatus>(
  state: ToolCallState,
  statuses: readonly S[],
): state is ToolCallState & { readonly status: S } {
  return statuses.some((status) => status === state.status);
}

/** The whole rule of most transitions: these events from these statuses, otherwise refused. */
export function from(state: ToolCallState, statuses: readonly ToolCallStatus[], ...events: CallEvent[]): DecidedCall {
  return isOneOf(state, statuses) ? decided(...events) : outOfPlace(state);
}
