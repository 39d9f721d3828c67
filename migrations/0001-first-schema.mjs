/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * The first schema. A migration is history: it imports nothing of the product, so that it means the same for ever.
 *
 * Large rows live in ordinary tables, small ones that are found by their key in WITHOUT ROWID tables. STRICT makes a
 * column refuse values of another type instead of keeping them.
 *
 * @implements {MigrationInterface}
 */
export class FirstSchema1767225600000 {
  name = 'FirstSchema1767225600000';

  /**
   * @param {QueryRunner} runner
   * @returns {Promise<void>}
   */
  async up(runner) {
    const statements = [...EVIDENCE, ...DERIVED, ...OPERATIONAL, ...FOR_EVER, 'PRAGMA user_version = 1'];
    for (const statement of statements) await runner.query(statement);
  }

  /** @returns {Promise<void>} */
  async down() {
    throw new Error('evidence is never migrated backwards; restore the backup that was made before the migration');
  }
}

/**
 * @param {string} table
 * @param {readonly string[]} operations
 * @returns {string[]}
 */
const immutable = (table, operations) =>
  operations.map(
    (operation) =>
      `CREATE TRIGGER ${table}_refuses_${operation.toLowerCase()} BEFORE ${operation} ON ${table}
       BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END`,
  );

const EVIDENCE = [
  `CREATE TABLE events (
    event_id TEXT NOT NULL PRIMARY KEY,
    event_type TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    stream_kind TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    unit_id TEXT NOT NULL,
    unit_index INTEGER NOT NULL CHECK (unit_index >= 0),
    unit_size INTEGER NOT NULL CHECK (unit_size > unit_index),
    session_id TEXT,
    run_id TEXT,
    turn_id TEXT,
    step_id TEXT,
    tool_call_id TEXT,
    approval_id TEXT,
    policy_decision_id TEXT,
    capability_id TEXT,
    reasoning_object_id TEXT,
    skill_id TEXT,
    artifact_id TEXT,
    feedback_id TEXT,
    credential_lease_id TEXT,
    command_id TEXT,
    producer TEXT NOT NULL,
    actor TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    causation_id TEXT,
    cause_kind TEXT NOT NULL CHECK (cause_kind IN ('event', 'external', 'timer')),
    occurred_at TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    version_set_id TEXT NOT NULL,
    synthetic INTEGER NOT NULL CHECK (synthetic IN (0, 1)),
    salt BLOB NOT NULL CHECK (length(salt) = 16),
    payload_commitment BLOB NOT NULL CHECK (length(payload_commitment) = 32),
    payload_sealed BLOB NOT NULL CHECK (length(payload_sealed) >= 30),
    data_key_id TEXT NOT NULL,
    leaf_hash BLOB NOT NULL CHECK (length(leaf_hash) = 32),
    UNIQUE (stream_kind, stream_id, version)
  ) STRICT`,
  `CREATE INDEX events_command_unit ON events (unit_id, unit_index) WHERE command_id IS NOT NULL`,
  ...immutable('events', ['UPDATE', 'DELETE']),
  `CREATE TABLE positions (
    idx INTEGER NOT NULL PRIMARY KEY CHECK (idx >= 0),
    event_id TEXT NOT NULL UNIQUE
  ) STRICT`,
  ...immutable('positions', ['UPDATE', 'DELETE']),
];

