import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import { permit, probeableManifest } from '../support/demo-capabilities.js';
import { expectProblem, type Client } from '../support/http-client.js';
import { refundManifest } from '../support/quick-refund.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const ENDS = ['completed', 'failed', 'manual_handoff'];

interface Manifest {
  readonly probe?: object | null;
  readonly [field: string]: unknown;
}

/** The quick refund with other promises about what its provider can be asked; null leaves a promise out. */
function refund(name: string, change: (manifest: Manifest) => Manifest): Record<string, string> {
  const file = `${name}.yaml`;
  const changed = change(JSON.parse(refundManifest(name)[file] ?? '{}') as Manifest);
  return { [file]: JSON.stringify(Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null))) };
}

/** Nobody vouches for its look-ups: what they do not show may have happened. */
const inDoubt = (manifest: Manifest): Manifest => ({
  ...manifest,
  probe: { ...manifest.probe, absenceIsProof: false, attemptsMax: 3, budget: '2s' },
});

/** Its key may be sent again for four fifths of a second, and for longer than that something may be on the wire. */
const shortMemory = (manifest: Manifest): Manifest => ({
  ...manifest,
  effect: 'replay_by_key',
  probe: null,
  quiesce: '500ms',
  idempotency: { header: 'Idempotency-Key', keyRetention: '1s', replayAsProbe: true },
});

const NAMES = ['refund.quick', 'refund.doubt', 'refund.later', 'refund.window', 'demo.book'];

let stack: Stack;
let harness: Client;
let operator: Client;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...refundManifest('refund.quick'),
      ...refund('refund.doubt', inDoubt),
      ...refund('refund.later', (one) => ({ ...inDoubt(one), pending: { status: [202], referenceAt: '/refundId' } })),
      ...refund('refund.window', shortMemory),
      ...probeableManifest('demo.book', { amount: { type: 'integer' } }),
    },
    policies: Object.assign({}, ...NAMES.map(permit)) as Record<string, string>,
    env: { COUNTERSIGN_EXECUTION__BREAKER_FAILURES_MAX: '1000' },
  });
  [harness, operator] = (await Promise.all([CAST.harness, CAST.operator].map((who) => stack.as(who)))) as [
    Client,
    Client,
  ];
});
afterAll(() => stack.destroy());

const ended = (toolCallId: string): Promise<ToolCallRepresentation> => harness.callWhen(toolCallId, ENDS);
const retry = (toolCallId: string) => operator.control({ type: 'retry', target: { toolCallId } });

/** Proposes a refund that its provider spoils; `lookups` are spoiled for its key alone, before the first is made. */
async function spoiled(capability: string, faults: object, lookups: object = {}) {
  const orderId = await stack.provider.order();
  await stack.provider.inject({ ...faults, orderId, times: 1 });
  const args = { orderId, amountMinor: 500 };
  const { body } = await harness.propose(capability, args, { wait: 0, key: orderId });
  const [request] = await until(
    'the request at the provider',
    () => stack.provider.requestsOf(orderId),
    (requests) => requests.length > 0,
  );
  if (Object.keys(lookups).length > 0) {
    await stack.provider.inject({ ...lookups, keyPrefix: request?.headers['idempotency-key'] });
  }
  return { orderId, args, toolCallId: body.toolCallId };
}

describe('a tool', () => {
  it('that cuts the connection before it has read anything has done nothing, and the call says so', async () => {
    stack.tool.resetConnections(1);
    const { body } = await harness.propose('demo.book', { amount: 1 }, { wait: 0 });
    expect(await ended(body.toolCallId)).toMatchObject({ status: 'failed', error: { effect: 'none' }, attempt: 1 });
    expect(stack.tool.executions('/demo.book')).toEqual([]);
  });

  it('that shows its effects late is not taken for one that has done nothing', async () => {
    const { orderId, toolCallId } = await spoiled(
      'refund.quick',
      { hangForever: 'afterEffect' },
      { visibilityDelayMs: 1_000 },
    );
    expect(await ended(toolCallId)).toMatchObject({ status: 'completed', attempt: 1 });
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
  });

  it('that denies what it did is not believed where nobody vouches for it: people are asked, nothing is sent', async () => {
    const { orderId, toolCallId } = await spoiled('refund.doubt', { resetAfterEffect: true }, { lyingProbe: true });
    expect(await ended(toolCallId)).toMatchObject({ status: 'manual_handoff', mayHaveHappened: true });
    expectProblem(await retry(toolCallId), 'retry_not_allowed');
    expect(await stack.provider.requestsOf(orderId)).toHaveLength(1);
  });

  it('that denies what it did although its operator vouches for it does it once, for the retry has the same key', async () => {
    const { orderId, toolCallId } = await spoiled('refund.quick', { resetAfterEffect: true }, { lyingProbe: true });
    expect(await ended(toolCallId)).toMatchObject({ status: 'failed', error: { effect: 'none' } });
    expect((await retry(toolCallId)).status).toBe(202);
    expect(await harness.callWhen(toolCallId, ['completed'])).toMatchObject({ attempt: 2 });
    expect(await stack.provider.requestsOf(orderId)).toHaveLength(2);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
  });

  it('that accepts and never ends is waited for as long as its manifest says, and then people are asked', async () => {
    const { orderId, toolCallId } = await spoiled('refund.later', { accept202: true, completeAs: 'never' });
    expect(await ended(toolCallId)).toMatchObject({ status: 'manual_handoff', mayHaveHappened: true });
    expect(await stack.provider.requestsOf(orderId)).toHaveLength(1);
  });

  it('whose memory for keys is over is not asked by sending again', async () => {
    const { orderId, toolCallId } = await spoiled('refund.window', { hangForever: 'afterEffect' });
    expect(await ended(toolCallId)).toMatchObject({ status: 'manual_handoff', mayHaveHappened: true });
    expect(await stack.provider.requestsOf(orderId)).toHaveLength(1);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
  });
});

describe('a result that its caller never saw', () => {
  it('is given to whoever asks again under the key, and only another key is another refund', async () => {
    const { orderId, args, toolCallId } = await spoiled('refund.quick', { delayAfterMs: 1 });
    const first = await ended(toolCallId);
    expect(first.status).toBe('completed');
    const again = await harness.propose('refund.quick', args, { key: orderId });
    expect(again.body).toEqual(first);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
    const other = await harness.propose('refund.quick', args);
    expect(other.body).toMatchObject({ status: 'completed' });
    expect(other.body.toolCallId).not.toBe(toolCallId);
    expect(await stack.provider.executionsOf(orderId)).toBe(2);
  });
});
