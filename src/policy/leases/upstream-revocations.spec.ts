import { describe, expect, it } from '@jest/globals';
import { INJECT, LendingInstallation } from '../../../test/builders/lending-installation.js';
import { Readiness } from '../../system/readiness.js';
import { LeaseInUnit, loadedLease } from '../../storage/units/lease-in-unit.js';
import type { UpstreamCredential } from '../../domain/lease/lease.state.js';
import { LeaseSweep } from './lease-sweep.js';
import { UpstreamRevocations, UpstreamRevoker } from './upstream-revocations.js';

/** Refuses so many times, then answers. */
class FakeVault extends UpstreamRevoker {
  readonly asked: UpstreamCredential[] = [];
  constructor(
    private failures: number,
    private readonly says: 'revoked' | 'gone' = 'revoked',
  ) {
    super();
  }

  override async revoke(credential: UpstreamCredential): Promise<'revoked' | 'gone'> {
    this.asked.push(credential);
    this.failures -= 1;
    if (this.failures >= 0) throw new TypeError('the vault is sealed');
    return this.says;
  }
}

async function bench(vault: FakeVault, upstreamExpiresAt: string | null = null) {
  const here = new LendingInstallation(INJECT, { revokeTriesMax: 6, revokeBackoffMs: 1000 });
  const id = await here.propose();
  here.store.seed('leases', {
    ...here.leaseOf(id),
    upstream_provider: 'vault',
    upstream_reference: 'accessor-1',
    upstream_expires_at: upstreamExpiresAt,
  });
  const readiness = new Readiness();
  const revocations = new UpstreamRevocations(here.desk, vault, here.settings, here.log, readiness);
  const draft = here.desk.beginAbout(here.leaseOf(id), { lane: 'govern', causeKind: 'external' });
  new LeaseInUnit(draft, loadedLease(here.leaseOf(id))).do({
    kind: 'revoke',
    revocation: { reason: 'operator', at: here.clock.iso },
  });
  await here.desk.commit(draft);
  return { here, id, vault, revocations, readiness };
}

describe('a credential that a provider made for a lease', () => {
  it('is ended there as well, and a provider that knows it no more is no failure [Q09]', async () => {
    for (const says of ['revoked', 'gone'] as const) {
      const { here, id, vault, revocations } = await bench(new FakeVault(0, says));
      expect(here.leaseOf(id)).toMatchObject({ status: 'revoking', ended_as: 'revoked' });
      expect(await revocations.tick()).toBe(0);
      expect(await revocations.tick()).toBe(0);
      expect(here.leaseOf(id)).toMatchObject({ status: 'revoked', ended_as: null, status_reason: 'operator' });
      expect(vault.asked).toEqual([{ provider: 'vault', reference: 'accessor-1', expiresAt: null }]);
    }
  });

  it('that cannot be ended six times is irrevocable, with an alarm, and its row stays [X24]', async () => {
    const { here, id, vault, revocations, readiness } = await bench(new FakeVault(6));
    const seen: string[] = [];
    for (let tries = 0; tries < 8; tries += 1) {
      await revocations.tick();
      seen.push(`${here.leaseOf(id).status} ${here.leaseOf(id).revoke_tries}`);
      await revocations.tick(); // not before its time
      here.clock.advance(60_000);
    }
    expect(seen.slice(0, 6)).toEqual([1, 2, 3, 4, 5].map((n) => `revoke_failed ${n}`).concat('irrevocable 6'));
    expect(vault.asked).toHaveLength(6);
    expect(readiness.reasons()).toEqual([expect.objectContaining({ name: 'irrevocable_leases', weight: 'degraded' })]);
    expect(here.typesOf(here.leaseOf(id).lease_id).slice(-2)).toEqual(['lease.revoke_failed', 'lease.irrevocable']);
    expect(here.log.lines).toContainEqual(
      expect.objectContaining({ message: 'a credential could not be ended at its provider' }),
    );
    // An operator who asks again gets one more try, and the alarm ends with it.
    expect(await revocations.look(here.leaseOf(id), true)).toBe('revoked');
    await revocations.tick();
    expect(readiness.reasons()).toEqual([]);
  });

  it('outlives our own expiry, which is recorded beside its own; at its own it has ended [X23]', async () => {
    const here = new LendingInstallation(INJECT);
    const id = await here.propose();
    const upstreamExpiresAt = '2031-01-01T11:00:00.000Z';
    const columns = { upstream_provider: 'vault', upstream_reference: 'a', upstream_expires_at: upstreamExpiresAt };
    here.store.seed('leases', { ...here.leaseOf(id), ...columns });
    here.clock.advance(300_000);
    await new LeaseSweep(here.desk, here.gate, here.log).tick();
    expect(here.leaseOf(id)).toMatchObject({
      status: 'revoking',
      ended_as: 'expired',
      upstream_expires_at: upstreamExpiresAt,
    });
    const vault = new FakeVault(1000);
    const revocations = new UpstreamRevocations(here.desk, vault, here.settings, here.log, new Readiness());
    await revocations.tick();
    here.clock.advance(3_600_000);
    await revocations.tick();
    expect(here.leaseOf(id)).toMatchObject({ status: 'expired', ended_as: null });
    expect(vault.asked).toHaveLength(1);
    expect(here.typesOf(here.leaseOf(id).lease_id).at(-1)).toBe('lease.upstream_revoked');
  });
});
