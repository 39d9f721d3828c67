/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * Policy sets as they were decided with, proposals to put one in force, and the shadow. A migration is history: it imports nothing of the product, so that it means the same for ever.
 *
 * @implements {MigrationInterface}
 */
export class PolicySets1768003200000 {
  name = 'PolicySets1768003200000';

  /**
   * @param {QueryRunner} runner
   * @returns {Promise<void>}
   */
  async up(runner) {
    for (const statement of [...STATEMENTS, ...immutable('policy_sets')]) {
      await runner.query(statement);
    }
    await runner.query('PRAGMA user_version = 10');
  }

  /** @returns {Promise<void>} */
  async down() {
    throw new Error('evidence is never migrated backwards; restore the backup that was made before the migration');
  }
}

/** @param {string} table */
function immutable(table) {
  return ['UPDATE', 'DELETE'].map(
    (operation) =>
      `CREATE TRIGGER ${table}_refuses_${operation.toLowerCase()} BEFORE ${operation} ON ${table}
       BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END`,
  );
}

const STATEMENTS = [
  `CREATE TABLE policy_sets (
    revision TEXT NOT NULL PRIMARY KEY,
    schema_digest TEXT NOT NULL,
    engine_version TEXT NOT NULL,
    policy_ids TEXT NOT NULL,
    content TEXT NOT NULL,
    first_seen TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE policy_activations (
    activation_id TEXT NOT NULL PRIMARY KEY,
    revision TEXT NOT NULL,
    based_on TEXT,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    report_digest TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('proposed', 'activated', 'denied', 'expired')),
    decide_by TEXT NOT NULL,
    proposed_event_id TEXT NOT NULL,
    decided_by TEXT,
    decided_event_id TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX policy_activations_open ON policy_activations (decide_by) WHERE state = 'proposed'`,
  `CREATE TABLE policy_shadow (
    scope TEXT NOT NULL PRIMARY KEY,
    revision TEXT NOT NULL,
    set_by TEXT NOT NULL,
    event_id TEXT NOT NULL,
    set_at TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE policy_shadow_flips (
    revision TEXT NOT NULL,
    from_outcome TEXT NOT NULL,
    to_outcome TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 0),
    last_at TEXT NOT NULL,
    PRIMARY KEY (revision, from_outcome, to_outcome)
  ) STRICT`,
  `CREATE TABLE policy_shadow_differences (
    slot INTEGER NOT NULL PRIMARY KEY CHECK (slot BETWEEN 0 AND 999),
    sequence INTEGER NOT NULL,
    revision TEXT NOT NULL,
    tenant TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    policy_decision_id TEXT NOT NULL,
    capability TEXT NOT NULL,
    phase TEXT NOT NULL,
    from_outcome TEXT NOT NULL,
    from_determining TEXT NOT NULL,
    to_outcome TEXT NOT NULL,
    to_determining TEXT NOT NULL,
    decided_at TEXT NOT NULL
  ) STRICT`,
];
