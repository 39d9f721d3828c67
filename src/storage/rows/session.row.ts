import { principalKey } from '../../domain/principal.js';
import type { SessionParent } from '../../domain/session/session-row.js';
import type { SessionState } from '../../domain/session/session.state.js';
import type { CheckpointState } from '../../domain/checkpoint/checkpoint.state.js';
import { principalFromKey } from './principal-column.js';
import type { TableRow } from './tables.js';

/** The columns of a session's row that its state does not hold. */
export type SessionFacts = Pick<
  TableRow<'sessions'>,
  'tenant' | 'session_id' | 'version' | 'created_at' | 'updated_at'
>;

export function sessionFacts({ tenant, session_id, version, created_at, updated_at }: SessionFacts): SessionFacts {
  return { tenant, session_id, version, created_at, updated_at };
}

export function sessionRow(facts: SessionFacts, state: SessionState): TableRow<'sessions'> {
  return {
    ...facts,
    principal: principalKey(state.principal),
    status: state.status,
    owner_epoch: state.ownerEpoch,
    harness_instance_id: state.harnessInstanceId,
    parent: state.parent === null ? null : JSON.stringify(state.parent),
  };
}

export function sessionState(row: TableRow<'sessions'>): SessionState {
  return {
    status: row.status,
    principal: principalFromKey(row.principal),
    ownerEpoch: row.owner_epoch,
    harnessInstanceId: row.harness_instance_id,
    parent: row.parent === null ? null : (JSON.parse(row.parent) as SessionParent),
  };
}

/** The columns of a checkpoint's row that its state does not hold. */
export type CheckpointFacts = Omit<TableRow<'checkpoints'>, 'kind' | 'status' | 'verdict'>;

export function checkpointFacts({
  kind: _,
  status: _s,
  verdict: _v,
  ...facts
}: TableRow<'checkpoints'>): CheckpointFacts {
  return facts;
}

export function checkpointRow(facts: CheckpointFacts, state: CheckpointState): TableRow<'checkpoints'> {
  return { ...facts, ...state };
}

export function checkpointState({ status, kind, verdict }: TableRow<'checkpoints'>): CheckpointState {
  return { status, kind, verdict };
}
