import { refuse, type Refusal } from '../errors/error-codes.js';
import { decided, type Decided } from '../events/decided.js';
import type { EventIn } from '../events/domain-event.js';
import type { ApprovalState } from './approval.state.js';

export type ApprovalEvent = EventIn<'approval'>;
export type DecidedApproval = Decided<ApprovalEvent>;

/** The refusal by an approval that is neither pending nor granted any more. */
export function endedRefusal(state: Exclude<ApprovalState, { readonly status: 'pending' | 'granted' }>): Refusal {
  switch (state.status) {
    case 'consumed':
      return refuse('approval_already_consumed', 'The approval has been used.');
    case 'denied':
      return refuse('approval_already_decided', 'The approval has been denied.');
    case 'expired':
      return refuse('approval_expired', 'The approval has expired.');
    case 'invalidated':
    case 'closed':
      return refuse('approval_not_pending', `The approval is ${state.status}: ${state.reason}.`);
  }
}

/** The event while the approval is pending or granted, otherwise refused. */
export function whileLive(state: ApprovalState, event: ApprovalEvent): DecidedApproval {
  return state.status === 'pending' || state.status === 'granted' ? decided(event) : endedRefusal(state);
}
