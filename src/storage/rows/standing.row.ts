import type { StandingState } from '../../domain/standing/standing.state.js';
import type { TableRow } from './tables.js';

/** What the row of a standing right holds besides its state. */
export interface StandingFacts {
  readonly id: string;
  readonly tenant: string;
  readonly version: number;
  readonly createdEventId: string;
  readonly lastEventId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export function grantState(row: TableRow<'grants'>): StandingState {
  const right = {
    kind: 'grant' as const,
    capability: row.capability,
    group: row.approver_group,
    principalSub: row.principal_sub,
    principalAct: row.principal_act,
  };
  return { right, by: row.granted_by, until: row.until, status: row.status, revokedBy: row.revoked_by };
}

export function delegationState(row: TableRow<'delegations'>): StandingState {
  const groups = JSON.parse(row.groups) as readonly string[];
  const right = { kind: 'delegation' as const, to: row.lent_to, groups };
  return { right, by: row.lent_by, until: row.until, status: row.status, revokedBy: row.revoked_by };
}

export function standingFacts(id: string, row: TableRow<'grants'> | TableRow<'delegations'>): StandingFacts {
  return {
    id,
    tenant: row.tenant,
    version: row.version,
    createdEventId: row.created_event_id,
    lastEventId: row.last_event_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

type AnyRow =
  | { readonly table: 'grants'; readonly row: TableRow<'grants'> }
  | { readonly table: 'delegations'; readonly row: TableRow<'delegations'> };

/** The row that the state says, and whose table it is. */
export function standingRow(facts: StandingFacts, state: StandingState): AnyRow {
  const common = {
    tenant: facts.tenant,
    until: state.until,
    status: state.status,
    revoked_by: state.revokedBy,
    version: facts.version,
    created_event_id: facts.createdEventId,
    last_event_id: facts.lastEventId,
    created_at: facts.createdAt,
    updated_at: facts.updatedAt,
  };
  const { right, by } = state;
  if (right.kind === 'delegation') {
    const row = { delegation_id: facts.id, lent_by: by, lent_to: right.to, groups: JSON.stringify(right.groups) };
    return { table: 'delegations', row: { ...row, ...common } };
  }
  const row = {
    grant_id: facts.id,
    granted_by: by,
    approver_group: right.group,
    capability: right.capability,
    principal_sub: right.principalSub,
    principal_act: right.principalAct,
  };
  return { table: 'grants', row: { ...row, ...common } };
}
