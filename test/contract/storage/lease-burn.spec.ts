import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TENANT } from '../../builders/installation.js';
import { TOKEN } from '../../builders/lending-installation.js';
import { Parts } from './dispatch-crowd.js';
import { openSqlite, type OpenedStore } from './opened-store.js';
import { tally } from './outcomes.js';

const PARALLEL = 50;

let opened: OpenedStore;
beforeEach(async () => {
  opened = await openSqlite();
});
afterEach(() => opened.discard());

async function presented(maxUses: number) {
  const parts = await Parts.over(opened.store, { ...TOKEN, lease: { ...TOKEN.lease, maxUses } });
  const id = await parts.dispatched();
  const { lease } = await parts.call(id);
  if (lease === undefined) throw new Error('the call was dispatched under a lease');
  const { tokens, uses } = parts.leases;
  const token = await tokens.tokenOf(lease);
  const answers = await Promise.all(
    Array.from({ length: PARALLEL }, () => uses.present({ token, tenant: TENANT, usedBy: 'tool' }, true)),
  );
  return {
    leaseId: lease.facts.lease_id,
    outcomes: tally(answers.map((answer) => (answer.ok ? 'used' : answer.code))),
  };
}

describe(`${PARALLEL} uses of one lease at the same moment, on the real store`, () => {
  it('are one use where one was granted [L3, P-07]', async () => {
    const { leaseId, outcomes } = await presented(1);
    expect(outcomes).toEqual({ used: 1, lease_exhausted: PARALLEL - 1 });
    const events = await opened.store.read.streamEvents(TENANT, { kind: 'lease', id: leaseId });
    expect(events.map(({ envelope }) => envelope.eventType)).toEqual(['lease.issued', 'lease.activated']);
    expect(await opened.store.read.lease(TENANT, leaseId)).toMatchObject({ status: 'active', uses: 1 });
  });

  it('are as many as were granted, each with its number [L4]', async () => {
    const { leaseId, outcomes } = await presented(7);
    expect(outcomes).toEqual({ used: 7, lease_exhausted: PARALLEL - 7 });
    expect(await opened.store.read.lease(TENANT, leaseId)).toMatchObject({ uses: 7, version: 8 });
  });
});
