import type { PlanReviewStatus } from '../../domain/plan-review/plan-review.state.js';
import type { TableRow } from '../rows/tables.js';

/** A page by id, newest first: `before` is the last id of the page before. */
export interface PlanReviewListQuery {
  readonly tenant: string;
  readonly limit: number;
  readonly before: string | null;
  /** Null: of every run. */
  readonly runId: string | null;
  /** `principalKey`; null: of everybody. */
  readonly principal: string | null;
  readonly status: PlanReviewStatus | null;
}

export interface PlanReviewReader {
  planReview(tenant: string, planReviewId: string): Promise<TableRow<'plan_reviews'> | null>;
  /** Of one run, the newest; null where there is none. */
  latestPlanReview(tenant: string, runId: string): Promise<TableRow<'plan_reviews'> | null>;
  planReviews(query: PlanReviewListQuery): Promise<readonly TableRow<'plan_reviews'>[]>;
  /** All tenants: pending ones whose time is over or whose run has ended. */
  planReviewsToClose(now: string, limit: number): Promise<readonly TableRow<'plan_reviews'>[]>;
}
