/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * Leases: who may do one act, until when. A migration is history: it imports nothing of the product, so that it means the
 * same for ever.
 *
 * @implements {MigrationInterface}
 */
export class Leases1767744000000 {
  name = 'Leases1767744000000';

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
  `ALTER TABLE tool_calls ADD COLUMN lease_id TEXT`,
  `CREATE TABLE leases (
    lease_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    principal TEXT NOT NULL,
    agent TEXT NOT NULL,
    capability TEXT NOT NULL,
    capability_version TEXT NOT NULL,
    approval_id TEXT,
    policy_decision_id TEXT,
    policy_revision TEXT,
    args_digest TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    kind TEXT NOT NULL CHECK (kind IN ('act', 'probe')),
    mode TEXT NOT NULL CHECK (mode IN ('inject', 'sign_on_behalf', 'token')),
    status TEXT NOT NULL CHECK (status IN ('issued', 'active', 'released', 'expired', 'revoked', 'refused',
      'revoking', 'revoke_failed', 'irrevocable')),
    ended_as TEXT CHECK (ended_as IN ('released', 'expired', 'revoked')),
    status_reason TEXT,
    ended_at TEXT,
    scopes TEXT NOT NULL,
    audience TEXT,
    environment_id TEXT NOT NULL,
    trust_level TEXT NOT NULL CHECK (trust_level IN ('low', 'medium', 'high')),
    network_policy TEXT NOT NULL,
    data_access_policy TEXT NOT NULL,
    max_uses INTEGER NOT NULL CHECK (max_uses >= 1),
    uses INTEGER NOT NULL CHECK (uses >= 0 AND uses <= max_uses),
    used_at TEXT,
    issued_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    renewable_until TEXT NOT NULL,
    kid TEXT,
    renews_lease_id TEXT,
    owner_epoch INTEGER NOT NULL CHECK (owner_epoch >= 0),
    upstream_provider TEXT,
    upstream_reference TEXT,
    upstream_expires_at TEXT,
    revoke_tries INTEGER NOT NULL CHECK (revoke_tries >= 0),
    revoke_next_at TEXT,
    version INTEGER NOT NULL CHECK (version >= 1),
    last_event_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX leases_call ON leases (tool_call_id, attempt, kind, lease_id)`,
  `CREATE INDEX leases_tenant ON leases (tenant, created_at, lease_id)`,
  // What can still be used, or may still work at a provider, is little; what has ended is for ever.
  `CREATE INDEX leases_live ON leases (expires_at, lease_id) WHERE status IN ('issued', 'active')`,
  `CREATE INDEX leases_live_run ON leases (run_id) WHERE status IN ('issued', 'active')`,
  `CREATE INDEX leases_upstream ON leases (lease_id) WHERE status IN ('revoking', 'revoke_failed', 'irrevocable')`,
  'PRAGMA user_version = 7',
];
