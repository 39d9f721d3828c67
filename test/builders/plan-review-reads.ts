import { isEnded } from '../../src/domain/run/run.state.js';
import type { PlanReviewReader } from '../../src/storage/readers/plan-review-records.js';
import type { TableName, TableRow } from '../../src/storage/rows/tables.js';

interface Rows {
  rows<T extends TableName>(table: T): readonly TableRow<T>[];
}

/** What the store in memory answers about plan reviews. */
export function planReviewReads(store: Rows): PlanReviewReader {
  const newestFirst = (tenant: string): TableRow<'plan_reviews'>[] =>
    store
      .rows('plan_reviews')
      .filter((row) => row.tenant === tenant)
      .toSorted((a, b) => (a.plan_review_id < b.plan_review_id ? 1 : -1));
  return {
    planReview: async (tenant, id) => newestFirst(tenant).find((row) => row.plan_review_id === id) ?? null,
    latestPlanReview: async (tenant, runId) => newestFirst(tenant).find((row) => row.run_id === runId) ?? null,
    planReviews: async ({ tenant, limit, before, runId, principal, status }) =>
      newestFirst(tenant)
        .filter(
          (row) =>
            (before === null || row.plan_review_id < before) &&
            (runId === null || row.run_id === runId) &&
            (principal === null || row.principal === principal) &&
            (status === null || row.status === status),
        )
        .slice(0, limit),
    planReviewsToClose: async (now, limit) =>
      store
        .rows('plan_reviews')
        .filter((row) => {
          const run = store.rows('runs').find(({ run_id }) => run_id === row.run_id);
          return row.status === 'pending' && (row.decide_by <= now || (run !== undefined && isEnded(run.status)));
        })
        .slice(0, limit),
  };
}
