import type { PlanReviewState } from '../../domain/plan-review/plan-review.state.js';
import type { TableRow } from './tables.js';

/** What the row of a plan review holds besides its state. */
export type PlanReviewFacts = Pick<
  TableRow<'plan_reviews'>,
  | 'plan_review_id'
  | 'tenant'
  | 'principal'
  | 'run_id'
  | 'session_id'
  | 'version'
  | 'required_event_id'
  | 'last_event_id'
  | 'created_at'
  | 'updated_at'
>;

export function planReviewState(row: TableRow<'plan_reviews'>): PlanReviewState {
  return {
    planReviewId: row.plan_review_id,
    status: row.status,
    planDigest: row.plan_digest,
    requesterSubjects: JSON.parse(row.requesters) as readonly string[],
    decideBy: row.decide_by,
    decidedBy: row.decided_by,
  };
}

/** The row that the state says. */
export function planReviewRow(facts: PlanReviewFacts, state: PlanReviewState): TableRow<'plan_reviews'> {
  return {
    ...facts,
    status: state.status,
    plan_digest: state.planDigest,
    requesters: JSON.stringify(state.requesterSubjects),
    decide_by: state.decideBy,
    decided_by: state.decidedBy,
  };
}
