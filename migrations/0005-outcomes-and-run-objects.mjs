/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * Outcomes with the feedback about them, and what a harness has stated about its runs. A migration is history: it
 * imports nothing of the product, so that it means the same for ever.
 *
 * @implements {MigrationInterface}
 */
export class OutcomesAndRunObjects1767571200000 {
  name = 'OutcomesAndRunObjects1767571200000';

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
  `CREATE TABLE outcomes (
    tool_call_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    criteria_id TEXT NOT NULL,
    criteria_version TEXT NOT NULL,
    needs TEXT NOT NULL,
    within_ms INTEGER NOT NULL CHECK (within_ms > 0),
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    deadline TEXT NOT NULL,
    seen TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'confirmed_success', 'confirmed_failure', 'inconclusive')),
    status_reason TEXT,
    version INTEGER NOT NULL CHECK (version >= 1),
    verdict_event_id TEXT,
    last_event_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX outcomes_pending ON outcomes (deadline) WHERE status = 'pending'`,
  `CREATE INDEX outcomes_run ON outcomes (run_id)`,
  `CREATE TABLE outcome_feedback (
    tool_call_id TEXT NOT NULL,
    source TEXT NOT NULL,
    feedback_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('received', 'rejected')),
    code TEXT,
    event_id TEXT NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (tool_call_id, source, feedback_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE run_objects (
    object_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('turn', 'reasoning', 'artifact', 'subagent')),
    client_id TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    turn_id TEXT,
    correlation_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('recorded', 'running', 'completed', 'failed')),
    event_id TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (run_id, kind, client_id)
  ) STRICT`,
  `CREATE INDEX run_objects_run ON run_objects (run_id, kind, created_at, object_id)`,
  'PRAGMA user_version = 5',
];
