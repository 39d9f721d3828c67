/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * Durable sessions: whose they are and who may append, and where their runs can go on. A migration is history: it
 * imports nothing of the product, so that it means the same for ever.
 *
 * @implements {MigrationInterface}
 */
export class Sessions1767657600000 {
  name = 'Sessions1767657600000';

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
  `CREATE TABLE sessions (
    tenant TEXT NOT NULL,
    session_id TEXT NOT NULL,
    principal TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'deleted')),
    owner_epoch INTEGER NOT NULL CHECK (owner_epoch >= 0),
    harness_instance_id TEXT,
    parent TEXT,
    version INTEGER NOT NULL CHECK (version >= 1),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (tenant, session_id)
  ) STRICT`,
  `CREATE INDEX sessions_principal ON sessions (tenant, principal, created_at, session_id)`,
  `CREATE TABLE checkpoints (
    checkpoint_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    session_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    turn_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('after_user_input', 'awaiting_approval', 'awaiting_plan_review',
      'awaiting_reconciliation', 'suspended', 'recovered')),
    status TEXT NOT NULL CHECK (status IN ('open', 'archived')),
    verdict TEXT CHECK (verdict IN ('continue', 'migrate', 'old_runtime', 'manual')),
    version INTEGER NOT NULL CHECK (version >= 1),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX checkpoints_open ON checkpoints (run_id, created_at, checkpoint_id) WHERE status = 'open'`,
  // One run at a time in a session that somebody opened; runs that calls opened have a session of their own each.
  `CREATE UNIQUE INDEX runs_open_session ON runs (tenant, session_id)
    WHERE session_id <> run_id AND status IN ('running', 'suspending', 'suspended', 'interrupted', 'stopping')`,
  // Events of calls without a session, which are most, cost nothing here.
  `CREATE INDEX events_session ON events (tenant, session_id) WHERE session_id IS NOT run_id`,
  'PRAGMA user_version = 6',
];
