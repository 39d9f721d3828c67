/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * What calls take of budgets, denials of an intent by index, and agents that an operator has suspended.
 *
 * @implements {MigrationInterface}
 */
export class Limits1767916800000 {
  name = 'Limits1767916800000';

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
  'ALTER TABLE tool_calls ADD COLUMN reserved TEXT',
  // Calls that may still give something back.
  `CREATE INDEX tool_calls_reserved ON tool_calls (tenant)
    WHERE reserved IS NOT NULL AND resolution_finding IS NULL
      AND status NOT IN ('completed', 'failed', 'denied', 'not_executed')`,
  `CREATE INDEX tool_calls_denied ON tool_calls (tenant, intent_digest, updated_at) WHERE status = 'denied'`,
  // One more kind of target; SQLite cannot change a CHECK in place.
  `CREATE TABLE pauses_with_agents (
    tenant TEXT NOT NULL,
    target_kind TEXT NOT NULL CHECK (target_kind IN ('all', 'tenant', 'principal', 'capability', 'agent')),
    target TEXT NOT NULL,
    reason TEXT,
    set_event_id TEXT NOT NULL,
    set_at TEXT NOT NULL,
    PRIMARY KEY (tenant, target_kind, target)
  ) STRICT, WITHOUT ROWID`,
  `INSERT INTO pauses_with_agents (tenant, target_kind, target, reason, set_event_id, set_at)
    SELECT tenant, target_kind, target, reason, set_event_id, set_at FROM pauses`,
  'DROP TABLE pauses',
  'ALTER TABLE pauses_with_agents RENAME TO pauses',
  'PRAGMA user_version = 9',
];
