/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * Evidence that comes from outside after a request has left: callbacks and lines of statements, the keys by which they
 * find their calls, and whether evidence contradicts how a call ended.
 *
 * @implements {MigrationInterface}
 */
export class LateEvidence1767398400000 {
  name = 'LateEvidence1767398400000';

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
  `ALTER TABLE tool_calls ADD COLUMN contradicted INTEGER NOT NULL DEFAULT 0 CHECK (contradicted IN (0, 1))`,
  `CREATE INDEX tool_calls_contradicted ON tool_calls (tenant, created_at, tool_call_id) WHERE contradicted = 1`,
  `CREATE INDEX tool_calls_reference ON tool_calls (capability, external_request_id)
    WHERE external_request_id IS NOT NULL`,
  `CREATE TABLE late_keys (
    downstream_key TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    tool_call_id TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE late_results (
    late_result_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('callback', 'statement')),
    capability TEXT NOT NULL,
    reference TEXT,
    tool_call_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('unmatched', 'waiting', 'applied', 'ignored', 'contradicting')),
    body_digest TEXT NOT NULL,
    repeated INTEGER NOT NULL CHECK (repeated IN (0, 1)),
    event_id TEXT NOT NULL,
    received_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX late_results_waiting ON late_results (tool_call_id) WHERE state = 'waiting'`,
  `CREATE INDEX late_results_unmatched ON late_results (capability, reference) WHERE state = 'unmatched'`,
  'PRAGMA user_version = 3',
];
