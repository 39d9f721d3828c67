import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import { permit, probeableManifest } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { expectProblem, type Client } from '../support/http-client.js';
import { refundManifest } from '../support/quick-refund.js';
import { CAST, Stack } from '../support/stack.js';

const UNKNOWN = ['result_unknown', 'reconciling'];

let stack: Stack;
let harness: Client;
let operator: Client;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...refundManifest('refund.quick'),
      ...probeableManifest('demo.book', { amount: { type: 'integer' } }),
    },
    policies: { ...permit('refund.quick'), ...permit('demo.book') },
    // So many failures at a time would hold the capability.
    env: { COUNTERSIGN_EXECUTION__BREAKER_FAILURES_MAX: '1000' },
  });
  harness = await stack.as(CAST.harness);
  operator = await stack.as(CAST.operator);
});
afterEach(() => stack.provider.heal());
afterAll(() => stack.destroy());

interface Case {
  readonly orderId: string;
  readonly unknown: ToolCallRepresentation;
}

/** The look-up answers late, so that the time of not knowing can be seen. */
const SLOW_LOOKUP = { probeDelayMs: 700 };

/** Proposes with a fault for its order, and gives the call as it is while nobody knows. */
async function becomeUnknown(faults: object): Promise<Case> {
  await stack.provider.inject({ ...SLOW_LOOKUP, times: 1 });
  return sendWith(faults);
}

async function sendWith(faults: object): Promise<Case> {
  const orderId = await stack.provider.order();
  await stack.provider.inject({ ...faults, orderId, times: 1 });
  const sent = await harness.propose('refund.quick', { orderId, amountMinor: 500 }, { wait: 0 });
  return { orderId, unknown: await harness.callWhen(sent.body.toolCallId, UNKNOWN) };
}

const retry = ({ toolCallId }: ToolCallRepresentation) => operator.control({ type: 'retry', target: { toolCallId } });

