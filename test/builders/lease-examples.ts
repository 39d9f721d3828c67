import type { DomainEvent, EventPayload } from '../../src/domain/events/catalogue.js';
import type { LeaseCommand, LeaseCommandKind } from '../../src/domain/lease/lease.commands.js';
import { foldLease } from '../../src/domain/lease/lease.evolve.js';
import type { LeaseState, LeaseStatus } from '../../src/domain/lease/lease.state.js';
import type { LEASE_ANSWERS } from '../../src/domain/lease/lease.transitions.js';
import { rowsOf, type Trial, type TrialRow } from './machine-table.js';

/** A lease for one refund, from 10:00 to 10:01, that may be renewed until 10:05. */

export const at = (time: string): string => `2031-01-01T${time}.000Z`;

export const UPSTREAM = { provider: 'vault', reference: 'accessor-1', expiresAt: at('11:00:00') };

export const grant = (more: Partial<EventPayload<'lease.issued'>> = {}): EventPayload<'lease.issued'> => ({
  kind: 'act',
  mode: 'token',
  attempt: 1,
  principal: { sub: 'alice', act: 'agent-7' },
  capability: 'refund.create',
  capabilityVersion: '1.0.0',
  argsDigest: 'sha256:args',
  executionEnvironmentId: 'prod-payments',
  sandboxTrustLevel: 'high',
  credentialScope: ['refund:create', 'refund:read'],
  networkPolicy: { allowHosts: ['payments.example'] },
  dataAccessPolicy: { access: 'write', resources: [] },
  audience: 'https://payments.example',
  maxUses: 2,
  issuedAt: at('10:00:00'),
  expiresAt: at('10:01:00'),
  renewableUntil: at('10:05:00'),
  policyRevision: 'sha256:policy',
  ownerEpoch: 2,
  kid: 'a'.repeat(24),
  ...more,
});

const events: Readonly<Record<string, DomainEvent>> = {
  activated: { type: 'lease.activated', payload: { usedAt: at('10:00:10'), usedBy: 'tool' } },
  released: { type: 'lease.released', payload: { reason: 'call_ended', at: at('10:00:30') } },
  expired: { type: 'lease.expired', payload: { expiresAt: at('10:01:00'), noticedAt: at('10:01:02') } },
  revoked: { type: 'lease.revoked', payload: { reason: 'operator', at: at('10:00:30') } },
  failed: {
    type: 'lease.revoke_failed',
    payload: { n: 1, error: 'Error', at: at('10:00:31'), nextAt: at('10:00:33') },
  },
  irrevocable: { type: 'lease.irrevocable', payload: { tries: 6, error: 'Error', at: at('10:02:00') } },
};

const HISTORY: Readonly<Record<LeaseStatus, readonly string[]>> = {
  issued: [],
  active: ['activated'],
  released: ['activated', 'released'],
  expired: ['expired'],
  revoked: ['revoked'],
  refused: [],
  revoking: ['revoked'],
  revoke_failed: ['revoked', 'failed'],
  irrevocable: ['revoked', 'failed', 'irrevocable'],
};

/** The events of a lease in this status; one that a provider made a credential for where the status needs that, or it is asked for. */
export function historyOf(status: LeaseStatus, withUpstream = false): readonly DomainEvent[] {
  if (status === 'refused') return [{ type: 'lease.refused', payload: { ...grant(), code: 'lease_scope_exceeded' } }];
  const needsUpstream = ['revoking', 'revoke_failed', 'irrevocable'].includes(status) || withUpstream;
  const issued: DomainEvent = { type: 'lease.issued', payload: grant(needsUpstream ? { upstream: UPSTREAM } : {}) };
  return [issued, ...(HISTORY[status].map((name) => events[name]) as DomainEvent[])];
}

export function leaseIn(status: LeaseStatus, withUpstream = false): LeaseState {
  const state = foldLease(null, historyOf(status, withUpstream));
  if (state === null) throw new Error('a history makes a state');
  return state;
}

const use = (more: object = {}): Trial<LeaseState, LeaseCommand> => ({
  command: () => ({ kind: 'use', use: { now: at('10:00:20'), usedBy: 'tool', ...more } }),
});

const failure = (triesMax: number): Trial<LeaseState, LeaseCommand> => ({
  command: () => ({
    kind: 'record_revoke_failure',
    error: 'Error',
    now: at('10:00:40'),
    nextAt: at('10:00:44'),
    triesMax,
  }),
});

const TRIALS: {
  readonly [K in LeaseCommandKind]: Readonly<Record<keyof (typeof LEASE_ANSWERS)[K], Trial<LeaseState, LeaseCommand>>>;
} = {
  issue: { any: { command: () => ({ kind: 'issue', issue: grant() }) } },
  refuse: { any: { command: () => ({ kind: 'refuse', refusal: { ...grant(), code: 'lease_scope_exceeded' } }) } },
  use: {
    in_time: use(),
    too_late: use({ now: at('10:01:00') }),
    for_another_attempt: use({ attempt: 2 }),
    in_another_environment: use({ executionEnvironmentId: 'elsewhere' }),
    once_more_than_granted: { ...use(), given: (state) => ({ ...state, uses: state.maxUses }) },
  },
  release: { any: { command: () => ({ kind: 'release', release: { reason: 'call_ended', at: at('10:00:30') } }) } },
  expire: {
    at_its_time: { command: () => ({ kind: 'expire', now: at('10:01:00') }) },
    too_early: { command: () => ({ kind: 'expire', now: at('10:00:59') }) },
  },
  revoke: { any: { command: () => ({ kind: 'revoke', revocation: { reason: 'operator', at: at('10:00:30') } }) } },
  record_upstream_end: {
    any: { command: () => ({ kind: 'record_upstream_end', end: { basis: 'provider', at: at('10:00:50') } }) },
  },
  record_revoke_failure: { to_be_tried_again: failure(100), for_the_last_time: failure(1) },
};

export const LEASE_ROWS: readonly TrialRow<LeaseState, LeaseCommand>[] = rowsOf(TRIALS);
