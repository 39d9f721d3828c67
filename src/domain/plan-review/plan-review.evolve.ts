import type { DomainEvent } from '../events/catalogue.js';
import { isIn } from '../events/domain-event.js';
import { readTexts } from '../events/payload-reading.js';
import type { PlanReviewState, PlanReviewStatus } from './plan-review.state.js';

const CLOSED_AS: Readonly<Record<'expired' | 'invalidated' | 'run_ended', PlanReviewStatus>> = {
  expired: 'expired',
  invalidated: 'invalidated',
  run_ended: 'closed',
};

/** The state after one more event. Never judges; throws a plain `Error` for an event that cannot come here. */
export function evolvePlanReview(state: PlanReviewState | null, event: DomainEvent): PlanReviewState {
  if (!isIn('plan_review', event)) throw new Error(`${event.type} is not of a plan review`);
  if (event.type === 'plan_review.required') {
    const { planReviewId, planDigest, expiresAt, requesterSubjects } = event.payload;
    const question = { planReviewId, planDigest, decideBy: expiresAt, requesterSubjects: readTexts(requesterSubjects) };
    return { ...question, status: 'pending', decidedBy: null };
  }
  if (state === null) throw new Error(`${event.type} cannot be the first event of a plan review`);
  switch (event.type) {
    case 'plan_review.decided':
      return { ...state, status: event.payload.decision, decidedBy: event.payload.decidedBy };
    case 'plan_review.closed':
      return { ...state, status: CLOSED_AS[event.payload.reason] };
  }
}

export function foldPlanReview(events: readonly DomainEvent[]): PlanReviewState | null {
  return events.reduce<PlanReviewState | null>(evolvePlanReview, null);
}
