/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * Approvals in full: lent, widened, passed in an emergency, asked in batches; standing grants and delegations; refused
 * intents. A migration is history: it imports nothing of the product, so that it means the same for ever.
 *
 * @implements {MigrationInterface}
 */
export class Approvals1767830400000 {
  name = 'Approvals1767830400000';

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
  `ALTER TABLE approvals ADD COLUMN batch_id TEXT`,
  `ALTER TABLE approvals ADD COLUMN delegations TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE approvals ADD COLUMN escalations TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE approvals ADD COLUMN escalate_at TEXT`,
  `ALTER TABLE approvals ADD COLUMN break_glass_by TEXT`,
  `ALTER TABLE approvals ADD COLUMN reviewed_by TEXT`,
  `ALTER TABLE approvals ADD COLUMN review_finding TEXT`,
  `ALTER TABLE approvals ADD COLUMN review_owed INTEGER NOT NULL DEFAULT 0 CHECK (review_owed IN (0, 1))`,
  `ALTER TABLE approval_votes ADD COLUMN on_behalf_of TEXT NOT NULL DEFAULT '[]'`,
  `CREATE INDEX approvals_escalate ON approvals (escalate_at) WHERE escalate_at IS NOT NULL`,
  `CREATE INDEX approvals_review_owed ON approvals (tenant, created_at, approval_id) WHERE review_owed = 1`,
  `CREATE INDEX approvals_batch ON approvals (tenant, batch_id) WHERE batch_id IS NOT NULL`,
  `CREATE TABLE grants (
    grant_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    granted_by TEXT NOT NULL,
    approver_group TEXT NOT NULL,
    capability TEXT NOT NULL,
    principal_sub TEXT,
    principal_act TEXT,
    until TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'revoked', 'expired')),
    revoked_by TEXT,
    version INTEGER NOT NULL CHECK (version >= 1),
    created_event_id TEXT NOT NULL,
    last_event_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX grants_tenant ON grants (tenant, grant_id)`,
  `CREATE INDEX grants_active ON grants (tenant, capability) WHERE status = 'active'`,
  `CREATE INDEX grants_until ON grants (until) WHERE status = 'active'`,
  `CREATE TABLE delegations (
    delegation_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    lent_by TEXT NOT NULL,
    lent_to TEXT NOT NULL,
    groups TEXT NOT NULL,
    until TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'revoked', 'expired')),
    revoked_by TEXT,
    version INTEGER NOT NULL CHECK (version >= 1),
    created_event_id TEXT NOT NULL,
    last_event_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX delegations_tenant ON delegations (tenant, delegation_id)`,
  `CREATE INDEX delegations_to ON delegations (tenant, lent_to) WHERE status = 'active'`,
  `CREATE INDEX delegations_until ON delegations (until) WHERE status = 'active'`,
  `CREATE TABLE refused_intents (
    tenant TEXT NOT NULL,
    intent_digest TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    refused_at TEXT NOT NULL,
    PRIMARY KEY (tenant, intent_digest)
  ) STRICT, WITHOUT ROWID`,
  // Questions that are open now count for the agent that asked them.
  `INSERT INTO counters (tenant, counter_key, value)
     SELECT tenant, 'open_approvals/' || COALESCE(json_extract(principal, '$[1]'), json_extract(principal, '$[0]')) AS k, COUNT(*)
     FROM approvals WHERE status = 'pending' GROUP BY tenant, k`,
  'PRAGMA user_version = 8',
];
