import { refuse, type Refusal } from '../errors/error-codes.js';
import { decided, mustHold } from '../events/decided.js';
import type { ToolCallCommandOf } from './tool-call.commands.js';
import { isOneOf, UNKNOWN, type DecidedCall } from './tool-call.place.js';
import type { ToolCallState } from './tool-call.state.js';

/**
 * True only where it is proven that the present attempt had no effect (decision 29): never sent, rejected by a
 * definitive answer, proven absent, or found by a person, with evidence, not to have happened. A denial proves nothing
 * of the kind here: nobody allowed it, so there is nothing to try again.
 */
export function provenNoEffect(state: ToolCallState): boolean {
  switch (state.status) {
    case 'failed':
      return state.knownEffect === 'none';
    case 'not_executed':
      return true;
    case 'manual_handoff':
      return state.resolution?.finding === 'not_happened' && state.resolution.evidenceRefs.length > 0;
    case 'proposed':
    case 'authorized':
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
    case 'completed':
    case 'denied':
      return false;
  }
}

/** Null when the call may be tried again. The run must be open too; that is not this machine's to know. */
export function retryRefusal(state: ToolCallState): Refusal | null {
  if (isOneOf(state, UNKNOWN)) {
    return refuse('retry_forbidden_result_unknown', 'It is not known whether the effect happened.');
  }
  if (state.contradicted) {
    return refuse('retry_not_allowed', `The call is ${state.status}, and evidence says otherwise.`);
  }
  if (!provenNoEffect(state)) {
    return refuse('retry_not_allowed', `The call is ${state.status}; nothing proves that it had no effect.`);
  }
  if (state.status === 'failed' && !state.retryable) {
    return refuse('retry_not_allowed', 'The tool would repeat its rejection for the unchanged key.');
  }
  return null;
}

/** E18, the only edge that leads back. */
export function acceptRetry(state: ToolCallState, { retry }: ToolCallCommandOf<'accept_retry'>): DecidedCall {
  const refusal = retryRefusal(state);
  if (refusal !== null) return refusal;
  mustHold(retry.attempt === state.attempt + 1, 'a retry is the next attempt');
  mustHold(retry.previousStatus === state.status, 'a retry names the status it leaves');
  return decided({ type: 'tool.call.retry_accepted', payload: retry });
}
