import type {
  HandoffFinding,
  KnownEffect,
  NotExecutedReason,
  ReconciliationStrategy,
  UnknownCause,
} from '../../domain/events/catalogue.js';
import { principalKey } from '../../domain/principal.js';
import type {
  Carrying,
  DenialBasis,
  Effect,
  Risk,
  ToolCallLife,
  ToolCallIn,
  ToolCallState,
} from '../../domain/tool-call/tool-call.state.js';
import { needed } from './needed.js';
import { principalFromKey } from './principal-column.js';
import type { TableRow } from './tables.js';

type Row = TableRow<'tool_calls'>;

/** The columns of a call's row that its state does not hold. */
export type ToolCallFacts = Pick<
  Row,
  | 'tool_call_id'
  | 'tenant'
  | 'run_id'
  | 'session_id'
  | 'turn_id'
  | 'call_id'
  | 'correlation_id'
  | 'reasoning_object_id'
  | 'skill_id'
  | 'version'
  | 'policy_decision_id'
  | 'policy_revision'
  | 'approval_id'
  | 'lease_id'
  | 'proposed_event_id'
  | 'decided_event_id'
  | 'settled_event_id'
  | 'resolution_event_id'
  | 'last_event_id'
  | 'created_at'
  | 'updated_at'
>;

