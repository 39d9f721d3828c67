import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { planLease, type LeaseCircumstances } from './lease-plan.js';
import { joinLeaseTerms, type LeaseTerms } from './lease-terms.js';

const NOW = Date.parse('2031-01-01T10:00:00.000Z');
const offer = (more: Partial<LeaseCircumstances> = {}): LeaseCircumstances => ({
  scopes: ['refund:create', 'refund:read'],
  ttlMs: 120_000,
  ttlMsMax: 300_000,
  maxUses: 3,
  renewableForMs: null,
  nowMs: NOW,
  executeByMs: NOW + 900_000,
  neededUntilMs: null,
  ...more,
});
const terms = (more: Partial<LeaseTerms> = {}): LeaseTerms => ({
  ttlMs: null,
  ttlMsMax: null,
  usesMax: null,
  scopes: null,
  ...more,
});

const planOf = (circumstances: LeaseCircumstances, said: LeaseTerms | null = null) => {
  const planned = planLease(circumstances, said);
  return planned.ok ? planned.plan : planned.code;
};

describe('what may be lent', () => {
  it('is what the manifest offers, where the policy says nothing', () => {
    expect(planOf(offer())).toEqual({
      scopes: ['refund:create', 'refund:read'],
      maxUses: 3,
      expiresAtMs: NOW + 120_000,
      renewableUntilMs: NOW + 120_000,
    });
    expect(planOf(offer({ renewableForMs: 600_000 }))).toMatchObject({ renewableUntilMs: NOW + 600_000 });
  });

  it('is less where the policy says less: scope, uses, time [K-36]', () => {
    const said = terms({ ttlMs: 60_000, usesMax: 1, scopes: ['refund:create'] });
    expect(planOf(offer(), said)).toMatchObject({ scopes: ['refund:create'], maxUses: 1, expiresAtMs: NOW + 60_000 });
    expect(planOf(offer(), terms({ ttlMsMax: 90_000 }))).toMatchObject({ expiresAtMs: NOW + 90_000 });
    expect(planOf(offer(), terms({ ttlMs: 300_000, usesMax: 9 }))).toMatchObject({
      maxUses: 3,
      expiresAtMs: NOW + 120_000,
    });
  });

  it('is nothing where the policy names a scope that the manifest does not have, or none at all [V10, L2]', () => {
    expect(planOf(offer(), terms({ scopes: ['refund:create', 'refund:delete'] }))).toBe('lease_scope_exceeded');
    expect(planOf(offer(), terms({ scopes: [] }))).toBe('lease_scope_exceeded');
  });

  it('ends no later than the call may be sent and than anybody needs it', () => {
    expect(planOf(offer({ executeByMs: NOW + 5_000 }))).toMatchObject({ expiresAtMs: NOW + 5_000 });
    expect(planOf(offer({ neededUntilMs: NOW + 30_000 }))).toMatchObject({ expiresAtMs: NOW + 30_000 });
    expect(planOf(offer({ executeByMs: NOW }))).toBe('lease_expired');
  });
});

const said: fc.Arbitrary<LeaseTerms> = fc.record({
  ttlMs: fc.option(fc.integer({ min: 60_000, max: 300_000 })),
  ttlMsMax: fc.option(fc.integer({ min: 60_000, max: 300_000 })),
  usesMax: fc.option(fc.integer({ min: 1, max: 10 })),
  scopes: fc.option(fc.subarray(['refund:create', 'refund:read', 'refund:delete'], { minLength: 1 })),
});

describe('several permits together', () => {
  it('lend no more than each of them alone, in any order', () => {
    fc.assert(
      fc.property(fc.array(said, { minLength: 1, maxLength: 4 }), (permits) => {
        const planned = planLease(offer(), joinLeaseTerms(permits));
        expect(planLease(offer(), joinLeaseTerms(permits.toReversed())).ok).toBe(planned.ok);
        if (!planned.ok) return;
        for (const permit of permits) {
          for (const scope of planned.plan.scopes) expect(permit.scopes?.includes(scope) ?? true).toBe(true);
          expect(planned.plan.maxUses).toBeLessThanOrEqual(permit.usesMax ?? Infinity);
          expect(planned.plan.expiresAtMs - NOW).toBeLessThanOrEqual(
            Math.min(permit.ttlMs ?? Infinity, permit.ttlMsMax ?? Infinity),
          );
        }
      }),
    );
  });
});
