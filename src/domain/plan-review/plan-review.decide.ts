import { refuse, type Refusal } from '../errors/error-codes.js';
import { decided, type Decided } from '../events/decided.js';
import type { EventIn } from '../events/domain-event.js';
import { isBefore } from '../events/instant.js';
import type { PlanReviewCommand, PlanReviewCommandOf } from './plan-review.commands.js';
import type { PlanReviewState } from './plan-review.state.js';

export type PlanReviewEvent = EventIn<'plan_review'>;
export type DecidedPlanReview = Decided<PlanReviewEvent>;

/**
 * One approver's word settles a review: a plan runs nothing, every call of it is judged by itself. As with approvals the
 * first decision stands, the same one again changes nothing, nobody decides on their own plan and no agent on any.
 */
export function decidePlanReview(state: PlanReviewState | null, command: PlanReviewCommand): DecidedPlanReview {
  if (command.kind === 'require') {
    if (state !== null) return refuse('duplicate_id', 'A plan review with this id exists.');
    return decided({ type: 'plan_review.required', payload: command.question });
  }
  if (state === null) return refuse('plan_review_not_found', 'There is no such plan review.');
  switch (command.kind) {
    case 'decide':
      return decideBy(state, command);
    case 'expire':
      if (state.status !== 'pending') return notPending(state);
      return isBefore(command.now, state.decideBy)
        ? refuse('version_stale', 'Its deadline has not come.')
        : close(state, 'expired');
    case 'invalidate':
      return state.status === 'pending' ? close(state, 'invalidated') : notPending(state);
    case 'end_run':
      return state.status === 'pending' ? close(state, 'run_ended') : notPending(state);
  }
}

function decideBy(state: PlanReviewState, command: PlanReviewCommandOf<'decide'>): DecidedPlanReview {
  const { voter, decision, planDigest, reason, now } = command;
  if (voter.isAgent) return refuse('approver_not_allowed', "An agent's own credential can never decide.");
  if (state.decidedBy === voter.sub && state.status === decision) return decided();
  if (state.status !== 'pending') return notPending(state);
  if (!isBefore(now, state.decideBy)) return refuse('approval_expired', 'The deadline of the review has passed.');
  if (voter.groups.length === 0) return refuse('approver_not_allowed', 'Only an approver may decide on a plan.');
  if (state.requesterSubjects.includes(voter.sub)) {
    return refuse('approver_not_allowed', 'Nobody decides on a plan of their own.');
  }
  if (planDigest !== state.planDigest) {
    return refuse('action_digest_mismatch', 'What you decided on is not what this review shows.');
  }
  const { planReviewId } = state;
  const payload = { planReviewId, decision, decidedBy: voter.sub, planDigest, reason };
  return decided({ type: 'plan_review.decided', payload });
}

function close({ planReviewId }: PlanReviewState, reason: 'expired' | 'invalidated' | 'run_ended'): DecidedPlanReview {
  return decided({ type: 'plan_review.closed', payload: { planReviewId, reason } });
}

function notPending(state: PlanReviewState): Refusal {
  switch (state.status) {
    case 'pending':
      throw new Error('a pending review is asked for what it is');
    case 'approved':
    case 'rejected':
      return refuse('approval_already_decided', `The plan has been ${state.status}.`);
    case 'expired':
      return refuse('approval_expired', 'The review has expired.');
    case 'invalidated':
    case 'closed':
      return refuse('approval_not_pending', `The review is ${state.status}.`);
  }
}