describe('a result that nobody knows', () => {
  const AFTER_THE_EFFECT: readonly [string, object][] = [
    ['the connection is reset after the effect', { resetAfterEffect: true }],
    ['the tool answers 500 after the effect', { statusAfterEffect: 500 }],
    ['the tool answers 503 after the effect', { statusAfterEffect: 503 }],
    ['the tool answers 429 after the effect', { statusAfterEffect: 429 }],
    ['the tool answers 409 after the effect', { statusAfterEffect: 409 }],
    ['half a body comes back', { halfBody: true }],
    ['the body is no JSON', { invalidJson: true }],
    ['the body has another shape', { wrongShape: true }],
    ['the answer redirects', { redirect: 'afterEffect' }],
    ['the answer redirects and keeps the method', { redirect: 'afterEffect', redirectStatus: 307 }],
    ['no answer comes in time', { delayAfterMs: 1_200 }],
    ['no answer comes at all', { hangForever: 'afterEffect' }],
    ['the answer trickles past the deadline', { slowBodyMs: 2_000 }],
  ];
  const BEFORE_THE_EFFECT: readonly [string, object][] = [
    ['the connection is reset before the effect', { resetBeforeEffect: true }],
    ['the tool answers 503 before the effect', { statusBeforeEffect: 503 }],
    ['the answer redirects before the effect', { redirect: 'beforeEffect' }],
    ['no answer comes and nothing was done', { hangForever: 'beforeEffect' }],
  ];
  /** One call for each way not to know, all at the same time, and what a retry of it was answered meanwhile. */
  const cases = new Map<string, Case & { readonly refusal: Awaited<ReturnType<typeof retry>> }>();

  beforeAll(async () => {
    await stack.provider.inject(SLOW_LOOKUP);
    await Promise.all(
      [...AFTER_THE_EFFECT, ...BEFORE_THE_EFFECT].map(async ([why, faults]) => {
        const sent = await sendWith(faults);
        cases.set(why, { ...sent, refusal: await retry(sent.unknown) });
      }),
    );
  });

  function caseOf(why: string) {
    const found = cases.get(why);
    if (found === undefined) throw new Error(`nothing was sent for: ${why}`);
    return found;
  }

  it.each(AFTER_THE_EFFECT)(
    'because %s is said to be unknown, is settled by looking it up, and ran once',
    async (why) => {
      const { orderId, unknown } = caseOf(why);
      expect(unknown).toMatchObject({
        waitingFor: 'reconciliation',
        result: null,
        mayHaveHappened: true,
        retryAllowed: false,
        error: { effect: 'unknown' },
      });
      expect(unknown.retryReasons).toContain('retry_forbidden_result_unknown');
      expect(unknown.guidance).toMatch(/not known whether it ran; do not call again/);
      const settled = await harness.callWhen(unknown.toolCallId, ['completed', 'failed', 'manual_handoff']);
      expect(settled).toMatchObject({
        status: 'completed',
        attempt: 1,
        result: { orderId, amountMinor: 500, status: 'succeeded' },
      });
      expect(await stack.provider.executionsOf(orderId)).toBe(1);
      expect(await stack.provider.requestsOf(orderId)).toHaveLength(1);
      expect((await stack.provider.stats()).redirectsFollowed).toBe(0);
    },
  );

  it.each(BEFORE_THE_EFFECT)(
    'because %s ends as failed without effect once absence is proven, and only then may be retried',
    async (why) => {
      const { orderId, unknown, refusal } = caseOf(why);
      expectProblem(refusal, 'retry_forbidden_result_unknown');
      const settled = await harness.callWhen(unknown.toolCallId, ['completed', 'failed', 'manual_handoff']);
      expect(settled).toMatchObject({
        status: 'failed',
        error: { effect: 'none' },
        mayHaveHappened: false,
        retryAllowed: true,
        attempt: 1,
      });
      expect(await stack.provider.executionsOf(orderId)).toBe(0);
      expect((await harness.control({ type: 'retry', target: { toolCallId: unknown.toolCallId } })).status).toBe(202);
      const again = await harness.callWhen(unknown.toolCallId, ['completed']);
      expect(again.attempt).toBe(2);
      const requests = await stack.provider.requestsOf(orderId);
      expect(requests).toHaveLength(2);
      expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
      expect(await stack.provider.executionsOf(orderId)).toBe(1);
    },
  );

  it('is not taken for absent before everything on the wire must have arrived', async () => {
    const orderId = await stack.provider.order();
    await stack.provider.inject({ delayBeforeMs: 900, orderId, times: 1 });
    const sent = await harness.propose('refund.quick', { orderId, amountMinor: 500 }, { wait: 0 });
    const settled = await harness.callWhen(sent.body.toolCallId, ['completed', 'failed', 'manual_handoff']);
    expect(settled.status).toBe('completed');
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
  });

  it('blocks an identical intent under another key, and the same key follows it', async () => {
    const { orderId, unknown } = await becomeUnknown({ resetAfterEffect: true });
    const other = await harness.propose('refund.quick', { orderId, amountMinor: 500 });
    expect(expectProblem(other, 'outstanding_identical_intent').toolCallId).toBe(unknown.toolCallId);
    const same = await harness.propose('refund.quick', { orderId, amountMinor: 500 }, { key: unknown.idempotencyKey });
    expect(same.body.toolCallId).toBe(unknown.toolCallId);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
  });

  it('cannot be cancelled', async () => {
    const { unknown } = await becomeUnknown({ resetAfterEffect: true });
    expectProblem(
      await harness.control({ type: 'cancel', target: { toolCallId: unknown.toolCallId } }),
      'cancel_not_supported',
    );
  });

  it('is found in the list of what needs reconciliation, and shows in its run', async () => {
    const { unknown } = await becomeUnknown({ resetAfterEffect: true });
    const listed = await operator.get<{ items: ToolCallRepresentation[] }>(
      '/v1/tool-calls?status=needs-reconciliation',
    );
    expect(listed.body.items.map(({ toolCallId }) => toolCallId)).toContain(unknown.toolCallId);
    expect((await operator.get(`/v1/runs/${unknown.runId}`)).body).toMatchObject({ status: 'awaiting_reconciliation' });
    await harness.callWhen(unknown.toolCallId, ['completed']);
    const after = await operator.get<{ items: ToolCallRepresentation[] }>('/v1/tool-calls?status=needs-reconciliation');
    expect(after.body.items.map(({ toolCallId }) => toolCallId)).not.toContain(unknown.toolCallId);
  });

  it('goes on being looked up over failing look-ups, with every look-up on record', async () => {
    const orderId = await stack.provider.order();
    await stack.provider.inject({ resetAfterEffect: true, orderId, times: 1 });
    await stack.provider.inject({ probeStatus: 503, times: 2 });
    const sent = await harness.propose('refund.quick', { orderId, amountMinor: 500 }, { wait: 0 });
    const settled = await harness.callWhen(sent.body.toolCallId, ['completed', 'failed', 'manual_handoff']);
    expect(settled.status).toBe('completed');
    const types = eventsOf(stack.dataDir, 'tool_call_id', settled.toolCallId).map(({ event_type: type }) => type);
    expect(types.filter((type) => type === 'tool.call.dispatching')).toHaveLength(1);
    expect(types.filter((type) => type.startsWith('reconciliation.')).length).toBeGreaterThanOrEqual(3);
  });

  it('of many calls at once is settled for each, and each ran once', async () => {
    stack.tool.behave('/demo.book', () => ({ reset: true }));
    const amounts = Array.from({ length: 20 }, (_, index) => 1_000 + index);
    const calls = await Promise.all(amounts.map((amount) => harness.propose('demo.book', { amount }, { wait: 0 })));
    for (const { body } of calls) {
      expect((await harness.callWhen(body.toolCallId, ['completed', 'failed', 'manual_handoff'])).status).toBe(
        'completed',
      );
    }
    const bodies = stack.tool.executions('/demo.book').map(({ body }) => body);
    expect(bodies).toHaveLength(20);
    expect(new Set(bodies).size).toBe(20);
  });
});
