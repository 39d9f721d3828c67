import { decided, mustHold } from '../events/decided.js';
import { refuse } from '../errors/error-codes.js';
import type { ToolCallCommandOf } from './tool-call.commands.js';
import { from, isOneOf, ON_THE_WIRE, outOfPlace, UNSENT, type CallEvent, type DecidedCall } from './tool-call.place.js';
import type { ToolCallState } from './tool-call.state.js';

/**
 * How a call that is on the wire gets its end. A unit states every step that was not recorded on its own (decision 17):
 * `[tool.call.dispatched] [tool.call.accepted]` and then one of completed, failed, result_unknown.
 */

/** Failures that come before the tool takes the request on; anything else implies that it did. */
const NEVER_SENT = ['not_sent', 'durability_failed'];

export function recordAcceptance(state: ToolCallState, command: ToolCallCommandOf<'record_acceptance'>): DecidedCall {
  return from(state, ['dispatching', 'dispatched'], ...sentFirst(state, command.sentAt), {
    type: 'tool.call.accepted',
    payload: command.acceptance,
  });
}

export function complete(state: ToolCallState, command: ToolCallCommandOf<'complete'>): DecidedCall {
  const { completion, acceptedAt, sentAt } = command;
  mustHold(completion.basis !== 'reconciliation', 'what reconciliation finds is resolved, not completed');
  return from(
    state,
    ON_THE_WIRE,
    ...sentFirst(state, sentAt),
    ...acceptedFirst(state, acceptedAt, completion.externalRequestId ?? null),
    { type: 'tool.call.completed', payload: completion },
  );
}

export function fail(state: ToolCallState, command: ToolCallCommandOf<'fail'>): DecidedCall {
  const { failure, acceptedAt, sentAt } = command;
  mustHold(failure.basis !== 'reconciliation', 'what reconciliation finds is resolved, not failed');
  mustHold(failure.basis !== 'cancelled', 'a cancellation is acknowledged, not failed');
  const failed: CallEvent = { type: 'tool.call.failed', payload: failure };
  if (NEVER_SENT.includes(failure.basis)) {
    mustHold(failure.effect === 'none' && (sentAt ?? null) === null, 'what was never sent has no effect and no time');
    return from(state, ['dispatching', 'dispatched'], failed);
  }
  const isRead = failure.basis === 'read_only';
  mustHold(
    !isRead || (state.effect === 'read_only' && failure.effect === 'none'),
    'only a read has no effect by itself',
  );
  const beforeAcceptance = isRead || (failure.basis === 'rejected' && failure.effect === 'none');
  const accepted = beforeAcceptance ? [] : acceptedFirst(state, acceptedAt, null);
  return from(state, ON_THE_WIRE, ...sentFirst(state, sentAt), ...accepted, failed);
}

export function markUnknown(state: ToolCallState, command: ToolCallCommandOf<'mark_unknown'>): DecidedCall {
  const { unknown, sentAt } = command;
  const event: CallEvent = { type: 'tool.call.result_unknown', payload: unknown };
  // What is not on record as sent may have been sent all the same in the time that a restored store has lost.
  if (unknown.cause === 'restored' && isOneOf(state, UNSENT)) {
    mustHold(unknown.carrying !== undefined && unknown.carrying !== null, 'a lost attempt is described by its event');
    return decided(event);
  }
  return from(state, ON_THE_WIRE, ...sentFirst(state, sentAt), event);
}

/** S6. Asking once is enough: a second request adds nothing, the first deadline stands. */
export function requestCancellation(
  state: ToolCallState,
  command: ToolCallCommandOf<'request_cancellation'>,
): DecidedCall {
  if (isOneOf(state, ON_THE_WIRE)) {
    if (state.cancellationRequested) return decided();
    if (state.irreversible !== null)
      return refuse('cancel_not_supported', 'It is on record that it cannot be stopped.');
  }
  return from(state, ON_THE_WIRE, { type: 'tool.cancellation_requested', payload: command.cancellation });
}

/** S8, S9. It is said once of an attempt: what cannot be stopped does not become stoppable by asking again. */
export function recordIrreversible(
  state: ToolCallState,
  command: ToolCallCommandOf<'record_irreversible'>,
): DecidedCall {
  if (isOneOf(state, ON_THE_WIRE) && state.irreversible !== null && !state.cancellationRequested) return decided();
  return from(state, ON_THE_WIRE, { type: 'external_action_irreversible', payload: command.irreversible });
}

/** E21: only for a call whose cancellation was durably asked for, and that is known to have been sent. */
export function acknowledgeCancellation(
  state: ToolCallState,
  command: ToolCallCommandOf<'acknowledge_cancellation'>,
): DecidedCall {
  const { cancelled, failure, sentAt } = command;
  mustHold(failure.basis === 'cancelled' && failure.code === 'cancelled', 'an acknowledged cancellation fails as such');
  mustHold(failure.effect === cancelled.effect, 'the cancellation and the failure state one effect');
  const sent = sentFirst(state, sentAt);
  const wasSent = state.status !== 'dispatching' || sent.length > 0;
  if (!isOneOf(state, ON_THE_WIRE)) return outOfPlace(state);
  if (!state.cancellationRequested)
    return refuse('tool_call_not_ready', 'Nobody has asked the tool to cancel this call.');
  if (!wasSent) return refuse('tool_call_not_ready', 'The call is not known to have been sent.');
  return decided(
    ...sent,
    { type: 'tool.cancelled', payload: cancelled },
    { type: 'tool.call.failed', payload: failure },
  );
}

/** E7, when this unit is the first to say it. */
function sentFirst(state: ToolCallState, sentAt: string | null | undefined): readonly CallEvent[] {
  if (state.status !== 'dispatching' || sentAt === undefined || sentAt === null) return [];
  return [{ type: 'tool.call.dispatched', payload: { dispatchedAt: sentAt } }];
}

/** E8, implied by a result of a call that nobody has seen accepted. */
function acceptedFirst(
  state: ToolCallState,
  acceptedAt: string,
  externalRequestId: string | null,
): readonly CallEvent[] {
  if (state.status === 'accepted') return [];
  return [{ type: 'tool.call.accepted', payload: { acceptedAt, basis: 'implicit_by_result', externalRequestId } }];
}
