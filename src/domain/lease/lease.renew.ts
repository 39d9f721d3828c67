import { refuse, type Refusal } from '../errors/error-codes.js';
import type { EventPayload } from '../events/catalogue.js';
import { earlierOf, isBefore, millisOf, timeAt } from '../events/instant.js';
import { endedLease } from './lease.place.js';
import { isLiveLease, type LeaseGrant, type LeaseState } from './lease.state.js';

/** What a renewal asks for; null: as it was. */
export interface RenewalWish {
  readonly scopes: readonly string[] | null;
  readonly ttlMs: number | null;
}

/**
 * The grant that takes the place of a live lease (P-49): never wider in scope, in uses or in time than the first one
 * allowed, and never at all for one that has ended. Uses that were burnt stay burnt.
 */
export function renewalOf(
  state: LeaseState,
  leaseId: string,
  wish: RenewalWish,
  at: { readonly now: string; readonly ownerEpoch: number; readonly kid: string | null },
): { readonly ok: true; readonly issue: EventPayload<'lease.issued'> } | Refusal {
  if (!isLiveLease(state)) return endedLease(state);
  if (!isBefore(at.now, state.expiresAt)) return refuse('lease_expired', 'The time of the lease is over.');
  if (state.kind !== 'act') return refuse('lease_renewal_refused', 'A look-up gets a lease of its own each time.');
  const scopes = wish.scopes ?? state.scopes;
  if (scopes.length === 0 || scopes.some((scope) => !state.scopes.includes(scope))) {
    return refuse('lease_scope_exceeded', 'A renewal is never wider than the lease it renews.');
  }
  const lastedMs = millisOf(state.expiresAt) - millisOf(state.issuedAt);
  if (wish.ttlMs !== null && wish.ttlMs > lastedMs) {
    return refuse('lease_scope_exceeded', 'A renewal never lasts longer than the lease it renews.');
  }
  const expiresAt = earlierOf(timeAt(millisOf(at.now) + (wish.ttlMs ?? lastedMs)), state.renewableUntil);
  if (!isBefore(state.expiresAt, expiresAt))
    return refuse('lease_renewal_refused', 'Renewals of this lease have ended.');
  const usesLeft = state.maxUses - state.uses;
  if (usesLeft < 1) return refuse('lease_exhausted', 'The lease has been used as often as it may be.');
  return {
    ok: true,
    issue: {
      ...grantPayload({
        ...state,
        scopes,
        expiresAt,
        issuedAt: at.now,
        maxUses: usesLeft,
        renewsLeaseId: leaseId,
        ...own(at),
      }),
    },
  };
}

const own = ({ ownerEpoch, kid }: { readonly ownerEpoch: number; readonly kid: string | null }) => ({
  ownerEpoch,
  kid,
  // What a provider made belongs to the lease it was made for, and ends with it.
  upstream: null,
});

/** A grant as it is recorded. */
export function grantPayload(grant: LeaseGrant): EventPayload<'lease.issued'> {
  return {
    kind: grant.kind,
    mode: grant.mode,
    attempt: grant.attempt,
    principal: { ...grant.principal },
    capability: grant.capability,
    capabilityVersion: grant.capabilityVersion,
    argsDigest: grant.argsDigest,
    executionEnvironmentId: grant.executionEnvironmentId,
    sandboxTrustLevel: grant.sandboxTrustLevel,
    credentialScope: grant.scopes,
    networkPolicy: grant.networkPolicy,
    dataAccessPolicy: grant.dataAccessPolicy,
    audience: grant.audience,
    maxUses: grant.maxUses,
    issuedAt: grant.issuedAt,
    expiresAt: grant.expiresAt,
    renewableUntil: grant.renewableUntil,
    policyRevision: grant.policyRevision,
    ownerEpoch: grant.ownerEpoch,
    kid: grant.kid,
    ...(grant.renewsLeaseId === null ? {} : { renewsLeaseId: grant.renewsLeaseId }),
    ...(grant.upstream === null ? {} : { upstream: { ...grant.upstream } }),
  };
}
