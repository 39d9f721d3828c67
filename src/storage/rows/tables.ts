import type { ApprovalStatus } from '../../domain/approval/approval.state.js';
import type { RunStatus } from '../../domain/run/run.state.js';
import type { ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import type { ApprovalBeyondColumns, StandingTables } from './approval-beyond.tables.js';
import type { LeaseTables } from './lease.tables.js';
import type { OutboxTables } from './outbox.tables.js';
import type { OutcomeTables } from './outcome.tables.js';
import type { PlanReviewTables } from './plan-review.tables.js';
import type { PolicyTables } from './policy.tables.js';
import type { SecretTables } from './secret.tables.js';
import type { SessionTables } from './session.tables.js';

/**
 * The rows a unit may write. Derived rows repeat what their stream says, so that loading is one primary-key read;
 * operational rows have no event; the idempotency record is kept for ever. Times are ISO 8601 text in UTC with
 * milliseconds (`2031-01-01T00:00:00.000Z`), so text order is time order.
 */
export interface Tables
  extends
    OutboxTables,
    OutcomeTables,
    SecretTables,
    SessionTables,
    LeaseTables,
    StandingTables,
    PlanReviewTables,
    PolicyTables {
  runs: {
    run_id: string;
    tenant: string;
    /** `principalKey` of domain/principal. */
    principal: string;
    session_id: string;
    status: RunStatus;
    version: number;
    implicit: number;
    /** The caller's label or the anonymous day; unique per tenant and principal among open runs. */
    label: string | null;
    /** The model leg of a stop. */
    model_leg: 'idle' | 'active' | 'cancelled';
    end_reason: string | null;
    created_at: string;
    updated_at: string;
  };
  tool_calls: {
    tool_call_id: string;
    tenant: string;
    principal: string;
    run_id: string;
    session_id: string;
    turn_id: string | null;
    call_id: string | null;
    /** Joins everything about one business intent. */
    correlation_id: string;
    reasoning_object_id: string | null;
    skill_id: string | null;
    capability: string;
    capability_version: string;
    manifest_digest: string;
    effect: string;
    risk: string;
    status: ToolCallStatus;
    version: number;
    attempt: number;
    args_digest: string;
    intent_digest: string;
    downstream_key: string;
    execute_before: string | null;
    policy_decision_id: string | null;
    policy_revision: string | null;
    approval_id: string | null;
    /** The lease that the present attempt was dispatched under; renewals of it are in `leases`. */
    lease_id: string | null;
    authorization_basis: string | null;
    execute_by: string | null;
    external_request_id: string | null;
    cancellation_requested: number;
    /** 1 once evidence has said otherwise than the end of the call. */
    contradicted: number;
    /** JSON: Reservation[]. */
    reserved: string | null;
    /** Until when the tool may answer the cancellation that was asked for. */
    cancel_by: string | null;
    /** Why it is on record that nobody can stop the present attempt. */
    irreversible: string | null;
    compensates: string | null;
    compensated_by: string | null;
    /** cause of unknown, code of failure, reason of not executed, basis of denial. */
    status_reason: string | null;
    known_effect: string | null;
    retryable: number | null;
    result_basis: string | null;
    reconciliation_strategy: string | null;
    reconciliation_queries: number;
    reconciliation_next_at: string | null;
    reconciliation_deadline: string | null;
    handoff_id: string | null;
    resolution_finding: string | null;
    /** Events whose sealed payload holds what the representation shows. */
    proposed_event_id: string;
    decided_event_id: string | null;
    settled_event_id: string | null;
    resolution_event_id: string | null;
    /** Position of nothing: rows do not know positions. `last_event_id` is the newest event of the stream. */
    last_event_id: string;
    created_at: string;
    updated_at: string;
  };
  attempts: {
    tool_call_id: string;
    attempt: number;
    tenant: string;
    nonce: string;
    fence: number;
    owner: string;
    owner_epoch: number;
    deadline: string;
    dispatch_intent_at: string;
    /** `settled` once the attempt's outcome is recorded, `unknown` while nobody knows. */
    state: 'dispatching' | 'sent' | 'settled' | 'unknown';
    settled_at: string | null;
  };
  approvals: ApprovalBeyondColumns & {
    approval_id: string;
    tenant: string;
    tool_call_id: string;
    run_id: string;
    session_id: string;
    principal: string;
    capability: string;
    capability_version: string;
    manifest_digest: string;
    attempt: number;
    status: ApprovalStatus;
    version: number;
    risk: string;
    args_digest: string;
    consent_digest: string;
    policy_revision: string;
    /** JSON: ApproverRule[]. */
    rules: string;
    /** JSON: string[]. */
    requester_subjects: string;
    decide_by: string;
    execution_window_ms: number;
    execute_by_latest: string;
    execute_by: string | null;
    /** JSON: string[] of the people whose votes decided it. */
    decided_by: string | null;
    /** Which clock expired, why invalidated or closed. */
    status_reason: string | null;
    supersedes_approval_id: string | null;
    required_event_id: string;
    last_event_id: string;
    created_at: string;
    updated_at: string;
  };
  approval_votes: {
    approval_id: string;
    sub: string;
    tenant: string;
    decision: 'allow' | 'deny';
    /** JSON: string[]. */
    groups: string;
    /** JSON: string[]: delegators whose right it rests on. */
    on_behalf_of: string;
    /** 1 once withdrawn. */
    withdrawn: number;
    event_id: string;
    voted_at: string;
  };
  handoffs: {
    handoff_id: string;
    tenant: string;
    tool_call_id: string;
    reason: string;
    finding: string | null;
    opened_event_id: string;
    resolved_event_id: string | null;
    opened_at: string;
    resolved_at: string | null;
  };
  control_commands: {
    tenant: string;
    command_id: string;
    type: string;
    issuer: string;
    request_digest: string;
    status: 'accepted' | 'rejected';
    code: string | null;
    event_id: string;
    received_at: string;
  };
  capabilities: {
    name: string;
    version: string;
    manifest_digest: string;
    state: 'active' | 'superseded' | 'held';
    stream_version: number;
    last_event_id: string;
    updated_at: string;
  };
  /** One row per thing that is paused; derived from pause.set and pause.cleared. */
  pauses: {
    tenant: string;
    target_kind: 'all' | 'tenant' | 'principal' | 'capability' | 'agent';
    target: string;
    reason: string | null;
    set_event_id: string;
    set_at: string;
  };
  policy_active: {
    scope: string;
    revision: string;
    schema_digest: string;
    /** Version of the stream policy/<scope>. */
    stream_version: number;
    activated_event_id: string | null;
    activated_at: string;
  };
  /** What is to be carried out or looked up: present while a call is authorized, on the wire, unknown or reconciling. */
  work: {
    tool_call_id: string;
    tenant: string;
    capability: string;
    kind: 'execute' | 'observe' | 'reconcile';
    fence: number;
    owner: string | null;
    owner_epoch: number | null;
    claim_until: string | null;
    /** Nothing is done before this time. */
    next_at: string;
    tries: number;
  };
  open_intents: {
    tenant: string;
    principal: string;
    capability: string;
    intent_digest: string;
    ordinal: number;
    tool_call_id: string;
  };
  idempotency: {
    tenant: string;
    principal: string;
    capability: string;
    key_hash: string;
    intent_digest: string;
    tool_call_id: string;
    created_at: string;
  };
  /** One callId names one call within a run and turn. */
  call_ids: {
    run_id: string;
    turn_id: string;
    call_id: string;
    tool_call_id: string;
    intent_digest: string;
  };
  /** Where evidence that names our key finds its call: only for capabilities that take late evidence. */
  late_keys: { downstream_key: string; tenant: string; tool_call_id: string };
  /** Evidence from outside about calls, one row for each; what it says is in the sealed event. */
  late_results: {
    /** Hash of source, capability and the sender's id: the same evidence is taken once. */
    late_result_id: string;
    tenant: string;
    source: 'callback' | 'statement';
    capability: string;
    /** The provider's reference that it names. */
    reference: string | null;
    tool_call_id: string | null;
    /** `unmatched`: no call is known for it; `waiting`: not applied yet; the rest says what became of it. */
    state: 'unmatched' | 'waiting' | 'applied' | 'ignored' | 'contradicting';
    body_digest: string;
    /** 1 once a repetition of it has been recorded. */
    repeated: number;
    event_id: string;
    received_at: string;
  };
  counters: { tenant: string; counter_key: string; value: number };
  instances: {
    instance_id: string;
    epoch: number;
    pid: number;
    started_at: string;
    heartbeat_at: string;
    state: string;
  };
  /** Small facts about the store: `guard/pauses` holds the revision every proposal and dispatch guards. */
  meta: { name: string; value: string };
}

export type TableName = keyof Tables;
export type TableRow<T extends TableName> = Readonly<Tables[T]>;
