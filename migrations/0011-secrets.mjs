/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * Secrets in envelopes, and tokens that count no more. A migration is history: it imports nothing of the product, so
 * that it means the same for ever.
 *
 * @implements {MigrationInterface}
 */
export class Secrets1768089600000 {
  name = 'Secrets1768089600000';

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
  `CREATE TABLE secrets (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    wrapped TEXT,
    kek_id TEXT,
    sealed TEXT,
    created_at TEXT NOT NULL,
    retired_at TEXT,
    PRIMARY KEY (tenant, name, version),
    CHECK ((retired_at IS NULL) = (wrapped IS NOT NULL AND kek_id IS NOT NULL AND sealed IS NOT NULL))
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE revoked_tokens (
    revocation_id TEXT NOT NULL PRIMARY KEY,
    jti TEXT,
    tenant TEXT,
    sub TEXT,
    issued_before TEXT,
    until TEXT NOT NULL,
    reason TEXT,
    revoked_at TEXT NOT NULL,
    CHECK ((jti IS NOT NULL AND sub IS NULL AND tenant IS NULL AND issued_before IS NULL)
      OR (jti IS NULL AND sub IS NOT NULL AND tenant IS NOT NULL AND issued_before IS NOT NULL))
  ) STRICT, WITHOUT ROWID`,
  'PRAGMA user_version = 11',
];