const DERIVED = [
  `CREATE TABLE runs (
    run_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    session_id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'suspending', 'suspended', 'interrupted', 'stopping',
      'completed', 'failed', 'stopped', 'handed_off', 'ended_unrecorded')),
    version INTEGER NOT NULL CHECK (version >= 1),
    implicit INTEGER NOT NULL CHECK (implicit IN (0, 1)),
    label TEXT,
    model_leg TEXT NOT NULL CHECK (model_leg IN ('idle', 'active', 'cancelled')),
    end_reason TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX runs_open_label ON runs (tenant, principal, label)
    WHERE label IS NOT NULL AND status IN ('running', 'suspending', 'suspended', 'interrupted', 'stopping')`,
  `CREATE INDEX runs_idle ON runs (updated_at) WHERE implicit = 1 AND status = 'running'`,

  `CREATE TABLE tool_calls (
    tool_call_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    run_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    turn_id TEXT,
    call_id TEXT,
    correlation_id TEXT NOT NULL,
    reasoning_object_id TEXT,
    skill_id TEXT,
    capability TEXT NOT NULL,
    capability_version TEXT NOT NULL,
    manifest_digest TEXT NOT NULL,
    effect TEXT NOT NULL CHECK (effect IN ('read_only', 'idempotent', 'replay_by_key', 'probeable', 'opaque')),
    risk TEXT NOT NULL CHECK (risk IN ('low', 'medium', 'high', 'critical')),
    status TEXT NOT NULL CHECK (status IN ('proposed', 'authorized', 'dispatching', 'dispatched', 'accepted',
      'result_unknown', 'reconciling', 'completed', 'failed', 'manual_handoff', 'denied', 'not_executed')),
    version INTEGER NOT NULL CHECK (version >= 1),
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    args_digest TEXT NOT NULL,
    intent_digest TEXT NOT NULL,
    downstream_key TEXT NOT NULL,
    execute_before TEXT,
    policy_decision_id TEXT,
    policy_revision TEXT,
    approval_id TEXT,
    authorization_basis TEXT,
    execute_by TEXT,
    external_request_id TEXT,
    cancellation_requested INTEGER NOT NULL CHECK (cancellation_requested IN (0, 1)),
    status_reason TEXT,
    known_effect TEXT,
    retryable INTEGER CHECK (retryable IN (0, 1)),
    result_basis TEXT,
    reconciliation_strategy TEXT,
    reconciliation_queries INTEGER NOT NULL CHECK (reconciliation_queries >= 0),
    reconciliation_next_at TEXT,
    reconciliation_deadline TEXT,
    handoff_id TEXT,
    resolution_finding TEXT,
    proposed_event_id TEXT NOT NULL,
    decided_event_id TEXT,
    settled_event_id TEXT,
    resolution_event_id TEXT,
    last_event_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX tool_calls_tenant ON tool_calls (tenant, created_at, tool_call_id)`,
  `CREATE INDEX tool_calls_capability ON tool_calls (tenant, capability, created_at, tool_call_id)`,
  `CREATE INDEX tool_calls_run ON tool_calls (run_id, created_at, tool_call_id)`,
  `CREATE INDEX tool_calls_run_changed ON tool_calls (run_id, updated_at)`,
  `CREATE INDEX tool_calls_status ON tool_calls (status, tool_call_id)
    WHERE status NOT IN ('completed', 'failed', 'denied', 'not_executed')`,
  `CREATE INDEX tool_calls_run_open ON tool_calls (run_id)
    WHERE status NOT IN ('completed', 'failed', 'manual_handoff', 'denied', 'not_executed')`,
  `CREATE INDEX tool_calls_authorized ON tool_calls (execute_by) WHERE status = 'authorized'`,

  `CREATE TABLE attempts (
    tool_call_id TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    tenant TEXT NOT NULL,
    nonce TEXT NOT NULL,
    fence INTEGER NOT NULL,
    owner TEXT NOT NULL,
    owner_epoch INTEGER NOT NULL,
    deadline TEXT NOT NULL,
    dispatch_intent_at TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('dispatching', 'sent', 'settled', 'unknown')),
    settled_at TEXT,
    PRIMARY KEY (tool_call_id, attempt)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE approvals (
    approval_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    principal TEXT NOT NULL,
    capability TEXT NOT NULL,
    capability_version TEXT NOT NULL,
    manifest_digest TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    status TEXT NOT NULL CHECK (status IN ('pending', 'granted', 'consumed', 'denied', 'expired', 'invalidated',
      'closed')),
    version INTEGER NOT NULL CHECK (version >= 1),
    risk TEXT NOT NULL CHECK (risk IN ('low', 'medium', 'high', 'critical')),
    args_digest TEXT NOT NULL,
    consent_digest TEXT NOT NULL,
    policy_revision TEXT NOT NULL,
    rules TEXT NOT NULL,
    requester_subjects TEXT NOT NULL,
    decide_by TEXT NOT NULL,
    execution_window_ms INTEGER NOT NULL,
    execute_by_latest TEXT NOT NULL,
    execute_by TEXT,
    decided_by TEXT,
    status_reason TEXT,
    supersedes_approval_id TEXT,
    required_event_id TEXT NOT NULL,
    last_event_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX approvals_tenant ON approvals (tenant, created_at, approval_id)`,
  `CREATE INDEX approvals_status ON approvals (tenant, status, created_at, approval_id)`,
  `CREATE INDEX approvals_call ON approvals (tool_call_id)`,
  `CREATE INDEX approvals_run ON approvals (run_id, status)`,
  `CREATE INDEX approvals_pending ON approvals (decide_by) WHERE status = 'pending'`,
  `CREATE INDEX approvals_granted ON approvals (execute_by) WHERE status = 'granted'`,

  `CREATE TABLE approval_votes (
    approval_id TEXT NOT NULL,
    sub TEXT NOT NULL,
    tenant TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('allow', 'deny')),
    groups TEXT NOT NULL,
    withdrawn INTEGER NOT NULL CHECK (withdrawn IN (0, 1)),
    event_id TEXT NOT NULL,
    voted_at TEXT NOT NULL,
    PRIMARY KEY (approval_id, sub)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE handoffs (
    handoff_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    finding TEXT CHECK (finding IN ('happened', 'not_happened', 'partial', 'unknowable')),
    opened_event_id TEXT NOT NULL,
    resolved_event_id TEXT,
    opened_at TEXT NOT NULL,
    resolved_at TEXT
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE control_commands (
    tenant TEXT NOT NULL,
    command_id TEXT NOT NULL,
    type TEXT NOT NULL,
    issuer TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('accepted', 'rejected')),
    code TEXT,
    event_id TEXT NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (tenant, command_id)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE capabilities (
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    manifest_digest TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'superseded', 'held')),
    stream_version INTEGER NOT NULL CHECK (stream_version >= 1),
    last_event_id TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (name, version)
  ) STRICT, WITHOUT ROWID`,
  `CREATE UNIQUE INDEX capabilities_in_force ON capabilities (name) WHERE state <> 'superseded'`,

  `CREATE TABLE pauses (
    tenant TEXT NOT NULL,
    target_kind TEXT NOT NULL CHECK (target_kind IN ('all', 'tenant', 'principal', 'capability')),
    target TEXT NOT NULL,
    reason TEXT,
    set_event_id TEXT NOT NULL,
    set_at TEXT NOT NULL,
    PRIMARY KEY (tenant, target_kind, target)
  ) STRICT, WITHOUT ROWID`,
];

