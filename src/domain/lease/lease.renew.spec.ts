import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { at, grant, leaseIn } from '../../../test/builders/lease-examples.js';
import { foldLease } from './lease.evolve.js';
import { renewalOf, type RenewalWish } from './lease.renew.js';
import { LEASE_STATUSES, type LeaseState } from './lease.state.js';

const AS_BEFORE: RenewalWish = { scopes: null, ttlMs: null };
const WHEN = { now: at('10:00:40'), ownerEpoch: 3, kid: 'b'.repeat(24) };

const codeOf = (state: LeaseState, wish: RenewalWish = AS_BEFORE, now = WHEN.now): string => {
  const renewal = renewalOf(state, 'lse_1', wish, { ...WHEN, now });
  return renewal.ok ? 'ok' : renewal.code;
};

describe('a renewal', () => {
  it('takes the place of a live lease, with what is left of its uses', () => {
    const renewal = renewalOf(leaseIn('active'), 'lse_1', AS_BEFORE, WHEN);
    expect(renewal).toMatchObject({
      ok: true,
      issue: {
        renewsLeaseId: 'lse_1',
        issuedAt: at('10:00:40'),
        expiresAt: at('10:01:40'),
        maxUses: 1,
        ownerEpoch: 3,
        kid: WHEN.kid,
      },
    });
  });

  it('is never wider in scope and never longer [P-49]', () => {
    expect(codeOf(leaseIn('issued'), { scopes: ['refund:create', 'refund:delete'], ttlMs: null })).toBe(
      'lease_scope_exceeded',
    );
    expect(codeOf(leaseIn('issued'), { scopes: [], ttlMs: null })).toBe('lease_scope_exceeded');
    expect(codeOf(leaseIn('issued'), { scopes: null, ttlMs: 60_001 })).toBe('lease_scope_exceeded');
    expect(codeOf(leaseIn('issued'), { scopes: ['refund:read'], ttlMs: 30_000 })).toBe('ok');
  });

  it('says of a lease that is gone what became of it [Q09]', () => {
    const gone = LEASE_STATUSES.filter((status) => status !== 'issued' && status !== 'active');
    expect(gone.map((status) => codeOf(leaseIn(status)))).toEqual([
      'lease_released',
      'lease_expired',
      'lease_revoked',
      'lease_refused',
      'lease_revoked',
      'lease_revoked',
      'lease_revoked',
    ]);
    expect(codeOf(leaseIn('issued'), AS_BEFORE, at('10:01:00'))).toBe('lease_expired');
  });

  it('ends where renewals end, and is not made of a look-up or of uses that are spent', () => {
    const of = (more: object): LeaseState =>
      foldLease(null, [{ type: 'lease.issued', payload: grant(more) }]) as LeaseState;
    expect(codeOf(of({ renewableUntil: at('10:01:00') }))).toBe('lease_renewal_refused');
    expect(codeOf(of({ kind: 'probe' }))).toBe('lease_renewal_refused');
    expect(codeOf(of({ maxUses: 1, usedAt: at('10:00:01') }))).toBe('lease_exhausted');
  });

  it('of renewals of renewals reaches no further than the first lease allowed', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 59 }), { maxLength: 12 }), (pauses) => {
        const first = leaseIn('issued');
        let [state, nowMs] = [first, Date.parse(at('10:00:00'))];
        for (const seconds of pauses) {
          nowMs += seconds * 1000;
          const renewal = renewalOf(state, 'lse_1', AS_BEFORE, { ...WHEN, now: new Date(nowMs).toISOString() });
          if (!renewal.ok) break;
          state = foldLease(null, [{ type: 'lease.issued', payload: renewal.issue }]) as LeaseState;
          expect(state.expiresAt <= first.renewableUntil).toBe(true);
          expect(state.scopes).toEqual(first.scopes);
        }
      }),
    );
  });
});
