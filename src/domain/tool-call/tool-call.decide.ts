import { refuse } from '../errors/error-codes.js';
import type { EventPayload } from '../events/catalogue.js';
import { decided, mustHold } from '../events/decided.js';
import { isBefore } from '../events/instant.js';
import type { ToolCallCommand, ToolCallCommandOf } from './tool-call.commands.js';
import { from, outOfPlace, type CallEvent, type DecidedCall } from './tool-call.place.js';
import {
  handOff,
  recordFinding,
  recordQuery,
  resolveFailed,
  resolveHandoff,
  resolveHappened,
} from './tool-call.resolve.js';
import { requestCompensation } from './tool-call.compensate.js';
import { acceptRetry, retryRefusal } from './tool-call.retry.js';
import {
  acknowledgeCancellation,
  complete,
  fail,
  markUnknown,
  recordAcceptance,
  recordIrreversible,
  requestCancellation,
} from './tool-call.settle.js';
import { TERMINAL_STATUSES, type ToolCallState } from './tool-call.state.js';

/**
 * What a command makes true of a tool call, in the order of decision 17, or why it is refused. The rules of
 * state-machines §4 and §6; `tool-call.transitions.ts` says the same as a table, and the spec proves that they agree.
 *
 * Throws a plain `Error` when a command contradicts itself or the call's own numbers (attempt, key): that is a mistake
 * in our code and must not become a fact.
 */
export function decideToolCall(state: ToolCallState | null, command: ToolCallCommand): DecidedCall {
  if (command.kind === 'propose') return propose(state, command);
  if (state === null) return refuse('tool_call_not_found', 'There is no such tool call.');
  switch (command.kind) {
    case 'record_decision':
      return recordDecision(state, command);
    case 'authorize':
      return authorize(state, command);
    case 'deny':
      return deny(state, command);
    case 'close':
      return from(state, ['proposed', 'authorized'], { type: 'tool.call.not_executed', payload: command.closing });
    case 'withdraw':
      return from(state, ['authorized'], withdrawn(command.withdrawal));
    case 'dispatch':
      return dispatch(state, command);
    case 'record_sent':
      return from(state, ['dispatching'], { type: 'tool.call.dispatched', payload: command.sent });
    case 'record_acceptance':
      return recordAcceptance(state, command);
    case 'complete':
      return complete(state, command);
    case 'fail':
      return fail(state, command);
    case 'mark_unknown':
      return markUnknown(state, command);
    case 'start_reconciliation':
      return from(state, ['result_unknown'], { type: 'reconciliation.started', payload: command.start });
    case 'record_query':
      return recordQuery(state, command);
    case 'resolve_happened':
      return resolveHappened(state, command);
    case 'resolve_failed':
      return resolveFailed(state, command);
    case 'hand_off':
      return handOff(state, command);
    case 'record_finding':
      return recordFinding(state, command);
    case 'resolve_handoff':
      return resolveHandoff(state, command);
    case 'accept_retry':
      return acceptRetry(state, command);
    case 'record_callback':
      return decided({ type: 'tool.call.callback_received', payload: command.callback });
    case 'ignore_callback':
      return decided({ type: 'tool.call.callback_ignored', payload: command.ignored });
    case 'record_contradiction':
      return from(state, TERMINAL_STATUSES, {
        type: 'tool.call.contradiction_recorded',
        payload: command.contradiction,
      });
    case 'request_cancellation':
      return requestCancellation(state, command);
    case 'acknowledge_cancellation':
      return acknowledgeCancellation(state, command);
    case 'record_irreversible':
      return recordIrreversible(state, command);
    case 'request_compensation':
      return requestCompensation(state, command);
  }
}

/** E1. */
function propose(state: ToolCallState | null, { proposal }: ToolCallCommandOf<'propose'>): DecidedCall {
  if (state !== null) return refuse('duplicate_id', 'A tool call with this id exists.');
  return decided({ type: 'tool.call.proposed', payload: proposal });
}

/** A judgement is recorded where it decides something: before authorisation, at dispatch, and before a retry. */
function recordDecision(state: ToolCallState, { decision }: ToolCallCommandOf<'record_decision'>): DecidedCall {
  const judged: CallEvent = { type: 'policy.decided', payload: decision };
  if (decision.phase === 'dispatch') return from(state, ['authorized'], judged);
  if (decision.phase === 'retry' && state.status !== 'proposed') return retryRefusal(state) ?? decided(judged);
  return from(state, ['proposed'], judged);
}

/** E2. */
function authorize(state: ToolCallState, { authorization }: ToolCallCommandOf<'authorize'>): DecidedCall {
  mustHold(authorization.attempt === state.attempt, 'an authorisation is for the present attempt');
  return from(state, ['proposed'], { type: 'capability.authorized', payload: authorization });
}

/** E3; what policy or a person refuses once it was authorized loses its authorisation first (E5): no edge of its own. */
function deny(state: ToolCallState, { denial }: ToolCallCommandOf<'deny'>): DecidedCall {
  const denied: CallEvent = { type: 'tool.call.denied', payload: denial };
  const isLate = denial.basis === 'policy_at_dispatch' || denial.basis === 'refusal';
  return isLate && state.status === 'authorized'
    ? decided(withdrawn({ reason: denial.basis }), denied)
    : from(state, ['proposed'], denied);
}

/** E6. Digest, policy, pauses and the approval are the unit's guards; the two deadlines are the call's own. */
function dispatch(state: ToolCallState, command: ToolCallCommandOf<'dispatch'>): DecidedCall {
  if (state.status !== 'authorized') return outOfPlace(state);
  mustHold(command.dispatch.attempt === state.attempt, 'what is sent is the present attempt');
  mustHold(command.dispatch.downstreamKey === state.downstreamKey, 'a call has one downstream key for life');
  const deadlines = state.executeBefore === null ? [state.executeBy] : [state.executeBy, state.executeBefore];
  if (!deadlines.every((deadline) => isBefore(command.now, deadline))) {
    return refuse('approval_expired', 'The time in which the call may be sent is over.');
  }
  return decided({ type: 'tool.call.dispatching', payload: command.dispatch });
}

function withdrawn(withdrawal: EventPayload<'capability.authorization_withdrawn'>): CallEvent {
  return { type: 'capability.authorization_withdrawn', payload: withdrawal };
}
