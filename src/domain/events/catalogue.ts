import { APPROVAL_AND_COMMAND_EVENTS } from './approval-events.js';
import { define, type EventDefinition, type StreamKind } from './event-definition.js';
import { EVIDENCE_EVENTS } from './evidence-events.js';
import { INSTALLATION_EVENTS } from './installation-events.js';
import { LEASE_EVENTS } from './lease-events.js';
import { OUTCOME_EVENTS } from './outcome-events.js';
import type { PayloadOf } from './payload-shape.js';
import { PLAN_REVIEW_EVENTS } from './plan-review-events.js';
import { POLICY_EVENTS } from './policy-events.js';
import { RUN_CHAIN_EVENTS } from './run-chain-events.js';
import { SECRET_EVENTS } from './secret-events.js';
import { SESSION_EVENTS } from './session-events.js';
import { STANDING_EVENTS } from './standing-events.js';

export { STREAM_KINDS } from './event-definition.js';
export type { EventDefinition, Producer, StreamKind } from './event-definition.js';

/**
 * Every governed event: its stream, schema version, who may produce it and the shape of its payload. A type is
 * registered here before it can be written, is past tense, and is never renamed. A new field is optional; a changed
 * meaning is a new schema version.
 */

export const DECISION_OUTCOMES = ['allow', 'deny', 'requires_confirmation'] as const;
export type DecisionOutcome = (typeof DECISION_OUTCOMES)[number];

/** How much of the effect is known to have happened; unknown is a status, never an effect. */
export const KNOWN_EFFECTS = ['none', 'partial', 'full'] as const;
export type KnownEffect = (typeof KNOWN_EFFECTS)[number];

export const NOT_EXECUTED_REASONS = [
  'approval_expired',
  'approval_closed',
  'authorization_expired',
  'cancelled',
  'stopped',
  'run_ended',
  'interrupted',
  'superseded',
  'digest_mismatch',
  'contradicted',
  'lease_refused',
  'precondition_failed',
] as const;
export type NotExecutedReason = (typeof NOT_EXECUTED_REASONS)[number];

export const UNKNOWN_CAUSES = [
  'timeout',
  'reset',
  'ambiguous_status',
  'unreadable_answer',
  'redirected',
  'owner_lost',
  'deadline_passed',
  'answer_not_recorded',
  'cancel_unanswered',
  'restored',
] as const;
export type UnknownCause = (typeof UNKNOWN_CAUSES)[number];

export const RECONCILIATION_STRATEGIES = [
  'query_by_idempotency_key',
  'query_by_external_id',
  'await_callback',
  'statement_match',
  'human',
] as const;
export type ReconciliationStrategy = (typeof RECONCILIATION_STRATEGIES)[number];

export const HANDOFF_FINDINGS = ['happened', 'not_happened', 'partial', 'unknowable'] as const;
export type HandoffFinding = (typeof HANDOFF_FINDINGS)[number];

