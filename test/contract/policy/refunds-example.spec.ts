import { readFile, readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { loadPolicies } from '../../../src/policy/engine/load-policies.js';
import { PolicyThread } from '../../../src/policy/engine/policy-thread.js';
import type { GovernedCapability } from '../../../src/policy/engine/schema.js';
import { BUILT_WORKER, canonical } from './policy-fixtures.js';

const EXAMPLE = new URL('../../../examples/refunds/', import.meta.url);

let thread: PolicyThread;

beforeAll(async () => {
  thread = new PolicyThread({ evaluationTimeoutMs: 10_000, entry: BUILT_WORKER });
  const report = await loadPolicies(thread, {
    dir: new URL('policies/', EXAMPLE).pathname,
    approverGroups: ['support-lead'],
    defaults: { decideWithinMs: 86_400_000, executionWindowMs: 900_000 },
    capabilities: await exampleCapabilities(),
  });
  expect(report).toMatchObject({ accepted: true, problems: [] });
});

afterAll(() => thread.stop());

async function exampleCapabilities(): Promise<GovernedCapability[]> {
  const dir = new URL('capabilities/', EXAMPLE);
  const names = (await readdir(dir)).filter((name) => name.endsWith('.yaml'));
  return Promise.all(
    names.map(async (name) => {
      const manifest = parse(await readFile(new URL(name, dir), 'utf8')) as GovernedCapability;
      return { ...manifest, personal: manifest.personal ?? [] };
    }),
  );
}

const refund = (amountMinor: number, over = {}) =>
  thread.decide(canonical({ risk: 'high', input: { orderId: 'o-1', amountMinor, currency: 'EUR' }, ...over }));
const lead = (count: number, includesRequester = false) => ({
  approvals: { 'support-lead': { count, includesRequester } },
});

describe('the refund example', () => {
  it.each([1, 5000])('an agent may refund %i by itself', async (amountMinor) => {
    expect((await refund(amountMinor)).outcome).toBe('allow');
  });

  it.each([5001, 100_000])('a refund of %i needs one support lead who is not the requester', async (amountMinor) => {
    const asked = await refund(amountMinor);
    expect(asked).toMatchObject({
      outcome: 'requires_confirmation',
      obligations: {
        rules: [{ group: 'support-lead', count: 1, notRequester: true }],
        decideWithinMs: 3_600_000,
        executionWindowMs: 900_000,
      },
      reasons: [expect.stringContaining('support lead')],
    });
    expect((await refund(amountMinor, lead(1))).outcome).toBe('allow');
    expect((await refund(amountMinor, lead(1, true))).outcome).toBe('requires_confirmation');
  });

  it('a refund above the limit is denied, whoever agrees', async () => {
    expect(await refund(100_001)).toMatchObject({ outcome: 'deny', denyCode: 'forbidden' });
    expect(await refund(100_001, lead(3))).toMatchObject({ outcome: 'deny', denyCode: 'forbidden' });
  });

  it('agents may read orders', async () => {
    const order = { capability: 'order.read', effect: 'read_only', input: { orderId: 'o-1' } };
    expect((await thread.decide(canonical(order))).outcome).toBe('allow');
  });

  it('nobody but an agent may propose anything', async () => {
    expect(await refund(1, { roles: ['auditor'] })).toMatchObject({ outcome: 'deny', denyCode: 'no_permit' });
  });
});
