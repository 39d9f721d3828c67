import { refuse } from '../errors/error-codes.js';
import { decided } from '../events/decided.js';
import { evolveApproval } from './approval.evolve.js';
import type { ApprovalCommandOf } from './approval.commands.js';
import { voiceOf } from './approval.people.js';
import type { ApprovalEvent, DecidedApproval } from './approval.place.js';
import type { ApprovalState } from './approval.state.js';
import { agentRefusal, closedToVotes, granted, outsiderRefusal } from './approval.vote.js';

/**
 * Somebody trusted with emergencies lets the call pass alone. It is consent to exactly what was shown, like any other; the
 * policy sees that it is an emergency and may refuse it still, and another person owes a review.
 */
export function breakGlass(state: ApprovalState, command: ApprovalCommandOf<'break_glass'>): DecidedApproval {
  const { voter, mayBreakGlass, consentDigest, reason, now } = command;
  if (voter.isAgent) return agentRefusal();
  const closed = closedToVotes(state, now);
  if (closed !== null) return closed;
  if (!mayBreakGlass) return refuse('approver_not_allowed', 'You are not among the people trusted with emergencies.');
  if (state.requesterSubjects.includes(voter.sub)) {
    return refuse('approver_not_allowed', 'Nobody lets their own request pass.');
  }
  if (consentDigest !== state.consentDigest) return otherDigest();
  const used: ApprovalEvent = {
    type: 'approval.break_glass_used',
    payload: { by: { sub: voter.sub }, consentDigest, reason },
  };
  return decided(used, granted(evolveApproval(state, used), [voter.sub], now));
}

/** The owed look at an emergency, by somebody who had no part in it. */
export function review(state: ApprovalState, command: ApprovalCommandOf<'review'>): DecidedApproval {
  const { voter, finding, reason } = command;
  if (voter.isAgent) return agentRefusal();
  const isPassed = state.status !== 'pending' && state.status !== 'denied';
  if (state.breakGlass === null || !isPassed)
    return refuse('review_not_owed', 'Nothing was let pass in an emergency here.');
  if (state.breakGlass.by === voter.sub || state.requesterSubjects.includes(voter.sub)) {
    return refuse('approver_not_allowed', 'Another person reviews an emergency.');
  }
  if (state.review !== null) return refuse('review_not_owed', 'The review has been recorded.');
  return decided({ type: 'approval.review_recorded', payload: { by: { sub: voter.sub }, finding, reason } });
}

/** Other arguments are another call: the question about these ones closes, nobody can say yes to them any more. */
export function edit(state: ApprovalState, command: ApprovalCommandOf<'edit'>): DecidedApproval {
  const { voter, consentDigest, reason, newToolCallId, now } = command;
  if (voter.isAgent) return agentRefusal();
  const closed = closedToVotes(state, now);
  if (closed !== null) return closed;
  if (voiceOf(state, voter, now).groups.length === 0) return outsiderRefusal();
  if (consentDigest !== state.consentDigest) return otherDigest();
  return decided(
    { type: 'approval.edited', payload: { by: { sub: voter.sub }, consentDigest, reason, newToolCallId } },
    { type: 'approval.closed', payload: { reason: 'superseded' } },
  );
}

const otherDigest = (): ReturnType<typeof refuse> =>
  refuse('action_digest_mismatch', 'What you decided on is not what this approval shows.');
