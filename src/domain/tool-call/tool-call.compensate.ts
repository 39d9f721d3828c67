import { refuse, type Refusal } from '../errors/error-codes.js';
import { decided, mustHold } from '../events/decided.js';
import type { ToolCallCommandOf } from './tool-call.commands.js';
import type { DecidedCall } from './tool-call.place.js';
import type { ToolCallState } from './tool-call.state.js';

/**
 * True only where it is on record that there is an effect to undo: a result, a failure that left something behind, or
 * a person's finding. What is merely unknown is looked up first: undoing what may not exist is an effect of its own.
 */
export function hasEffectToUndo(state: ToolCallState): boolean {
  if (state.effect === 'read_only') return false;
  switch (state.status) {
    case 'completed':
      return true;
    case 'failed':
      return state.knownEffect !== 'none';
    case 'manual_handoff':
      return state.resolution?.finding === 'happened' || state.resolution?.finding === 'partial';
    case 'proposed':
    case 'authorized':
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
    case 'denied':
    case 'not_executed':
      return false;
  }
}

/** Null when a compensation of this call may be proposed. */
export function compensationRefusal(state: ToolCallState): Refusal | null {
  if (state.compensatedBy !== null) return refuse('duplicate_id', 'A compensation of this call has been proposed.');
  if (hasEffectToUndo(state)) return null;
  return refuse('compensation_not_possible', `The call is ${state.status}; nothing proves an effect to undo.`);
}

/** The original stays as it is; it only names the call that is meant to undo it. */
export function requestCompensation(
  state: ToolCallState,
  { request }: ToolCallCommandOf<'request_compensation'>,
): DecidedCall {
  const refusal = compensationRefusal(state);
  if (refusal !== null) return refusal;
  mustHold(request.newToolCallId !== request.compensatesToolCallId, 'a call does not undo itself');
  return decided({ type: 'compensation.requested', payload: request });
}
