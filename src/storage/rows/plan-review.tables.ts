import type { PlanReviewStatus } from '../../domain/plan-review/plan-review.state.js';

/** Part of `Tables`. The plan itself is in the sealed event alone. */
export interface PlanReviewTables {
  plan_reviews: {
    plan_review_id: string;
    tenant: string;
    /** `principalKey` of the run. */
    principal: string;
    run_id: string;
    session_id: string;
    status: PlanReviewStatus;
    plan_digest: string;
    /** JSON: string[]. */
    requesters: string;
    decide_by: string;
    decided_by: string | null;
    version: number;
    required_event_id: string;
    last_event_id: string;
    created_at: string;
    updated_at: string;
  };
}
