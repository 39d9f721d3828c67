/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * What a stop has to find again after a crash, and the two ends of a compensation.
 *
 * @implements {MigrationInterface}
 */
export class StopAndCompensation1767484800000 {
  name = 'StopAndCompensation1767484800000';

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
  'ALTER TABLE tool_calls ADD COLUMN cancel_by TEXT',
  'ALTER TABLE tool_calls ADD COLUMN irreversible TEXT',
  'ALTER TABLE tool_calls ADD COLUMN compensates TEXT',
  'ALTER TABLE tool_calls ADD COLUMN compensated_by TEXT',
  `CREATE INDEX runs_stopping ON runs (run_id) WHERE status = 'stopping'`,
  'PRAGMA user_version = 4',
];
