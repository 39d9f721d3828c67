import type { DomainEvent, EventPayload } from '../events/catalogue.js';
import { isIn, type EventIn } from '../events/domain-event.js';
import { isBefore } from '../events/instant.js';
import { readPrincipal, readTexts } from '../events/payload-reading.js';
import type { JsonObject } from '../json/json-value.js';
import {
  isLiveLease,
  type LeaseEnding,
  type LeaseGrant,
  type LeaseState,
  type UpstreamCredential,
} from './lease.state.js';

/**
 * The state of a lease after one more event of its stream. Never judges; throws a plain `Error` only where no state can
 * be made: an event of another stream, or one that needs an earlier event which the history does not have.
 */
export function evolveLease(state: LeaseState | null, event: DomainEvent): LeaseState {
  if (!isIn('lease', event)) throw new Error(`${event.type} is not an event of a lease`);
  if (event.type === 'lease.issued') {
    const { usedAt = null } = event.payload;
    const grant = { ...grantOf(event.payload), uses: usedAt === null ? 0 : 1, usedAt };
    return { ...grant, status: usedAt === null ? 'issued' : 'active' };
  }
  if (event.type === 'lease.refused') {
    return { ...grantOf(event.payload), status: 'refused', code: event.payload.code };
  }
  if (state === null) throw new Error(`${event.type} cannot be the first event of a lease`);
  return evolve(state, event);
}

/** Folds events onto a state; `null` with the whole stream gives what the stored row must say. */
export function foldLease(state: LeaseState | null, events: readonly DomainEvent[]): LeaseState | null {
  return events.reduce<LeaseState | null>(evolveLease, state);
}

type LaterEvent = Exclude<EventIn<'lease'>, { readonly type: 'lease.issued' | 'lease.refused' }>;

function evolve(state: LeaseState, event: LaterEvent): LeaseState {
  switch (event.type) {
    case 'lease.activated':
      return { ...bare(state), uses: 1, usedAt: event.payload.usedAt, status: 'active' };
    case 'lease.used':
      return { ...bare(state), uses: event.payload.use, usedAt: event.payload.usedAt, status: 'active' };
    case 'lease.released':
      return ended(state, 'released', event.payload.reason, event.payload.at);
    case 'lease.expired':
      return ended(state, 'expired', 'time', event.payload.noticedAt);
    case 'lease.revoked':
      return ended(state, 'revoked', event.payload.reason, event.payload.at);
    case 'lease.upstream_revoked': {
      const { endedAs, reason, endedAt } = alive(state);
      return { ...bare(state), status: endedAs, reason, endedAt };
    }
    case 'lease.revoke_failed': {
      const { n, nextAt } = event.payload;
      return { ...bare(state), ...alive(state), status: 'revoke_failed', tries: n, nextAt };
    }
    case 'lease.irrevocable':
      return { ...bare(state), ...alive(state), status: 'irrevocable', tries: event.payload.tries };
  }
}

/** A credential that a provider made is ended there as well, unless it has ended by itself: our end is not the provider's. */
function ended(state: LeaseState, status: LeaseEnding, reason: string, endedAt: string): LeaseState {
  if (!isLiveLease(state)) throw new Error('the history ends a lease twice');
  const { upstream } = state;
  const livesOn = upstream !== null && (upstream.expiresAt === null || isBefore(endedAt, upstream.expiresAt));
  return livesOn
    ? { ...bare(state), status: 'revoking', endedAs: status, reason, endedAt }
    : { ...bare(state), status, reason, endedAt };
}

function alive(state: LeaseState): { endedAs: LeaseEnding; reason: string; endedAt: string } {
  if (!('endedAs' in state)) throw new Error('the history lacks the end of the lease');
  const { endedAs, reason, endedAt } = state;
  return { endedAs, reason, endedAt };
}

function grantOf(payload: EventPayload<'lease.issued'> | EventPayload<'lease.refused'>): LeaseGrant {
  return {
    kind: payload.kind,
    mode: payload.mode,
    attempt: payload.attempt,
    principal: readPrincipal(payload.principal),
    capability: payload.capability,
    capabilityVersion: payload.capabilityVersion,
    argsDigest: payload.argsDigest,
    executionEnvironmentId: payload.executionEnvironmentId,
    sandboxTrustLevel: payload.sandboxTrustLevel,
    scopes: readTexts(payload.credentialScope),
    networkPolicy: payload.networkPolicy,
    dataAccessPolicy: payload.dataAccessPolicy,
    audience: payload.audience ?? null,
    maxUses: payload.maxUses,
    uses: 0,
    usedAt: null,
    issuedAt: payload.issuedAt,
    expiresAt: payload.expiresAt,
    renewableUntil: payload.renewableUntil,
    policyRevision: payload.policyRevision ?? null,
    ownerEpoch: payload.ownerEpoch,
    kid: payload.kid ?? null,
    renewsLeaseId: payload.renewsLeaseId ?? null,
    upstream: readUpstream(payload.upstream ?? null),
  };
}

function readUpstream(value: JsonObject | null): UpstreamCredential | null {
  if (value === null) return null;
  const { provider, reference, expiresAt = null } = value;
  if (typeof provider !== 'string' || typeof reference !== 'string') {
    throw new Error('a credential of a provider has provider and reference');
  }
  if (expiresAt !== null && typeof expiresAt !== 'string') throw new Error('a time is a text');
  return { provider, reference, expiresAt };
}

/** A copy of what every status has. */
function bare(state: LeaseState): LeaseGrant {
  const { kind, mode, attempt, principal, capability, capabilityVersion, argsDigest } = state;
  const { executionEnvironmentId, sandboxTrustLevel, scopes, networkPolicy, dataAccessPolicy, audience } = state;
  const { maxUses, uses, usedAt, issuedAt, expiresAt, renewableUntil, policyRevision, ownerEpoch } = state;
  const { kid, renewsLeaseId, upstream } = state;
  return {
    kind,
    mode,
    attempt,
    principal,
    capability,
    capabilityVersion,
    argsDigest,
    executionEnvironmentId,
    sandboxTrustLevel,
    scopes,
    networkPolicy,
    dataAccessPolicy,
    audience,
    maxUses,
    uses,
    usedAt,
    issuedAt,
    expiresAt,
    renewableUntil,
    policyRevision,
    ownerEpoch,
    kid,
    renewsLeaseId,
    upstream,
  };
}
