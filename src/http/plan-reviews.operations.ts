import {
  planDecisionBody,
  planReviewBody,
  planReviewListQuery,
  planReviewPage,
  planReviewRepresentation,
} from '../client/contract/plan-reviews.js';
import { COMMAND_KEY, COUNTERSIGN_COMMAND } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

export const REQUIRE_PLAN_REVIEW = {
  id: 'requirePlanReview',
  tag: 'Runs',
  summary: 'Have people see a plan',
  description:
    'For the harness of the run, which waits until somebody has decided. Another plan invalidates the review that is open; the same plan again finds its review.',
  body: planReviewBody,
  answers: {
    201: { means: 'People are asked.', body: planReviewRepresentation },
    200: { means: 'This plan is asked about, or was approved, already.', body: planReviewRepresentation },
  },
  refusals: ['run_not_found', 'run_already_ended', 'run_stopping', 'run_suspended', ...RECORDING],
} as const satisfies Operation;

export const LIST_PLAN_REVIEWS = {
  id: 'listPlanReviews',
  tag: 'Runs',
  summary: 'List plan reviews',
  query: planReviewListQuery,
  answers: {
    200: { means: 'Newest first; for a harness those of its own principal.', body: planReviewPage },
  },
  refusals: ['run_not_found'],
} as const satisfies Operation;

export const GET_PLAN_REVIEW = {
  id: 'getPlanReview',
  tag: 'Runs',
  summary: 'Read a plan review',
  answers: { 200: { means: 'The plan, and what became of the question.', body: planReviewRepresentation } },
  refusals: ['plan_review_not_found'],
} as const satisfies Operation;

export const DECIDE_PLAN_REVIEW = {
  id: 'decidePlanReview',
  tag: 'Runs',
  summary: 'Approve or reject a plan',
  description:
    'For a person in one of `policy.approverGroups` who is not a requester. It allows no call: each is judged by itself.',
  headers: [COMMAND_KEY],
  body: planDecisionBody,
  answers: {
    200: { means: 'The decision is on record.', body: planReviewRepresentation, headers: [COUNTERSIGN_COMMAND] },
  },
  refusals: [
    'approver_not_allowed',
    'plan_review_not_found',
    'approval_already_decided',
    'approval_expired',
    'approval_not_pending',
    'action_digest_mismatch',
    'run_already_ended',
    'invalid_idempotency_key',
    'command_id_conflict',
    ...RECORDING,
  ],
} as const satisfies Operation;
