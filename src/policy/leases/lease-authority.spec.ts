import { describe, expect, it } from '@jest/globals';
import { INJECT, LendingInstallation, TOKEN } from '../../../test/builders/lending-installation.js';
import { Installation, refundCapability, TENANT } from '../../../test/builders/installation.js';
import { COMPLETED } from '../../../test/builders/outcome-installation.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { GuardFailed } from '../../storage/unit.js';

const complete = (iso: string): ToolCallCommand => ({
  kind: 'complete',
  completion: COMPLETED,
  sentAt: null,
  acceptedAt: iso,
});
const fail = (iso: string): ToolCallCommand => ({
  kind: 'fail',
  acceptedAt: iso,
  failure: { code: 'rejected', effect: 'none', basis: 'rejected', retryable: true },
});
const unknown: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout', lastError: 'timeout' } };
const handOff: ToolCallCommand = {
  kind: 'hand_off',
  handoff: { reason: 'no_query_possible', evidenceRefs: [] },
  opened: { handoffId: 'hnd_1', packet: {} },
};
const LIMITS = ['activePerAgentMax', 'activePerCapabilityMax', 'activePerTenantMax'] as const;

describe('a call whose capability has a lease', () => {
  it('is dispatched under one that the same unit has burnt: one act, one lease [L1, L3, E6]', async () => {
    const here = new LendingInstallation();
    const id = await here.propose();
    expect(here.store.lastTypes.slice(-2)).toEqual(['lease.issued', 'tool.call.dispatching']);
    const lease = here.leaseOf(id);
    expect(lease).toMatchObject({ status: 'active', uses: 1, max_uses: 1, kind: 'act', attempt: 1, owner_epoch: 2 });
    expect((await here.call(id)).row.lease_id).toBe(lease.lease_id);
    expect(lease.expires_at <= ((await here.call(id)).row.execute_by ?? lease.expires_at)).toBe(true);
  });

  it('is lent nothing where its manifest says nothing', async () => {
    const plain = new Installation({ capabilities: [refundCapability()] });
    await plain.propose();
    expect(plain.store.rows('leases')).toEqual([]);
    expect(plain.store.rows('counters')).toEqual([]);
  });

  it.each([
    ['completes', [complete]],
    ['fails', [fail]],
    ['is handed to people', [() => unknown, () => handOff]],
  ])('gives it back in the unit in which it %s [L5, E9]', async (_, steps) => {
    const here = new LendingInstallation();
    const id = await here.propose();
    for (const step of steps) await here.record(id, step(here.clock.iso));
    expect(here.store.lastTypes).toContain('lease.released');
    expect(here.leaseOf(id)).toMatchObject({ status: 'released', status_reason: 'call_ended' });
    expect(here.store.rows('counters').map(({ value }) => value)).toEqual([0, 0, 0]);
  });

  it('gets a lease of its own for each attempt', async () => {
    const here = new LendingInstallation();
    const id = await here.propose();
    await here.record(id, fail(here.clock.iso), {
      kind: 'accept_retry',
      retry: { attempt: 2, previousStatus: 'failed' },
    });
    expect((await here.call(id)).row.lease_id).toBeNull();
    expect((await here.call(id)).lease).toBeUndefined();
  });

  it('and that lends by approval is sent under a lease that ends no later than the consent [V10, AP6]', async () => {
    const here = new LendingInstallation({ ...INJECT, timeout: '30s' });
    const id = await here.authorized({ executeBefore: '2031-01-01T10:00:05.000Z' });
    expect(await here.dispatcher.dispatch(TENANT, id)).toBe('dispatching');
    expect(here.leaseOf(id).expires_at).toBe('2031-01-01T10:00:05.000Z');
  });
});

describe('a lease that may not be lent', () => {
  it('is refused on record, and the call is not sent [L2, V10, E4]', async () => {
    const here = new LendingInstallation();
    here.policy.answer = { lease: { ttlMs: null, ttlMsMax: null, usesMax: null, scopes: ['refund:delete'] } };
    const id = await here.propose();
    expect((await here.call(id)).state.status).toBe('authorized');
    expect(await here.dispatcher.dispatch(TENANT, id)).toBe('closed');
    expect(here.store.lastTypes).toEqual(['policy.decided', 'lease.refused', 'tool.call.not_executed']);
    expect((await here.call(id)).state).toMatchObject({ status: 'not_executed', reason: 'lease_refused' });
    expect(here.all).toEqual([
      expect.objectContaining({ status: 'refused', status_reason: 'lease_scope_exceeded', uses: 0 }),
    ]);
    expect(here.store.rows('attempts')).toEqual([]);
  });
});

describe('as many live leases as may be', () => {
  it.each(LIMITS)('hold the next call (%s) until one has ended, and never more are live', async (limit) => {
    const here = new LendingInstallation(INJECT, { [limit]: 2 });
    const ids: string[] = [];
    for (let n = 1; n <= 4; n += 1) ids.push(await here.propose({ arguments: { orderId: `o-${n}`, amountMinor: n } }));
    const statuses = async () => Promise.all(ids.map(async (id) => (await here.call(id)).state.status));
    expect(await statuses()).toEqual(['dispatching', 'dispatching', 'authorized', 'authorized']);
    const third = ids[2] as string;
    expect(await here.dispatcher.dispatch(TENANT, third)).toBe('held');
    await here.record(ids[0] as string, complete(here.clock.iso));
    expect(await here.dispatcher.dispatch(TENANT, third)).toBe('dispatching');
    expect(here.all.filter(({ status }) => status === 'active')).toHaveLength(2);
  });

  it('never hold up a look-up, by which alone somebody finds out', async () => {
    const here = new LendingInstallation(INJECT, { activePerTenantMax: 1 });
    const id = await here.propose();
    await here.record(id, unknown);
    const seen: (string | undefined)[] = [];
    const [capability] = here.capabilities;
    if (capability === undefined) throw new Error('there is one capability');
    await here.leases.probes.around(await here.call(id), capability, async (lease) => {
      seen.push(lease?.state.kind, lease?.state.scopes.join());
      expect(here.all.find(({ kind }) => kind === 'probe')).toMatchObject({ status: 'active' });
    });
    expect(seen).toEqual(['probe', 'query']);
    const probe = here.all.find(({ kind }) => kind === 'probe');
    expect(probe).toMatchObject({ status: 'released', scopes: '["query"]', status_reason: 'look_up_ended' });
    expect(JSON.parse(probe?.data_access_policy ?? '')).toMatchObject({ access: 'read' });
  });
});

describe('the end of a call', () => {
  it('is recorded although its lease ended meanwhile', async () => {
    const here = new LendingInstallation(TOKEN);
    const id = await here.propose();
    const stale = await here.call(id);
    here.store.beforeCommit = (unit) => {
      here.store.beforeCommit = () => {};
      if (!unit.appends.some(({ stream }) => stream.kind === 'lease'))
        throw new Error('the release is part of the unit');
      const row = here.leaseOf(id);
      here.store.seed('leases', {
        ...row,
        status: 'expired',
        status_reason: 'time',
        ended_at: here.clock.iso,
        version: 2,
      });
      throw new GuardFailed('lease');
    };
    await here.recorder.settle(stale, complete(here.clock.iso));
    expect((await here.call(id)).state.status).toBe('completed');
    expect(here.leaseOf(id).status).toBe('expired');
  });
});
