import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReadinessRepresentation } from '../../src/client/contract/health.js';
import { ask, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { approvalIdOf, expectProblem, type Answer, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const AMOUNT = { amount: { type: 'integer' } };
const TARGETS = [
  'all',
  'tenant',
  { principal: 'sam' },
  { principal: 'support-agent' },
  { agent: 'support-agent' },
  { capability: 'demo.send' },
] as const;

let stack: Stack;
let harness: Client;
let lena: Client;
let operator: Client;
let nobody: Client;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.send', AMOUNT, { timeout: '5s' }),
      ...opaqueManifest('demo.pay', AMOUNT),
      ...opaqueManifest('demo.other', AMOUNT),
    },
    policies: { ...permit('demo.send'), ...permit('demo.other'), ...ask('demo.pay') },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  operator = await stack.as(CAST.operator);
  nobody = stack.withToken(null);
});
afterEach(async () => {
  for (const target of TARGETS) await operator.control({ type: 'unpause', target });
  await operator.control({ type: 'unpause', target: { capability: 'demo.pay' } });
});
afterAll(() => stack.destroy());

const setPause = (target: unknown, type = 'pause') => operator.control({ type, target });
const propose = (capability: string, client = harness) => {
  amount += 1;
  return client.propose(capability, { amount });
};
const readiness = (): Promise<Answer<ReadinessRepresentation>> => nobody.get('/readyz');

describe('pause', () => {
  it.each([
    ['all', 'all', 'paused'],
    ['tenant', 'tenant', 'paused'],
    ['the person', { principal: 'sam' }, 'paused'],
    ['the agent', { principal: 'support-agent' }, 'paused'],
    ['the agent, by suspending it where no policy has a word about that', { agent: 'support-agent' }, 'paused'],
    ['the capability', { capability: 'demo.send' }, 'capability_paused'],
  ] as const)(
    'of %s refuses new proposals with Retry-After, records nothing, and shows in readiness',
    async (_, target, code) => {
      expect((await setPause(target)).status).toBe(202);
      const refused = await harness.propose('demo.send', { amount: -1 }, { key: `paused-${JSON.stringify(target)}` });
      expectProblem(refused, code);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const degraded = await readiness();
      expect(degraded.status).toBe(200);
      expect(degraded.body).toMatchObject({ ready: true, degraded: true, reasons: [{ name: 'paused' }] });
      expect((await nobody.get('/healthz')).status).toBe(200);
      expect((await setPause(target, 'unpause')).status).toBe(202);
      expect((await readiness()).body).toMatchObject({ ready: true, degraded: false, reasons: [] });
      const free = await harness.propose('demo.send', { amount: -1 }, { key: `paused-${JSON.stringify(target)}` });
      expect(free.body.status).toBe('completed');
      expect(free.headers.get('idempotent-replayed')).toBeNull();
    },
  );

  it('reaches what it names and nothing else', async () => {
    const other = await stack.as(CAST.otherHarness);
    const elsewhere = await stack.as(CAST.elsewhereHarness);
    await setPause({ principal: 'sam' });
    expect((await propose('demo.send', other)).body.status).toBe('completed');
    expect((await propose('demo.send', elsewhere)).body.status).toBe('completed');
    await setPause({ principal: 'sam' }, 'unpause');
    await setPause({ capability: 'demo.send' });
    expect((await propose('demo.other')).body.status).toBe('completed');
    expect((await propose('demo.send', elsewhere)).body.status).toBe('completed');
    expectProblem(await propose('demo.send', other), 'capability_paused');
    await setPause('tenant');
    expect((await propose('demo.other', elsewhere)).body.status).toBe('completed');
    expectProblem(await propose('demo.other'), 'paused');
  });

  it('lets what is on the wire go on', async () => {
    stack.tool.behave('/demo.send', () => ({ ...jsonAnswer(7), delayMs: 600 }));
    amount += 1;
    const running = await harness.propose('demo.send', { amount }, { wait: 0 });
    await setPause('all');
    const done = (await harness.call(running.body.toolCallId, 10)).body;
    expect(done).toMatchObject({ status: 'completed', result: 7 });
    stack.tool.behave('/demo.send', () => jsonAnswer({ ok: true }));
  });

  it('holds back what is allowed later, over a restart too, and lets it run when it is lifted', async () => {
    const waiting = await propose('demo.pay');
    await setPause({ capability: 'demo.pay' });
    expect((await lena.decide(approvalIdOf(waiting), 'allow')).body.status).toBe('granted');
    await stack.restart('SIGKILL');
    expect((await readiness()).body).toMatchObject({ degraded: true, reasons: [{ name: 'paused' }] });
    await pause(700);
    expect((await harness.call(waiting.body.toolCallId)).body.status).toBe('authorized');
    expect(stack.tool.executions('/demo.pay')).toEqual([]);
    await setPause({ capability: 'demo.pay' }, 'unpause');
    expect((await harness.call(waiting.body.toolCallId, 10)).body.status).toBe('completed');
    expect(stack.tool.executions('/demo.pay')).toHaveLength(1);
  });

  it('answers a repeat of an earlier key, and every read, as ever', async () => {
    const first = await harness.propose('demo.send', { amount: -2 }, { key: 'before-the-pause' });
    await setPause('all');
    const again = await harness.propose('demo.send', { amount: -2 }, { key: 'before-the-pause' });
    expect(again.body).toEqual(first.body);
    expect((await harness.call(first.body.toolCallId)).status).toBe(200);
  });

  it('shows in the list of capabilities', async () => {
    await setPause({ capability: 'demo.send' });
    const { body } = await harness.get<{ items: { name: string; state: string }[] }>('/v1/capabilities');
    const states = Object.fromEntries(body.items.map(({ name, state }) => [name, state]));
    expect(states).toMatchObject({ 'demo.send': 'paused', 'demo.other': 'active' });
  });

  it('set twice, or lifted where nothing is paused, is refused with a word of its own', async () => {
    await setPause('all');
    expectProblem(await setPause('all'), 'already_paused');
    await setPause('all', 'unpause');
    const refused = expectProblem(await setPause('all', 'unpause'), 'not_paused');
    expect((await operator.command(refused.commandId ?? '')).body).toMatchObject({
      type: 'unpause',
      status: 'rejected',
      code: 'not_paused',
    });
  });

  it('is for operators alone; whoever else tries is recorded', async () => {
    for (const client of [harness, lena]) {
      const refused = expectProblem(await client.control({ type: 'pause', target: 'all' }), 'not_authorized');
      expect((await operator.command(refused.commandId ?? '')).body).toMatchObject({
        status: 'rejected',
        code: 'not_authorized',
      });
    }
    expect((await readiness()).status).toBe(200);
  });

  it('of a target that is none is refused', async () => {
    for (const target of [
      'everything',
      {},
      { capability: '' },
      { capability: 'a', principal: 'b' },
      null,
      { run: 'x' },
    ]) {
      expectProblem(await setPause(target), 'invalid_request');
    }
  });
});