/** The facts of a row, to be carried into its next version. */
export function toolCallFacts(row: Row): ToolCallFacts {
  return {
    tool_call_id: row.tool_call_id,
    tenant: row.tenant,
    run_id: row.run_id,
    session_id: row.session_id,
    turn_id: row.turn_id,
    call_id: row.call_id,
    correlation_id: row.correlation_id,
    reasoning_object_id: row.reasoning_object_id,
    skill_id: row.skill_id,
    version: row.version,
    policy_decision_id: row.policy_decision_id,
    policy_revision: row.policy_revision,
    approval_id: row.approval_id,
    lease_id: row.lease_id,
    proposed_event_id: row.proposed_event_id,
    decided_event_id: row.decided_event_id,
    settled_event_id: row.settled_event_id,
    resolution_event_id: row.resolution_event_id,
    last_event_id: row.last_event_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/**
 * The row of a call. Columns that the state does not have are null (`reconciliation_queries` 0), so a row is a function of its
 * stream and nothing else. What carries the attempt (nonce, fence, owner, deadline) is in the attempt's own row.
 */
export function toolCallRow(facts: ToolCallFacts, state: ToolCallState): Row {
  const columns: StatusColumns = Object.assign({}, NOTHING_MORE, statusColumns(state));
  // One literal, every column by its name: putting 47 columns together from parts costs more than everything else here.
  return {
    tool_call_id: facts.tool_call_id,
    tenant: facts.tenant,
    principal: principalKey(state.principal),
    run_id: facts.run_id,
    session_id: facts.session_id,
    turn_id: facts.turn_id,
    call_id: facts.call_id,
    correlation_id: facts.correlation_id,
    reasoning_object_id: facts.reasoning_object_id,
    skill_id: facts.skill_id,
    capability: state.capability,
    capability_version: state.capabilityVersion,
    manifest_digest: state.manifestDigest,
    effect: state.effect,
    risk: state.risk,
    status: state.status,
    version: facts.version,
    attempt: state.attempt,
    args_digest: state.argsDigest,
    intent_digest: state.intentDigest,
    downstream_key: state.downstreamKey,
    execute_before: state.executeBefore,
    policy_decision_id: facts.policy_decision_id,
    policy_revision: facts.policy_revision,
    approval_id: facts.approval_id,
    lease_id: facts.lease_id,
    authorization_basis: columns.authorization_basis,
    execute_by: columns.execute_by,
    external_request_id: state.externalRequestId,
    cancellation_requested: state.cancellationRequested ? 1 : 0,
    contradicted: state.contradicted ? 1 : 0,
    reserved: state.reserved === null ? null : JSON.stringify(state.reserved),
    cancel_by: state.cancelBy,
    irreversible: state.irreversible,
    compensates: state.compensates,
    compensated_by: state.compensatedBy,
    status_reason: columns.status_reason,
    known_effect: columns.known_effect,
    retryable: columns.retryable,
    result_basis: columns.result_basis,
    reconciliation_strategy: columns.reconciliation_strategy,
    reconciliation_queries: columns.reconciliation_queries,
    reconciliation_next_at: columns.reconciliation_next_at,
    reconciliation_deadline: columns.reconciliation_deadline,
    handoff_id: columns.handoff_id,
    resolution_finding: columns.resolution_finding,
    proposed_event_id: facts.proposed_event_id,
    decided_event_id: facts.decided_event_id,
    settled_event_id: facts.settled_event_id,
    resolution_event_id: facts.resolution_event_id,
    last_event_id: facts.last_event_id,
    created_at: facts.created_at,
    updated_at: facts.updated_at,
  };
}

type StatusColumns = Pick<Row, keyof typeof NOTHING_MORE>;

const NOTHING_MORE = {
  authorization_basis: null,
  execute_by: null,
  status_reason: null,
  known_effect: null,
  retryable: null,
  result_basis: null,
  reconciliation_strategy: null,
  reconciliation_queries: 0,
  reconciliation_next_at: null,
  reconciliation_deadline: null,
  handoff_id: null,
  resolution_finding: null,
} as const;

function statusColumns(state: ToolCallState): Partial<StatusColumns> {
  switch (state.status) {
    case 'proposed':
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
      return {};
    case 'authorized':
      return { authorization_basis: state.basis, execute_by: state.executeBy };
    case 'result_unknown':
      return { status_reason: state.cause };
    case 'reconciling':
      return reconcilingColumns(state);
    case 'completed':
      return { result_basis: state.resultBasis };
    case 'failed':
      return { status_reason: state.code, known_effect: state.knownEffect, retryable: state.retryable ? 1 : 0 };
    case 'manual_handoff':
      return { handoff_id: state.handoffId, resolution_finding: state.resolution?.finding ?? null };
    case 'denied':
      return { status_reason: state.deniedBy };
    case 'not_executed':
      return { status_reason: state.reason };
  }
}

function reconcilingColumns(state: ToolCallIn<'reconciling'>): Partial<StatusColumns> {
  return {
    status_reason: state.cause,
    reconciliation_strategy: state.strategy,
    reconciliation_queries: state.queries,
    reconciliation_next_at: state.nextQueryAt,
    reconciliation_deadline: state.reconciliationDeadline,
  };
}

/**
 * The state that a row says. `attempt` is the row of the call's current attempt; only the states on the wire and unknown need it.
 * A handoff's evidence references are in the sealed event `resolution_event_id` alone and come back empty. Throws a plain `Error`
 * when the row contradicts itself.
 */
export function toolCallState(row: Row, attempt: TableRow<'attempts'> | null): ToolCallState {
  const life = lifeOf(row);
  switch (row.status) {
    case 'proposed':
      return Object.assign(life, { status: row.status });
    case 'authorized':
      return Object.assign(life, {
        status: row.status,
        basis: needed<'policy' | 'approval'>(row.authorization_basis, 'authorization_basis'),
        executeBy: needed<string>(row.execute_by, 'execute_by'),
      });
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
      return Object.assign(life, { status: row.status }, carrying(row, attempt));
    case 'result_unknown':
      return Object.assign(life, { status: row.status, cause: causeOf(row) }, carrying(row, attempt));
    case 'reconciling': {
      const own = { status: row.status, cause: causeOf(row) };
      return Object.assign(life, own, reconciliation(row), carrying(row, attempt));
    }
    case 'completed': {
      const resultBasis = needed<'direct' | 'callback' | 'reconciliation'>(row.result_basis, 'result_basis');
      return Object.assign(life, { status: row.status, resultBasis });
    }
    case 'failed':
      return Object.assign(life, {
        status: row.status,
        code: needed<string>(row.status_reason, 'status_reason'),
        knownEffect: needed<KnownEffect>(row.known_effect, 'known_effect'),
        retryable: needed(row.retryable, 'retryable') === 1,
      });
    case 'manual_handoff':
      return Object.assign(life, { status: row.status, handoffId: row.handoff_id, resolution: resolution(row) });
    case 'denied': {
      const deniedBy = needed<DenialBasis>(row.status_reason, 'status_reason');
      return Object.assign(life, { status: row.status, deniedBy });
    }
    case 'not_executed': {
      const reason = needed<NotExecutedReason>(row.status_reason, 'status_reason');
      return Object.assign(life, { status: row.status, reason });
    }
  }
}

/** What every status has; the rest is assigned to it, because spreading it into another object costs as much as all of this. */
function lifeOf(row: Row): ToolCallLife {
  return {
    capability: row.capability,
    capabilityVersion: row.capability_version,
    manifestDigest: row.manifest_digest,
    effect: row.effect as Effect,
    risk: row.risk as Risk,
    principal: principalFromKey(row.principal),
    argsDigest: row.args_digest,
    intentDigest: row.intent_digest,
    downstreamKey: row.downstream_key,
    executeBefore: row.execute_before,
    compensates: row.compensates,
    attempt: row.attempt,
    cancellationRequested: row.cancellation_requested === 1,
    cancelBy: row.cancel_by,
    irreversible: row.irreversible,
    compensatedBy: row.compensated_by,
    externalRequestId: row.external_request_id,
    contradicted: row.contradicted === 1,
    reserved: row.reserved === null ? null : (JSON.parse(row.reserved) as ToolCallLife['reserved']),
  };
}

function carrying(row: Row, attempt: TableRow<'attempts'> | null): Carrying {
  if (attempt === null || attempt.tool_call_id !== row.tool_call_id || attempt.attempt !== row.attempt) {
    throw new Error(`a call that is ${row.status} needs the row of its current attempt`);
  }
  return {
    nonce: attempt.nonce,
    fence: attempt.fence,
    owner: attempt.owner,
    ownerEpoch: attempt.owner_epoch,
    deadline: attempt.deadline,
  };
}

const causeOf = (row: Row): UnknownCause => needed<UnknownCause>(row.status_reason, 'status_reason');

function reconciliation(
  row: Row,
): Pick<ToolCallIn<'reconciling'>, 'strategy' | 'reconciliationDeadline' | 'queries' | 'nextQueryAt'> {
  return {
    strategy: needed<ReconciliationStrategy>(row.reconciliation_strategy, 'reconciliation_strategy'),
    reconciliationDeadline: needed(row.reconciliation_deadline, 'reconciliation_deadline'),
    queries: row.reconciliation_queries,
    nextQueryAt: row.reconciliation_next_at,
  };
}

function resolution(row: Row): ToolCallIn<'manual_handoff'>['resolution'] {
  if (row.resolution_finding === null) return null;
  return { finding: row.resolution_finding as HandoffFinding, evidenceRefs: [] };
}
