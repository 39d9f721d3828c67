/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * Plans that people are shown before a run goes on. A migration is history: it imports nothing of the product, so that it
 * means the same for ever.
 *
 * @implements {MigrationInterface}
 */
export class PlanReviews1768176000000 {
  name = 'PlanReviews1768176000000';

  /**
   * @param {QueryRunner} runner
   * @returns {Promise<void>}
   */
  async up(runner) {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  /** @returns {Promise<void>} */
  async down() {
    throw new Error('evidence is never migrated backwards; restore the backup that was made before the migration');
  }
}

const STATEMENTS = [
  `CREATE TABLE plan_reviews (
    plan_review_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    run_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'invalidated', 'closed')),
    plan_digest TEXT NOT NULL,
    requesters TEXT NOT NULL,
    decide_by TEXT NOT NULL,
    decided_by TEXT,
    version INTEGER NOT NULL CHECK (version >= 1),
    required_event_id TEXT NOT NULL,
    last_event_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX plan_reviews_tenant ON plan_reviews (tenant, plan_review_id)`,
  `CREATE INDEX plan_reviews_run ON plan_reviews (run_id, plan_review_id)`,
  `CREATE UNIQUE INDEX plan_reviews_pending ON plan_reviews (run_id) WHERE status = 'pending'`,
  `CREATE INDEX plan_reviews_due ON plan_reviews (decide_by) WHERE status = 'pending'`,
  'PRAGMA user_version = 12',
];
