import { define } from './event-definition.js';

/** A plan that people are shown before a run goes on, and what became of the question. */
export const PLAN_REVIEW_EVENTS = {
  'plan_review.required': define('plan_review', 1, ['policy-runtime'], {
    planReviewId: 'text',
    plan: 'json',
    /** Over the plan as it was sent; what the decision sends back. */
    planDigest: 'text',
    expiresAt: 'text',
    requesterSubjects: 'list',
  }),
  'plan_review.decided': define('plan_review', 1, ['policy-runtime'], {
    planReviewId: 'text',
    decision: ['approved', 'rejected'],
    decidedBy: 'text',
    planDigest: 'text',
    reason: 'text?',
  }),
  'plan_review.closed': define('plan_review', 1, ['policy-runtime', 'recovery'], {
    planReviewId: 'text',
    reason: ['expired', 'invalidated', 'run_ended'],
  }),
} as const;
