import { describe, expect, it } from '@jest/globals';
import { INJECT, LendingInstallation, TOKEN } from '../../../test/builders/lending-installation.js';
import { LeaseRevocation } from './lease-revocation.js';
import { LeaseSweep } from './lease-sweep.js';

const sweepOf = ({ desk, gate, log }: LendingInstallation): LeaseSweep => new LeaseSweep(desk, gate, log);

/** The lease of the call belongs to a process that is gone. */
function orphan(here: LendingInstallation, id: string): void {
  here.store.seed('leases', { ...here.leaseOf(id), owner_epoch: 1 });
}

describe('a lease whose time is over', () => {
  it('expires as an event, without anybody looking at it [L6, X25]', async () => {
    const here = new LendingInstallation();
    const id = await here.propose();
    here.clock.advance(29_000);
    expect(await sweepOf(here).tick()).toBe(0);
    expect(here.leaseOf(id).status).toBe('active');
    here.clock.advance(1_000);
    expect(await sweepOf(here).tick()).toBe(0);
    expect(here.leaseOf(id)).toMatchObject({ status: 'expired', ended_at: here.clock.iso });
    expect(here.store.rows('counters').map(({ value }) => value)).toEqual([0, 0, 0]);
    expect(here.store.events.at(-1)?.envelope).toMatchObject({ eventType: 'lease.expired', causeKind: 'timer' });
  });
});

describe('at boot', () => {
  it('what belonged to a dead process is revoked, before anybody is served [L9, P-48, X24]', async () => {
    const here = new LendingInstallation(TOKEN);
    const id = await here.propose();
    const token = await here.tokenOf(id);
    orphan(here, id);
    await sweepOf(here).atBoot();
    expect(here.leaseOf(id)).toMatchObject({ status: 'revoked', status_reason: 'restart' });
    expect(await here.present(token)).toMatchObject({ ok: false, code: 'lease_revoked' });
  });

  it('the lease of an accepted call that is still watched goes on, and one of this process does', async () => {
    const here = new LendingInstallation(TOKEN);
    const [watched, own] = [
      await here.propose(),
      await here.propose({ arguments: { orderId: 'o-2', amountMinor: 2 } }),
    ];
    await here.record(watched, {
      kind: 'record_acceptance',
      acceptance: { acceptedAt: here.clock.iso, basis: 'ack', externalRequestId: 're_1' },
      sentAt: here.clock.iso,
    });
    orphan(here, watched);
    await sweepOf(here).atBoot();
    expect([here.leaseOf(watched).status, here.leaseOf(own).status]).toEqual(['issued', 'issued']);
  });

  it('what is overdue has expired, not been revoked', async () => {
    const here = new LendingInstallation(INJECT);
    const id = await here.propose();
    orphan(here, id);
    here.clock.advance(600_000);
    await sweepOf(here).atBoot();
    expect(here.leaseOf(id).status).toBe('expired');
  });
});

describe('leases chosen by what they are for', () => {
  it.each([
    ['agent', 'agent-7', 2],
    ['agent', 'agent-8', 0],
    ['capability', 'refund.create', 2],
    ['policyRevision', 'sha256:policy-1', 2],
    ['policyRevision', 'sha256:policy-0', 0],
    ['epoch', '2', 2],
    ['epoch', '1', 0],
  ] as const)('by %s %s are %i', async (by, value, count) => {
    const here = new LendingInstallation(TOKEN);
    await here.propose();
    await here.propose({ arguments: { orderId: 'o-2', amountMinor: 2 } });
    const revocation = new LeaseRevocation(here.desk);
    expect(await revocation.select('umbrella', { by, value })).toEqual([]);
    const chosen = await revocation.select('acme', { by, value });
    expect(await revocation.each(chosen, { by, value })).toBe(count);
    expect(here.all.filter(({ status }) => status === 'revoked')).toHaveLength(count);
  });

  it('by key are those it signed; by run those of the run; two of one secret are apart [Q12]', async () => {
    const here = new LendingInstallation(TOKEN);
    const [first, second] = [
      await here.propose(),
      await here.propose({ arguments: { orderId: 'o-2', amountMinor: 2 }, runLabel: 'other' }),
    ];
    const revocation = new LeaseRevocation(here.desk);
    expect(await revocation.select('acme', { by: 'kid', value: here.leases.keys.currentKid })).toHaveLength(2);
    const chosen = await revocation.select('acme', { by: 'run', value: here.leaseOf(first).run_id });
    expect(await revocation.each(chosen, { by: 'run', value: here.leaseOf(first).run_id })).toBe(1);
    expect(await here.present(await here.tokenOf(second))).toMatchObject({ ok: true });
  });
});
