import { define } from './event-definition.js';

export const LEASE_KINDS = ['act', 'probe'] as const;
export const LEASE_MODES = ['inject', 'sign_on_behalf', 'token'] as const;
export const TRUST_LEVELS = ['low', 'medium', 'high'] as const;

/** What a lease grants, or was asked to grant. Never the token and never a credential. */
const GRANT = {
  /** `act`: for the effect. `probe`: for a read-only look-up. */
  kind: LEASE_KINDS,
  mode: LEASE_MODES,
  attempt: 'integer',
  principal: 'object',
  capability: 'text',
  capabilityVersion: 'text',
  argsDigest: 'text',
  executionEnvironmentId: 'text',
  sandboxTrustLevel: TRUST_LEVELS,
  credentialScope: 'list',
  networkPolicy: 'object',
  dataAccessPolicy: 'object',
  audience: 'text?',
  maxUses: 'integer',
  issuedAt: 'text',
  expiresAt: 'text',
  /** Renewals end here, however often they are made. */
  renewableUntil: 'text',
  policyRevision: 'text?',
  ownerEpoch: 'integer',
  /** The signing key of its token. */
  kid: 'text?',
  renewsLeaseId: 'text?',
  /** `{provider, reference, expiresAt}` of a credential that a provider made for this lease. */
  upstream: 'object?',
} as const;

export const LEASE_REVOCATION_REASONS = ['operator', 'stopped', 'run_ended', 'run_not_resumable', 'restart'] as const;

/** Who may do one act, until when. Part of the catalogue. */
export const LEASE_EVENTS = {
  /** `usedAt`: used by the unit that issued it, which is how the proxy itself uses one. */
  'lease.issued': define('lease', 1, ['lease-authority'], { ...GRANT, usedAt: 'text?' }),
  'lease.refused': define('lease', 1, ['lease-authority'], { ...GRANT, code: 'text' }),
  'lease.activated': define('lease', 1, ['lease-authority'], { usedAt: 'text', usedBy: 'text?' }),
  'lease.used': define('lease', 1, ['lease-authority'], { use: 'integer', usedAt: 'text', usedBy: 'text?' }),
  'lease.released': define('lease', 1, ['lease-authority'], {
    reason: ['call_ended', 'renewed', 'look_up_ended'],
    at: 'text',
  }),
  'lease.expired': define('lease', 1, ['lease-authority'], { expiresAt: 'text', noticedAt: 'text' }),
  'lease.revoked': define('lease', 1, ['lease-authority'], {
    reason: LEASE_REVOCATION_REASONS,
    at: 'text',
    /** What an operator chose leases by: `{by, value}`. */
    selector: 'object?',
  }),
  'lease.upstream_revoked': define('lease', 1, ['lease-authority'], {
    basis: ['provider', 'gone', 'expired'],
    at: 'text',
  }),
  'lease.revoke_failed': define('lease', 1, ['lease-authority'], {
    n: 'integer',
    error: 'text',
    at: 'text',
    nextAt: 'text',
  }),
  'lease.irrevocable': define('lease', 1, ['lease-authority'], { tries: 'integer', error: 'text', at: 'text' }),
} as const;
