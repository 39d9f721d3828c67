import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReadinessRepresentation } from '../../src/client/contract/health.js';
import { opaqueManifest, permit, probeableManifest, readOnlyManifest } from '../support/demo-capabilities.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { expectProblem, type Answer, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const AMOUNT = { amount: { type: 'integer' } };

let stack: Stack;
let harness: Client;
let operator: Client;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      // Its look-ups begin late, so that nothing is settled while a test counts.
      ...probeableManifest('demo.book', AMOUNT, { quiesce: '3s' }),
      // Nothing can be looked up of it, so nothing releases it by itself.
      ...opaqueManifest('demo.stuck', AMOUNT),
      ...probeableManifest('demo.other', AMOUNT),
      ...readOnlyManifest('demo.read', AMOUNT),
    },
    policies: { ...permit('demo.book'), ...permit('demo.stuck'), ...permit('demo.other'), ...permit('demo.read') },
    env: { COUNTERSIGN_EXECUTION__BREAKER_FAILURES_MAX: '3' },
  });
  harness = await stack.as(CAST.harness);
  operator = await stack.as(CAST.operator);
});
afterAll(() => stack.destroy());

const propose = (name = 'demo.book') => {
  amount += 1;
  return harness.propose(name, { amount }, { wait: 0 });
};

async function becomeUnknown(name = 'demo.book'): Promise<void> {
  stack.tool.behave(`/${name}`, () => ({ reset: true }));
  const sent = await propose(name);
  await harness.callWhen(sent.body.toolCallId, ['result_unknown', 'reconciling', 'manual_handoff']);
}

const readiness = (): Promise<Answer<ReadinessRepresentation>> => operator.get('/readyz');
const isHeld = async (name = 'demo.book'): Promise<boolean> =>
  (await readiness()).body.reasons.some(
    (reason) => reason.name === 'held_capabilities' && reason.about?.includes(name),
  );
const holds = (expected: boolean, name = 'demo.book') =>
  until(
    `held: ${expected}`,
    () => isHeld(name),
    (held) => held === expected,
  );

describe('a capability whose results nobody knows, several times in a row', () => {
  it('is held: new proposals are refused, readiness names it, other capabilities go on', async () => {
    await becomeUnknown();
    await becomeUnknown();
    expect(await isHeld()).toBe(false);
    await becomeUnknown();
    await holds(true);
    const refused = await propose();
    expectProblem(refused, 'capability_held');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    stack.tool.behave('/demo.other', () => jsonAnswer({ ok: true }));
    expect((await harness.propose('demo.other', { amount })).body.status).toBe('completed');
    expect((await stack.withToken(null).get('/healthz')).status).toBe(200);
  });

  it('is released by one look-up that settled something, and works again', async () => {
    await holds(false);
    stack.tool.behave('/demo.book', () => jsonAnswer({ ok: true }));
    amount += 1;
    expect((await harness.propose('demo.book', { amount })).body.status).toBe('completed');
    await until(
      'all settled',
      () => operator.get<{ items: unknown[] }>('/v1/tool-calls?status=needs-reconciliation'),
      ({ body }) => body.items.length === 0,
    );
  });

  it('stays held over a restart, and is released by an operator of the installation and by nobody else', async () => {
    for (let times = 0; times < 3; times += 1) await becomeUnknown('demo.stuck');
    await holds(true, 'demo.stuck');
    await stack.restart('SIGKILL');
    expect(await isHeld('demo.stuck')).toBe(true);
    expectProblem(await propose('demo.stuck'), 'capability_held');
    const unpause = (client: Client) => client.control({ type: 'unpause', target: { capability: 'demo.stuck' } });
    expectProblem(await unpause(harness), 'not_authorized');
    expectProblem(await unpause(await stack.as(CAST.elsewhereOperator)), 'not_paused');
    expect(await isHeld('demo.stuck')).toBe(true);
    expect((await unpause(operator)).status).toBe(202);
    await holds(false, 'demo.stuck');
    stack.tool.behave('/demo.stuck', () => jsonAnswer({ ok: true }));
    amount += 1;
    expect((await harness.propose('demo.stuck', { amount })).body.status).toBe('completed');
  });

  it('is not held when it succeeds in between', async () => {
    for (let times = 0; times < 4; times += 1) {
      await becomeUnknown();
      stack.tool.behave('/demo.book', () => jsonAnswer({ ok: true }));
      amount += 1;
      expect((await harness.propose('demo.book', { amount })).body.status).toBe('completed');
    }
    expect(await isHeld()).toBe(false);
  });

  it('is not held for reads that bring nothing: they have no effect anybody could miss', async () => {
    stack.tool.behave('/demo.read', () => ({ reset: true }));
    for (let times = 0; times < 5; times += 1) {
      amount += 1;
      const read = await harness.propose('demo.read', { amount }, { key: null });
      expect(read.body).toMatchObject({ status: 'failed', error: { code: 'read_without_answer', effect: 'none' } });
    }
    expect((await readiness()).text).not.toContain('demo.read');
  });
});
