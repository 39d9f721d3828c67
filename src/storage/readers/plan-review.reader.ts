import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { PlanReviewReader } from './plan-review-records.js';
import { wordList } from './sql-words.js';
import { RUN_TERMINAL_STATUSES } from '../../domain/run/run.state.js';

export function planReviewReader(connection: ReadConnection): PlanReviewReader {
  type Row = TableRow<'plan_reviews'>;
  return {
    planReview: (tenant, id) =>
      connection.one<Row>('SELECT * FROM plan_reviews WHERE plan_review_id = ? AND tenant = ?', id, tenant),
    latestPlanReview: (tenant, runId) =>
      connection.one<Row>(
        'SELECT * FROM plan_reviews WHERE run_id = ? AND tenant = ? ORDER BY plan_review_id DESC LIMIT 1',
        runId,
        tenant,
      ),
    planReviews: ({ tenant, limit, before, runId, principal, status }) =>
      connection.many<Row>(
        `SELECT * FROM plan_reviews WHERE tenant = ? AND plan_review_id < ? AND (? IS NULL OR run_id = ?)
           AND (? IS NULL OR principal = ?) AND (? IS NULL OR status = ?)
         ORDER BY plan_review_id DESC LIMIT ?`,
        tenant,
        before ?? '~',
        runId,
        runId,
        principal,
        principal,
        status,
        status,
        limit,
      ),
    planReviewsToClose: (now, limit) =>
      connection.many<Row>(
        `SELECT p.* FROM plan_reviews AS p JOIN runs AS r ON r.run_id = p.run_id
         WHERE p.status = 'pending' AND (p.decide_by <= ? OR r.status IN ${wordList(...RUN_TERMINAL_STATUSES)})
         ORDER BY p.plan_review_id LIMIT ?`,
        now,
        limit,
      ),
  };
}
