import type { JsonObject } from '../../domain/json/json-value.js';
import type { LeaseStatus } from '../../domain/lease/lease.state.js';
import type { TableRow } from '../../storage/rows/tables.js';

/** A lease as people and tools see it: never its token, and of a provider's credential only when it ends. */
export interface LeaseView {
  readonly leaseId: string;
  readonly status: LeaseStatus;
  readonly endedAs: string | null;
  readonly reason: string | null;
  readonly endedAt: string | null;
  readonly kind: 'act' | 'probe';
  readonly mode: 'inject' | 'sign_on_behalf' | 'token';
  readonly toolCallId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly agent: string;
  readonly capability: string;
  readonly capabilityVersion: string;
  readonly scopes: readonly string[];
  readonly audience: string | null;
  readonly executionEnvironmentId: string;
  readonly sandboxTrustLevel: string;
  readonly networkPolicy: JsonObject;
  readonly dataAccessPolicy: JsonObject;
  readonly maxUses: number;
  readonly uses: number;
  readonly usedAt: string | null;
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly renewableUntil: string;
  readonly renewsLeaseId: string | null;
  readonly approvalId: string | null;
  readonly policyRevision: string | null;
  readonly kid: string | null;
  readonly ownerEpoch: number;
  readonly upstream: {
    readonly provider: string;
    readonly expiresAt: string | null;
    readonly revokeTries: number;
  } | null;
}

export function leaseView(row: TableRow<'leases'>): LeaseView {
  return {
    leaseId: row.lease_id,
    status: row.status,
    endedAs: row.ended_as,
    reason: row.status_reason,
    endedAt: row.ended_at,
    kind: row.kind,
    mode: row.mode,
    toolCallId: row.tool_call_id,
    runId: row.run_id,
    attempt: row.attempt,
    agent: row.agent,
    capability: row.capability,
    capabilityVersion: row.capability_version,
    scopes: JSON.parse(row.scopes) as readonly string[],
    audience: row.audience,
    executionEnvironmentId: row.environment_id,
    sandboxTrustLevel: row.trust_level,
    networkPolicy: JSON.parse(row.network_policy) as JsonObject,
    dataAccessPolicy: JSON.parse(row.data_access_policy) as JsonObject,
    maxUses: row.max_uses,
    uses: row.uses,
    usedAt: row.used_at,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    renewableUntil: row.renewable_until,
    renewsLeaseId: row.renews_lease_id,
    approvalId: row.approval_id,
    policyRevision: row.policy_revision,
    kid: row.kid,
    ownerEpoch: row.owner_epoch,
    upstream:
      row.upstream_provider === null
        ? null
        : { provider: row.upstream_provider, expiresAt: row.upstream_expires_at, revokeTries: row.revoke_tries },
  };
}
