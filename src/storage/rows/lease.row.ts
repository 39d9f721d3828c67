import type { JsonObject } from '../../domain/json/json-value.js';
import type { LeaseEnding, LeaseGrant, LeaseState, UpstreamCredential } from '../../domain/lease/lease.state.js';
import { principalKey } from '../../domain/principal.js';
import { needed } from './needed.js';
import { principalFromKey } from './principal-column.js';
import type { TableRow } from './tables.js';

type Row = TableRow<'leases'>;

const FACT_COLUMNS = [
  'lease_id',
  'tenant',
  'tool_call_id',
  'run_id',
  'session_id',
  'correlation_id',
  'approval_id',
  'policy_decision_id',
  'version',
  'last_event_id',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Row)[];

/** The columns of a lease's row that its state does not hold. */
export type LeaseFacts = Pick<Row, (typeof FACT_COLUMNS)[number]>;

/** The facts of a row, to be carried into its next version. */
export function leaseFacts(row: Row): LeaseFacts {
  return Object.fromEntries(FACT_COLUMNS.map((column) => [column, row[column]])) as unknown as LeaseFacts;
}

export function leaseRow(facts: LeaseFacts, state: LeaseState): Row {
  return {
    ...facts,
    ...grantColumns(state),
    status: state.status,
    ended_as: 'endedAs' in state ? state.endedAs : null,
    status_reason: 'code' in state ? state.code : 'reason' in state ? state.reason : null,
    ended_at: 'endedAt' in state ? state.endedAt : null,
    revoke_tries: 'tries' in state ? state.tries : 0,
    revoke_next_at: 'nextAt' in state ? state.nextAt : null,
  };
}

function grantColumns(grant: LeaseGrant) {
  return {
    principal: principalKey(grant.principal),
    agent: grant.principal.act ?? grant.principal.sub,
    capability: grant.capability,
    capability_version: grant.capabilityVersion,
    policy_revision: grant.policyRevision,
    args_digest: grant.argsDigest,
    attempt: grant.attempt,
    kind: grant.kind,
    mode: grant.mode,
    scopes: JSON.stringify(grant.scopes),
    audience: grant.audience,
    environment_id: grant.executionEnvironmentId,
    trust_level: grant.sandboxTrustLevel,
    network_policy: JSON.stringify(grant.networkPolicy),
    data_access_policy: JSON.stringify(grant.dataAccessPolicy),
    max_uses: grant.maxUses,
    uses: grant.uses,
    used_at: grant.usedAt,
    issued_at: grant.issuedAt,
    expires_at: grant.expiresAt,
    renewable_until: grant.renewableUntil,
    kid: grant.kid,
    renews_lease_id: grant.renewsLeaseId,
    owner_epoch: grant.ownerEpoch,
    upstream_provider: grant.upstream?.provider ?? null,
    upstream_reference: grant.upstream?.reference ?? null,
    upstream_expires_at: grant.upstream?.expiresAt ?? null,
  };
}

/** The state that the row says. */
export function leaseState(row: Row): LeaseState {
  const grant = grantOf(row);
  switch (row.status) {
    case 'issued':
    case 'active':
      return { ...grant, status: row.status };
    case 'refused':
      return { ...grant, status: row.status, code: needed(row.status_reason, 'status_reason') };
    case 'released':
    case 'expired':
    case 'revoked':
      return { ...grant, status: row.status, ...endOf(row) };
    case 'revoking':
      return { ...grant, status: row.status, ...aliveOf(row) };
    case 'revoke_failed': {
      const nextAt = needed<string>(row.revoke_next_at, 'revoke_next_at');
      return { ...grant, status: row.status, ...aliveOf(row), tries: row.revoke_tries, nextAt };
    }
    case 'irrevocable':
      return { ...grant, status: row.status, ...aliveOf(row), tries: row.revoke_tries };
  }
}

function grantOf(row: Row): LeaseGrant {
  return {
    kind: row.kind,
    mode: row.mode,
    attempt: row.attempt,
    principal: principalFromKey(row.principal),
    capability: row.capability,
    capabilityVersion: row.capability_version,
    argsDigest: row.args_digest,
    executionEnvironmentId: row.environment_id,
    sandboxTrustLevel: row.trust_level,
    scopes: JSON.parse(row.scopes) as readonly string[],
    networkPolicy: JSON.parse(row.network_policy) as JsonObject,
    dataAccessPolicy: JSON.parse(row.data_access_policy) as JsonObject,
    audience: row.audience,
    maxUses: row.max_uses,
    uses: row.uses,
    usedAt: row.used_at,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    renewableUntil: row.renewable_until,
    policyRevision: row.policy_revision,
    ownerEpoch: row.owner_epoch,
    kid: row.kid,
    renewsLeaseId: row.renews_lease_id,
    upstream: upstreamOf(row),
  };
}

function upstreamOf(row: Row): UpstreamCredential | null {
  const { upstream_provider: provider, upstream_reference: reference, upstream_expires_at: expiresAt } = row;
  return provider === null ? null : { provider, reference: needed(reference, 'upstream_reference'), expiresAt };
}

const endOf = (row: Row) => ({
  reason: needed<string>(row.status_reason, 'status_reason'),
  endedAt: needed<string>(row.ended_at, 'ended_at'),
});

const aliveOf = (row: Row) => ({ ...endOf(row), endedAs: needed<LeaseEnding>(row.ended_as, 'ended_as') });
