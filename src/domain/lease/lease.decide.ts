import { refuse } from '../errors/error-codes.js';
import { decided, mustHold } from '../events/decided.js';
import { isBefore } from '../events/instant.js';
import type { EventPayload } from '../events/catalogue.js';
import type { LeaseCommand, LeaseUse } from './lease.commands.js';
import { endedLease, type DecidedLease, type LeaseEvent } from './lease.place.js';
import { isLiveLease, type LeaseState } from './lease.state.js';

/**
 * What a command makes true of a lease, or why it is refused: state-machines §7. `lease.transitions.ts` says the same as
 * a table. To revoke what has ended is done already: no event and no refusal, however often it is asked for.
 */
export function decideLease(state: LeaseState | null, command: LeaseCommand): DecidedLease {
  if (command.kind === 'issue') return issue(state, command.issue);
  if (command.kind === 'refuse') {
    if (state !== null) return refuse('duplicate_id', 'A lease with this id exists.');
    return decided({ type: 'lease.refused', payload: command.refusal });
  }
  if (state === null) return refuse('lease_not_found', 'There is no such lease.');
  switch (command.kind) {
    case 'use':
      return use(state, command.use);
    case 'release':
      return whileLive(state, { type: 'lease.released', payload: command.release });
    case 'expire':
      return expire(state, command.now);
    case 'revoke':
      return isLiveLease(state) ? decided({ type: 'lease.revoked', payload: command.revocation }) : alreadyEnded(state);
    case 'record_upstream_end':
      return whileUpstreamLives(state, { type: 'lease.upstream_revoked', payload: command.end });
    case 'record_revoke_failure':
      return recordFailure(state, command);
  }
}

/** L1. */
function issue(state: LeaseState | null, grant: EventPayload<'lease.issued'>): DecidedLease {
  if (state !== null) return refuse('duplicate_id', 'A lease with this id exists.');
  mustHold(grant.credentialScope.length > 0, 'a lease has a scope');
  mustHold(grant.maxUses >= 1, 'a lease can be used');
  mustHold(isBefore(grant.issuedAt, grant.expiresAt), 'a lease lasts some time');
  mustHold(!isBefore(grant.renewableUntil, grant.expiresAt), 'a lease does not outlive what renewals may reach');
  return decided({ type: 'lease.issued', payload: grant });
}

/** L3, L4: in time, for this attempt and environment, and not more often than granted. */
function use(state: LeaseState, { now, usedBy, attempt, executionEnvironmentId }: LeaseUse): DecidedLease {
  if (!isLiveLease(state)) return endedLease(state);
  if (!isBefore(now, state.expiresAt)) return refuse('lease_expired', 'The time of the lease is over.');
  if (attempt !== undefined && attempt !== state.attempt) {
    return refuse('lease_call_mismatch', 'The lease is for another attempt.');
  }
  if (executionEnvironmentId !== undefined && executionEnvironmentId !== state.executionEnvironmentId) {
    return refuse('lease_environment_mismatch', 'The lease is for another environment.');
  }
  if (state.uses >= state.maxUses) return refuse('lease_exhausted', 'The lease has been used as often as it may be.');
  return state.uses === 0
    ? decided({ type: 'lease.activated', payload: { usedAt: now, usedBy } })
    : decided({ type: 'lease.used', payload: { use: state.uses + 1, usedAt: now, usedBy } });
}

/** L6. */
function expire(state: LeaseState, now: string): DecidedLease {
  if (!isLiveLease(state)) return endedLease(state);
  if (isBefore(now, state.expiresAt)) return refuse('version_stale', 'The time of the lease is not over.');
  return decided({ type: 'lease.expired', payload: { expiresAt: state.expiresAt, noticedAt: now } });
}

function recordFailure(
  state: LeaseState,
  { error, now, nextAt, triesMax }: Extract<LeaseCommand, { readonly kind: 'record_revoke_failure' }>,
): DecidedLease {
  if (state.status !== 'revoking' && state.status !== 'revoke_failed' && state.status !== 'irrevocable') {
    return notAlive(state);
  }
  const n = 'tries' in state ? state.tries + 1 : 1;
  return n >= triesMax || state.status === 'irrevocable'
    ? decided({ type: 'lease.irrevocable', payload: { tries: n, error, at: now } })
    : decided({ type: 'lease.revoke_failed', payload: { n, error, at: now, nextAt } });
}

const whileLive = (state: LeaseState, event: LeaseEvent): DecidedLease =>
  isLiveLease(state) ? decided(event) : endedLease(state);

function alreadyEnded(state: LeaseState): DecidedLease {
  return state.status === 'refused' ? endedLease(state) : decided();
}

function whileUpstreamLives(state: LeaseState, event: LeaseEvent): DecidedLease {
  return state.status === 'revoking' || state.status === 'revoke_failed' || state.status === 'irrevocable'
    ? decided(event)
    : notAlive(state);
}

const notAlive = (state: LeaseState): DecidedLease =>
  isLiveLease(state) ? refuse('lease_not_ended', 'The lease is live.') : endedLease(state);