export const CATALOGUE = {
  // run
  'run.started': define('run', 1, ['session-runtime', 'capability-runtime'], {
    implicit: 'boolean',
    label: 'text?',
    principal: 'object',
    goalRef: 'text?',
    riskCeiling: 'text?',
  }),
  'run.suspend_requested': define('run', 1, ['control-plane'], { waitLimitMs: 'integer?' }),
  'run.suspended': define('run', 1, ['session-runtime', 'recovery'], { checkpointId: 'text?', safePoint: 'text?' }),
  'run.resumed': define('run', 1, ['session-runtime'], { checkpointId: 'text?', ownerEpoch: 'integer?' }),
  'run.interrupted': define('run', 1, ['recovery'], { lastSeq: 'integer?', checkpointId: 'text?' }),
  'run.completed': define('run', 1, ['session-runtime', 'recovery'], { reason: 'text?', handedOver: 'list?' }),
  'run.failed': define('run', 1, ['session-runtime', 'recovery'], { lastError: 'object' }),
  'run.stopped': define('run', 1, ['session-runtime', 'recovery'], { legs: 'object' }),
  'run.handed_off': define('run', 1, ['session-runtime', 'recovery'], { handoffId: 'text?', reason: 'text' }),
  'run.marked_not_resumable': define('run', 1, ['recovery'], { markerSeenAt: 'text' }),
  'stop.requested': define('run', 1, ['control-plane'], { scope: 'list', modelActive: 'boolean', requestedBy: 'text' }),
  'model.cancelled': define('run', 1, ['harness', 'recovery'], { basis: ['reported', 'harness_lost'] }),

  // call: proposal and judgement
  'tool.call.proposed': define('call', 1, ['capability-runtime'], {
    capability: 'text',
    capabilityVersion: 'text',
    manifestDigest: 'text',
    effect: 'text',
    risk: 'text',
    principal: 'object',
    arguments: 'object',
    argsDigest: 'text',
    intentDigest: 'text',
    target: 'object',
    downstreamKey: 'text',
    idempotencyKey: 'text?',
    callId: 'text?',
    intentId: 'text?',
    reason: 'text?',
    executeBefore: 'text?',
    allowDuplicateIntent: 'boolean?',
    /** JSON pointers into `arguments` whose values every view masks. */
    redacted: 'list?',
    /** Everybody who counts as the requester when an approver must be somebody else. */
    requesterSubjects: 'list?',
    /** `id@version` of the success criteria, where the manifest has any: an outcome will be verified. */
    successCriteria: 'text?',
    compensatesToolCallId: 'text?',
    supersedesToolCallId: 'text?',
  }),
  'policy.decided': define('call', 1, ['policy-runtime'], {
    phase: ['propose', 'vote', 'dispatch', 'retry'],
    outcome: DECISION_OUTCOMES,
    policyRevision: 'text',
    schemaDigest: 'text',
    engineVersion: 'text',
    requestDigest: 'text',
    request: 'object',
    determining: 'list',
    reasons: 'list',
    obligations: 'object?',
    engineErrors: 'list?',
    attempt: 'integer',
    /** `{key, add, max}` of every budget the call takes from; at dispatch only where it takes otherwise than before. */
    reservations: 'list?',
    /** The counter that was full: the policies alone would not have denied. */
    exceeded: 'text?',
  }),
  'capability.authorized': define('call', 1, ['policy-runtime'], {
    basis: ['policy', 'approval'],
    executeBy: 'text',
    attempt: 'integer',
  }),
  'capability.authorization_withdrawn': define('call', 1, ['policy-runtime'], { reason: 'text' }),
  'tool.call.denied': define('call', 1, ['policy-runtime'], {
    basis: ['policy', 'approval', 'policy_at_dispatch', 'precondition', 'refusal'],
    reasons: 'list',
  }),
  'tool.call.not_executed': define('call', 1, ['capability-runtime', 'control-plane', 'recovery'], {
    reason: NOT_EXECUTED_REASONS,
    /** What does not hold, for people; where that is the reason. */
    reasons: 'list?',
  }),

  // call: carrying out
  'tool.call.dispatching': define('call', 1, ['capability-runtime'], {
    attempt: 'integer',
    nonce: 'text',
    fence: 'integer',
    owner: 'text',
    ownerEpoch: 'integer',
    downstreamKey: 'text',
    target: 'object',
    deadline: 'text',
    dispatchIntentAt: 'text',
    /** `{name, digest, holds, observedAt}` of what was read just before, where the manifest has preconditions. */
    preconditions: 'list?',
    executionEnvironmentId: 'text?',
  }),
  'tool.call.dispatched': define('call', 1, ['capability-runtime'], {
    dispatchedAt: 'text',
    externalRequestId: 'text?',
  }),
  'tool.call.accepted': define('call', 1, ['capability-runtime'], {
    acceptedAt: 'text',
    basis: ['ack', 'callback', 'implicit_by_result'],
    externalRequestId: 'text?',
    pollNotBefore: 'text?',
  }),
  'tool.call.completed': define('call', 1, ['capability-runtime', 'reconciler'], {
    basis: ['direct', 'callback', 'reconciliation'],
    result: 'json',
    resultDigest: 'text',
    resultTruncated: 'boolean',
    externalRequestId: 'text?',
    evidence: 'object?',
  }),
  'tool.call.failed': define('call', 1, ['capability-runtime', 'reconciler', 'recovery'], {
    code: 'text',
    effect: KNOWN_EFFECTS,
    basis: ['rejected', 'not_sent', 'read_only', 'callback', 'reconciliation', 'cancelled', 'durability_failed'],
    retryable: 'boolean',
    message: 'text?',
    evidence: 'object?',
  }),
  'tool.call.result_unknown': define('call', 1, ['capability-runtime', 'recovery'], {
    cause: UNKNOWN_CAUSES,
    lastError: 'text?',
    externalRequestId: 'text?',
    evidence: 'object?',
    /** Only where no dispatch is on record: `nonce, fence, owner, ownerEpoch, deadline` of the attempt that may have been made. */
    carrying: 'object?',
  }),
  'tool.call.callback_received': define('call', 1, ['capability-runtime'], {
    callbackId: 'text',
    source: 'text',
    meaning: 'text',
    /** The provider's reference, where the evidence told it. */
    externalRequestId: 'text?',
    evidence: 'object?',
  }),
  'tool.call.callback_ignored': define('call', 1, ['capability-runtime'], { callbackId: 'text', reason: 'text' }),
  'tool.call.contradiction_recorded': define('call', 1, ['capability-runtime', 'reconciler'], {
    evidenceRefs: 'list',
    meaning: 'text',
  }),
  'tool.call.retry_accepted': define('call', 1, ['capability-runtime'], {
    attempt: 'integer',
    previousStatus: 'text',
  }),
  'tool.cancellation_requested': define('call', 1, ['capability-runtime', 'control-plane'], { deadline: 'text' }),
  'tool.cancelled': define('call', 1, ['capability-runtime'], { effect: KNOWN_EFFECTS }),
  external_action_irreversible: define('call', 1, ['capability-runtime', 'control-plane'], { reason: 'text' }),
  'compensation.requested': define('call', 1, ['control-plane'], {
    compensatesToolCallId: 'text',
    newToolCallId: 'text',
  }),

  // call: finding out
  'reconciliation.started': define('call', 1, ['reconciler'], {
    strategy: RECONCILIATION_STRATEGIES,
    deadline: 'text',
  }),
  'reconciliation.attempted': define('call', 1, ['reconciler'], {
    n: 'integer',
    result: ['inconclusive', 'unreachable', 'absent_too_early'],
    nextAt: 'text',
    evidence: 'object?',
  }),
  'reconciliation.resolved': define('call', 1, ['reconciler', 'capability-runtime'], {
    verdict: ['happened', 'not_happened', 'failed'],
    evidenceRefs: 'list',
    evidence: 'object?',
  }),
  'tool.call.manual_handoff': define('call', 1, ['reconciler', 'control-plane'], {
    reason: ['attempts_exhausted', 'deadline_passed', 'no_query_possible', 'contradiction', 'operator'],
    evidenceRefs: 'list',
  }),
  'manual.handoff_opened': define('call', 1, ['reconciler', 'control-plane'], {
    handoffId: 'text',
    packet: 'object',
    assignee: 'text?',
  }),
  /** One person's finding where the definition asks for two; nothing is resolved by it. */
  'manual.finding_recorded': define('call', 1, ['control-plane'], {
    handoffId: 'text',
    finding: HANDOFF_FINDINGS,
    evidenceRefs: 'list',
    note: 'text?',
    foundBy: 'object',
  }),
  'manual.handoff_resolved': define('call', 1, ['control-plane'], {
    handoffId: 'text',
    finding: HANDOFF_FINDINGS,
    evidenceRefs: 'list',
    note: 'text?',
    resolvedBy: 'object',
    /** The event of the first person's equal finding, where two were needed. */
    confirms: 'text?',
  }),

  ...RUN_CHAIN_EVENTS,
  ...SESSION_EVENTS,
  ...STANDING_EVENTS,
  ...PLAN_REVIEW_EVENTS,
  ...OUTCOME_EVENTS,
  ...LEASE_EVENTS,
  ...APPROVAL_AND_COMMAND_EVENTS,
  ...EVIDENCE_EVENTS,
  ...INSTALLATION_EVENTS,
  ...POLICY_EVENTS,
  ...SECRET_EVENTS,
} as const satisfies Record<string, EventDefinition>;

export type EventType = keyof typeof CATALOGUE;

/** The event types of one stream kind. */
export type EventTypeIn<K extends StreamKind> = {
  [T in EventType]: (typeof CATALOGUE)[T]['stream'] extends K ? T : never;
}[EventType];

/** The payload type of one event type. */
export type EventPayload<T extends EventType> = PayloadOf<(typeof CATALOGUE)[T]['shape']>;

/** A fact a pure rule has decided: its type and payload, not yet placed in a stream. */
export type DomainEvent<T extends EventType = EventType> = {
  [K in T]: { readonly type: K; readonly payload: EventPayload<K> };
}[T];
