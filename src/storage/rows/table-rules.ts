import { LEASE_KEYS } from './lease.columns.js';
import { STANDING_KEYS } from './approval-beyond.columns.js';
import { OUTCOME_KEYS } from './outcome.columns.js';
import { PLAN_REVIEW_KEYS } from './plan-review.columns.js';
import { POLICY_DELETABLE, POLICY_KEYS, POLICY_REPLACEABLE } from './policy.columns.js';
import { SECRET_KEYS } from './secret.columns.js';
import { SESSION_KEYS } from './session.columns.js';
import type { TableName, Tables } from './tables.js';

/** The primary key of each table, in order. */
export const TABLE_KEYS: { readonly [T in TableName]: readonly (keyof Tables[T] & string)[] } = {
  runs: ['run_id'],
  tool_calls: ['tool_call_id'],
  attempts: ['tool_call_id', 'attempt'],
  approvals: ['approval_id'],
  approval_votes: ['approval_id', 'sub'],
  handoffs: ['handoff_id'],
  ...OUTCOME_KEYS,
  ...LEASE_KEYS,
  ...STANDING_KEYS,
  ...PLAN_REVIEW_KEYS,
  ...SESSION_KEYS,
  ...POLICY_KEYS,
  ...SECRET_KEYS,
  control_commands: ['tenant', 'command_id'],
  capabilities: ['name', 'version'],
  pauses: ['tenant', 'target_kind', 'target'],
  policy_active: ['scope'],
  work: ['tool_call_id'],
  open_intents: ['tenant', 'principal', 'capability', 'intent_digest', 'ordinal'],
  idempotency: ['tenant', 'principal', 'capability', 'key_hash'],
  call_ids: ['run_id', 'turn_id', 'call_id'],
  late_keys: ['downstream_key'],
  late_results: ['late_result_id'],
  counters: ['tenant', 'counter_key'],
  instances: ['instance_id'],
  meta: ['name'],
  sink_cursors: ['sink'],
  sink_parked: ['sink', 'position'],
};

/** Rows a unit may replace whole: operational ones, and derived ones that are all their stream says now. The rest moves by compare-and-set. */
export const REPLACEABLE_TABLES: ReadonlySet<TableName> = new Set<TableName>([
  'approval_votes',
  'capabilities',
  'pauses',
  'policy_active',
  ...POLICY_REPLACEABLE,
  'work',
  'open_intents',
  'late_keys',
  'refused_intents',
  'counters',
  'instances',
  'meta',
  'sink_parked',
]);

/** Rows a unit may delete: what is no longer so, and is still to be read in the events where it ever was one. */
export const DELETABLE_TABLES: ReadonlySet<TableName> = new Set<TableName>([
  ...POLICY_DELETABLE,
  'pauses',
  'work',
  'open_intents',
  'counters',
  'instances',
  'sink_parked',
  'revoked_tokens',
]);
