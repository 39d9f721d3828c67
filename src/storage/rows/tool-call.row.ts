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
  Effect,
  Risk,
  ToolCallIdentity,
  ToolCallIn,
  ToolCallState,
} from '../../domain/tool-call/tool-call.state.js';
import { needed } from './needed.js';
import { principalFromKey } from './principal-column.js';
import type { TableRow } from './tables.js';

type Row = TableRow<'tool_calls'>;

const FACT_COLUMNS = [
  'tool_call_id',
  'tenant',
  'run_id',
  'session_id',
  'turn_id',
  'call_id',
  'correlation_id',
  'reasoning_object_id',
  'skill_id',
  'version',
  'policy_decision_id',
  'policy_revision',
  'approval_id',
  'proposed_event_id',
  'decided_event_id',
  'settled_event_id',
  'resolution_event_id',
  'last_event_id',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Row)[];

/** The columns of a call's row that its state does not hold. */
export type ToolCallFacts = Pick<Row, (typeof FACT_COLUMNS)[number]>;

/** The facts of a row, to be carried into its next version. */
export function toolCallFacts(row: Row): ToolCallFacts {
  return Object.fromEntries(FACT_COLUMNS.map((column) => [column, row[column]])) as unknown as ToolCallFacts;
}

/**
 * The row of a call. Columns that the state does not have are null (`reconciliation_queries` 0), so a row is a function of its
 * stream and nothing else. What carries the attempt (nonce, fence, owner, deadline) is in the attempt's own row.
 */
export function toolCallRow(facts: ToolCallFacts, state: ToolCallState): Row {
  // Not one literal with spreads: on Node 20 spreading objects of many keys costs more than everything else here.
  const columns: StatusColumns = Object.assign({}, NOTHING_MORE, statusColumns(state));
  return Object.assign(lifeColumns(state), columns, facts);
}

function lifeColumns(state: ToolCallState): Omit<Row, keyof ToolCallFacts | keyof StatusColumns> {
  return {
    principal: principalKey(state.principal),
    capability: state.capability,
    capability_version: state.capabilityVersion,
    manifest_digest: state.manifestDigest,
    effect: state.effect,
    risk: state.risk,
    status: state.status,
    attempt: state.attempt,
    args_digest: state.argsDigest,
    intent_digest: state.intentDigest,
    downstream_key: state.downstreamKey,
    execute_before: state.executeBefore,
    external_request_id: state.externalRequestId,
    cancellation_requested: state.cancellationRequested ? 1 : 0,
    contradicted: state.contradicted ? 1 : 0,
    cancel_by: state.cancelBy,
    irreversible: state.irreversible,
    compensates: state.compensates,
    compensated_by: state.compensatedBy,
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
  const base = {
    ...identity(row),
    attempt: row.attempt,
    cancellationRequested: row.cancellation_requested === 1,
    cancelBy: row.cancel_by,
    irreversible: row.irreversible,
    compensatedBy: row.compensated_by,
    externalRequestId: row.external_request_id,
    contradicted: row.contradicted === 1,
  };
  switch (row.status) {
    case 'proposed':
      return { ...base, status: row.status };
    case 'authorized':
      return {
        ...base,
        status: row.status,
        basis: needed<'policy' | 'approval'>(row.authorization_basis, 'authorization_basis'),
        executeBy: needed(row.execute_by, 'execute_by'),
      };
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
      return { ...base, status: row.status, ...carrying(row, attempt) };
    case 'result_unknown':
      return { ...base, status: row.status, cause: causeOf(row), ...carrying(row, attempt) };
    case 'reconciling':
      return { ...base, status: row.status, cause: causeOf(row), ...reconciliation(row), ...carrying(row, attempt) };
    case 'completed':
      return {
        ...base,
        status: row.status,
        resultBasis: needed<'direct' | 'callback' | 'reconciliation'>(row.result_basis, 'result_basis'),
      };
    case 'failed':
      return {
        ...base,
        status: row.status,
        code: needed(row.status_reason, 'status_reason'),
        knownEffect: needed<KnownEffect>(row.known_effect, 'known_effect'),
        retryable: needed(row.retryable, 'retryable') === 1,
      };
    case 'manual_handoff':
      return { ...base, status: row.status, handoffId: row.handoff_id, resolution: resolution(row) };
    case 'denied':
      return {
        ...base,
        status: row.status,
        deniedBy: needed<'policy' | 'approval' | 'policy_at_dispatch'>(row.status_reason, 'status_reason'),
      };
    case 'not_executed':
      return { ...base, status: row.status, reason: needed<NotExecutedReason>(row.status_reason, 'status_reason') };
  }
}

function identity(row: Row): ToolCallIdentity {
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
