import { describe, expect, it } from '@jest/globals';
import { LimitingPolicy, spent } from '../../../test/builders/budgets.js';
import { Installation } from '../../../test/builders/installation.js';
import { EndedWindows } from './ended-windows.js';

const DAY_MS = 86_400_000;

async function after(ms: number, prepare: (installation: Installation) => Promise<unknown>): Promise<Installation> {
  const installation = new Installation({ policy: new LimitingPolicy() });
  await prepare(installation);
  installation.clock.advance(ms);
  await new EndedWindows(installation.desk, installation.log).tick();
  return installation;
}

const denied = async (installation: Installation): Promise<void> => {
  installation.policy.ask();
  const id = await installation.propose();
  await installation.record(id, { kind: 'close', closing: { reason: 'cancelled' } });
};

describe('the counter of a window that has ended', () => {
  it('is let go once no call may give back to it', async () => {
    expect(spent(await after(DAY_MS, denied))).toEqual([]);
  });

  it('stays while a call may still give back, however long that takes', async () => {
    const installation = await after(40 * DAY_MS, (i) => i.authorized());
    expect(spent(installation)).toEqual([500]);
    const [row] = installation.store.rows('tool_calls');
    await installation.record(row?.tool_call_id ?? '', { kind: 'close', closing: { reason: 'authorization_expired' } });
    expect(spent(installation)).toEqual([0]);
    await new EndedWindows(installation.desk, installation.log).tick();
    expect(spent(installation)).toEqual([]);
  });

  it('stays for a while after its end, for what is still on its way to the disk', async () => {
    expect(spent(await after(14 * 3_600_000 + 3_599_000, denied))).toEqual([0]);
    expect(spent(await after(15 * 3_600_000 + 1_000, denied))).toEqual([]);
  });

  it('is no other counter', async () => {
    const installation = await after(DAY_MS, async ({ store }) =>
      store.seed('counters', { tenant: 'acme', counter_key: 'late/unmatched', value: 3 }),
    );
    expect(installation.store.rows('counters')).toMatchObject([{ counter_key: 'late/unmatched', value: 3 }]);
  });

  it('is looked for now and then, not with every pass', async () => {
    const installation = new Installation({ policy: new LimitingPolicy() });
    const sweep = new EndedWindows(installation.desk, installation.log);
    await sweep.tick();
    await denied(installation);
    installation.clock.advance(DAY_MS);
    const units = installation.store.units.length;
    await sweep.tick();
    await sweep.tick();
    expect(installation.store.units.length - units).toBe(1);
  });
});