const OPERATIONAL = [
  `CREATE TABLE policy_active (
    scope TEXT NOT NULL PRIMARY KEY,
    revision TEXT NOT NULL,
    schema_digest TEXT NOT NULL,
    stream_version INTEGER NOT NULL,
    activated_event_id TEXT,
    activated_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE work (
    tool_call_id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    capability TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('execute', 'observe', 'reconcile')),
    fence INTEGER NOT NULL,
    owner TEXT,
    owner_epoch INTEGER,
    claim_until TEXT,
    next_at TEXT NOT NULL,
    tries INTEGER NOT NULL CHECK (tries >= 0)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX work_due ON work (kind, next_at, tool_call_id)`,
  `CREATE TABLE open_intents (
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    capability TEXT NOT NULL,
    intent_digest TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    tool_call_id TEXT NOT NULL,
    PRIMARY KEY (tenant, principal, capability, intent_digest, ordinal)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE call_ids (
    run_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    intent_digest TEXT NOT NULL,
    PRIMARY KEY (run_id, turn_id, call_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE counters (
    tenant TEXT NOT NULL,
    counter_key TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (tenant, counter_key)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE instances (
    instance_id TEXT NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL UNIQUE,
    pid INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    heartbeat_at TEXT NOT NULL,
    state TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE data_keys (
    data_key_id TEXT NOT NULL PRIMARY KEY,
    scope TEXT NOT NULL UNIQUE,
    wrapped BLOB NOT NULL,
    kek_id TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

const FOR_EVER = [
  `CREATE TABLE idempotency (
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    capability TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    intent_digest TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant, principal, capability, key_hash)
  ) STRICT, WITHOUT ROWID`,
  ...immutable('idempotency', ['UPDATE', 'DELETE']),
];
