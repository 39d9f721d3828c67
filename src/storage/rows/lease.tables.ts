import type { LeaseEnding, LeaseKind, LeaseMode, LeaseStatus, TrustLevel } from '../../domain/lease/lease.state.js';

/** Who may do one act, until when. Never a token, never a credential. Part of `Tables`. */
export interface LeaseTables {
  leases: {
    lease_id: string;
    tenant: string;
    tool_call_id: string;
    run_id: string;
    session_id: string;
    correlation_id: string;
    /** `principalKey` of domain/principal. */
    principal: string;
    /** Who acts: the agent, or the person that acts for itself. */
    agent: string;
    capability: string;
    capability_version: string;
    approval_id: string | null;
    policy_decision_id: string | null;
    policy_revision: string | null;
    args_digest: string;
    attempt: number;
    kind: LeaseKind;
    mode: LeaseMode;
    status: LeaseStatus;
    /** How it ended for us, while a credential of a provider may live on. */
    ended_as: LeaseEnding | null;
    /** Why it ended, or the code it was refused with. */
    status_reason: string | null;
    ended_at: string | null;
    /** JSON: string[]. */
    scopes: string;
    audience: string | null;
    environment_id: string;
    trust_level: TrustLevel;
    /** JSON objects. */
    network_policy: string;
    data_access_policy: string;
    max_uses: number;
    uses: number;
    used_at: string | null;
    issued_at: string;
    expires_at: string;
    renewable_until: string;
    kid: string | null;
    renews_lease_id: string | null;
    /** Epoch of the process that issued it. */
    owner_epoch: number;
    upstream_provider: string | null;
    upstream_reference: string | null;
    upstream_expires_at: string | null;
    revoke_tries: number;
    revoke_next_at: string | null;
    version: number;
    last_event_id: string;
    created_at: string;
    updated_at: string;
  };
}
