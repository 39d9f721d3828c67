import type { JsonObject } from '../json/json-value.js';
import type { LEASE_KINDS, LEASE_MODES, TRUST_LEVELS } from '../events/lease-events.js';
import type { Principal } from '../principal.js';

export const LEASE_STATUSES = [
  'issued',
  'active',
  'released',
  'expired',
  'revoked',
  'refused',
  'revoking',
  'revoke_failed',
  'irrevocable',
] as const;
export type LeaseStatus = (typeof LEASE_STATUSES)[number];

/** In these a lease can be used. */
export const LIVE_LEASE_STATUSES = ['issued', 'active'] as const satisfies readonly LeaseStatus[];

/** In these a credential that a provider made may still work although the lease has ended. */
export const UPSTREAM_ALIVE_STATUSES = [
  'revoking',
  'revoke_failed',
  'irrevocable',
] as const satisfies readonly LeaseStatus[];

export type LeaseKind = (typeof LEASE_KINDS)[number];
export type LeaseMode = (typeof LEASE_MODES)[number];
export type TrustLevel = (typeof TRUST_LEVELS)[number];
/** How a lease ended for us, whatever the provider's credential still does. */
export type LeaseEnding = 'released' | 'expired' | 'revoked';

/** A credential that a provider made for one lease, by its name there; never its value. */
export interface UpstreamCredential {
  readonly provider: string;
  readonly reference: string;
  /** When the provider ends it by itself; null when it has not said. */
  readonly expiresAt: string | null;
}

/** What every status has. Times are ISO 8601. */
export interface LeaseGrant {
  readonly kind: LeaseKind;
  readonly mode: LeaseMode;
  readonly attempt: number;
  readonly principal: Principal;
  readonly capability: string;
  readonly capabilityVersion: string;
  readonly argsDigest: string;
  readonly executionEnvironmentId: string;
  readonly sandboxTrustLevel: TrustLevel;
  readonly scopes: readonly string[];
  readonly networkPolicy: JsonObject;
  readonly dataAccessPolicy: JsonObject;
  readonly audience: string | null;
  readonly maxUses: number;
  readonly uses: number;
  readonly usedAt: string | null;
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly renewableUntil: string;
  readonly policyRevision: string | null;
  readonly ownerEpoch: number;
  readonly kid: string | null;
  readonly renewsLeaseId: string | null;
  readonly upstream: UpstreamCredential | null;
}

interface Ended {
  readonly reason: string;
  readonly endedAt: string;
}

interface UpstreamAlive extends Ended {
  readonly endedAs: LeaseEnding;
}

/** A union on `status`. */
export type LeaseState = LeaseGrant &
  (
    | { readonly status: 'issued' }
    | { readonly status: 'active' }
    | ({ readonly status: LeaseEnding } & Ended)
    | { readonly status: 'refused'; readonly code: string }
    | ({ readonly status: 'revoking' } & UpstreamAlive)
    | ({ readonly status: 'revoke_failed'; readonly tries: number; readonly nextAt: string } & UpstreamAlive)
    | ({ readonly status: 'irrevocable'; readonly tries: number } & UpstreamAlive)
  );

export type LeaseIn<S extends LeaseStatus> = Extract<LeaseState, { readonly status: S }>;

export type LiveLease = LeaseIn<'issued' | 'active'>;

export const isLiveLease = (state: LeaseState): state is LiveLease =>
  state.status === 'issued' || state.status === 'active';
