import type { LeaseTerms } from './lease-terms.js';

/** What the manifest offers, and when it would be used. Times are milliseconds since 1970. */
export interface LeaseCircumstances {
  readonly scopes: readonly string[];
  readonly ttlMs: number;
  readonly ttlMsMax: number;
  readonly maxUses: number;
  /** Milliseconds for which renewals may go on; null: none. */
  readonly renewableForMs: number | null;
  readonly nowMs: number;
  /** Nothing may be sent at or after it: of the approval, or of the authorization. */
  readonly executeByMs: number;
  /** When nobody needs the lease any more; null: the tool may work on after the attempt. */
  readonly neededUntilMs: number | null;
}

export interface LeasePlan {
  readonly scopes: readonly string[];
  readonly maxUses: number;
  readonly expiresAtMs: number;
  readonly renewableUntilMs: number;
}

/**
 * L1, L2: what may be lent. The policy makes the manifest's offer less and never more: a policy that names a scope which
 * the manifest does not have, or several that agree on none, lend nothing.
 */
export function planLease(
  offer: LeaseCircumstances,
  terms: LeaseTerms | null,
):
  | { readonly ok: true; readonly plan: LeasePlan }
  | { readonly ok: false; readonly code: 'lease_scope_exceeded' | 'lease_expired' } {
  const scopes = terms?.scopes ?? offer.scopes;
  if (scopes.length === 0 || scopes.some((scope) => !offer.scopes.includes(scope))) {
    return { ok: false, code: 'lease_scope_exceeded' };
  }
  const ttlMs = Math.min(offer.ttlMs, offer.ttlMsMax, terms?.ttlMs ?? Infinity, terms?.ttlMsMax ?? Infinity);
  const expiresAtMs = Math.min(offer.nowMs + ttlMs, offer.executeByMs, offer.neededUntilMs ?? Infinity);
  if (expiresAtMs <= offer.nowMs) return { ok: false, code: 'lease_expired' };
  const renewableUntilMs = Math.max(expiresAtMs, offer.nowMs + (offer.renewableForMs ?? 0));
  const maxUses = Math.min(offer.maxUses, terms?.usesMax ?? Infinity);
  return { ok: true, plan: { scopes, maxUses, expiresAtMs, renewableUntilMs } };
}
