import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit, probeableManifest } from '../support/demo-capabilities.js';
import { attemptsOf, eventsOf } from '../support/event-records.js';
import { jsonAnswer, rejection } from '../support/fake-tool.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const AMOUNT = { amount: { type: 'integer' } };

let stack: Stack;
let harness: Client;
let lena: Client;
let operator: Client;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', AMOUNT),
      ...probeableManifest('demo.book', AMOUNT),
      ...probeableManifest('demo.once', AMOUNT, { retryRejected: false }),
    },
    policies: { ...ask('demo.pay'), ...permit('demo.book'), ...permit('demo.once') },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  operator = await stack.as(CAST.operator);
});
afterAll(() => stack.destroy());

const retry = (client: Client, toolCallId: string) => client.control({ type: 'retry', target: { toolCallId } });

const sent = (path: string, amount: number) =>
  stack.tool.executions(path).filter(({ body }) => body === `{"amount":${amount}}`);

/** Rejects the first `times` requests of an amount, then works. */
function rejectFirst(path: string, times: number): void {
  const seen = new Map<string, number>();
  stack.tool.behave(path, ({ body }) => {
    const before = seen.get(body) ?? 0;
    seen.set(body, before + 1);
    return before < times ? rejection() : jsonAnswer({ ok: true });
  });
}

describe('retry', () => {
  it('follows a rejection that proves no effect: same call, next attempt, same downstream key', async () => {
    rejectFirst('/demo.book', 1);
    const failed = await harness.propose('demo.book', { amount: 1 });
    expect(failed.body).toMatchObject({
      status: 'failed',
      attempt: 1,
      mayHaveHappened: false,
      retryAllowed: true,
      retryReasons: ['failed_without_effect'],
      error: { code: 'rejected_by_tool', effect: 'none' },
    });
    const answer = await retry(harness, failed.body.toolCallId);
    expect(answer.status).toBe(202);
    const done = (await harness.call(failed.body.toolCallId, 10)).body;
    expect(done).toMatchObject({ status: 'completed', attempt: 2, result: { ok: true } });
    const keys = sent('/demo.book', 1).map(({ key }) => key);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    const types = eventsOf(stack.dataDir, 'tool_call_id', failed.body.toolCallId).map(({ event_type: type }) => type);
    expect(types.filter((type) => type === 'tool.call.dispatching')).toHaveLength(2);
    expect(types.filter((type) => type === 'tool.call.retry_accepted')).toHaveLength(1);
  });

  it('asks people again where policy asks: one yes authorises one attempt', async () => {
    rejectFirst('/demo.pay', 1);
    const proposed = await harness.propose('demo.pay', { amount: 2 }, { wait: 0 });
    const firstApproval = approvalIdOf(proposed);
    await lena.decide(firstApproval, 'allow');
    const { toolCallId } = proposed.body;
    expect((await harness.call(toolCallId, 10)).body).toMatchObject({ status: 'failed', retryAllowed: true });
    expect((await retry(harness, toolCallId)).status).toBe(202);
    const waiting = await harness.call(toolCallId);
    expect(waiting.body).toMatchObject({ status: 'proposed', attempt: 2, waitingFor: 'approval' });
    expect(approvalIdOf(waiting)).not.toBe(firstApproval);
    expect(sent('/demo.pay', 2)).toHaveLength(1);
    expectProblem(await lena.decide(firstApproval, 'deny'), 'approval_already_decided');
    await lena.decide(approvalIdOf(waiting), 'allow');
    expect((await harness.call(toolCallId, 10)).body).toMatchObject({ status: 'completed', attempt: 2 });
    expect(sent('/demo.pay', 2)).toHaveLength(2);
  });

  it('leaves one attempt on record for each request that the tool got, and no other', async () => {
    rejectFirst('/demo.book', 2);
    const { toolCallId } = (await harness.propose('demo.book', { amount: 8 })).body;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(sent('/demo.book', 8)).toHaveLength(attempt);
      expect(attemptsOf(stack.dataDir, toolCallId)).toEqual(
        Array.from({ length: attempt }, (_, n) => ({ attempt: n + 1, state: 'settled' })),
      );
      if (attempt === 3) break;
      expect((await retry(harness, toolCallId)).status).toBe(202);
      expect((await harness.call(toolCallId, 10)).body).toMatchObject({
        status: attempt === 1 ? 'failed' : 'completed',
        attempt: attempt + 1,
      });
    }
    expectProblem(await retry(harness, toolCallId), 'retry_not_allowed');
    expect(sent('/demo.book', 8)).toHaveLength(3);
    expect(attemptsOf(stack.dataDir, toolCallId)).toHaveLength(3);
  });

  it('is refused for a call that has completed', async () => {
    rejectFirst('/demo.book', 0);
    const done = await harness.propose('demo.book', { amount: 3 });
    expect(done.body).toMatchObject({ status: 'completed', retryAllowed: false });
    const refused = expectProblem(await retry(harness, done.body.toolCallId), 'retry_not_allowed');
    expect((await harness.command(refused.commandId ?? '')).body).toMatchObject({
      status: 'rejected',
      code: 'retry_not_allowed',
    });
    expect(sent('/demo.book', 3)).toHaveLength(1);
  });

  it('is refused for a call that was denied, by policy or by people', async () => {
    const byPolicy = await harness.propose('refund.create', { orderId: 'ord_1001', amountMinor: 500_000 });
    expectProblem(await retry(harness, byPolicy.body.toolCallId), 'retry_not_allowed');
    const byPeople = await harness.propose('demo.pay', { amount: 4 }, { wait: 0 });
    await lena.decide(approvalIdOf(byPeople), 'deny');
    expectProblem(await retry(harness, byPeople.body.toolCallId), 'retry_not_allowed');
    expect(sent('/demo.pay', 4)).toEqual([]);
  });

  it('is refused while a call waits or is on the wire', async () => {
    const waiting = await harness.propose('demo.pay', { amount: 5 }, { wait: 0 });
    expectProblem(await retry(harness, waiting.body.toolCallId), 'retry_not_allowed');
    stack.tool.behave('/demo.book', () => ({ ...jsonAnswer({ ok: true }), delayMs: 250 }));
    const running = await harness.propose('demo.book', { amount: 6 }, { wait: 0 });
    expectProblem(await retry(harness, running.body.toolCallId), 'retry_not_allowed');
    expect((await harness.call(running.body.toolCallId, 10)).body.status).toBe('completed');
    expect(sent('/demo.book', 6)).toHaveLength(1);
  });

  it('is refused with a word of its own while nobody knows whether it happened', async () => {
    stack.tool.behave('/demo.book', () => ({ reset: true }));
    const unknown = await harness.propose('demo.book', { amount: 7 }, { wait: 0 });
    await harness.callWhen(unknown.body.toolCallId, ['result_unknown', 'reconciling']);
    expectProblem(await retry(operator, unknown.body.toolCallId), 'retry_forbidden_result_unknown');
    const settled = await harness.callWhen(unknown.body.toolCallId, ['completed']);
    expect(settled.attempt).toBe(1);
    expect(sent('/demo.book', 7)).toHaveLength(1);
  });

  it('is refused where the tool would only repeat its rejection', async () => {
    stack.tool.behave('/demo.once', () => rejection());
    const failed = await harness.propose('demo.once', { amount: 8 });
    expect(failed.body).toMatchObject({ status: 'failed', retryAllowed: false, mayHaveHappened: false });
    expectProblem(await retry(harness, failed.body.toolCallId), 'retry_not_allowed');
    expect(sent('/demo.once', 8)).toHaveLength(1);
  });

  it('brings a cancelled call back to judgement', async () => {
    const proposed = await harness.propose('demo.pay', { amount: 9 }, { wait: 0 });
    const { toolCallId } = proposed.body;
    await harness.control({ type: 'cancel', target: { toolCallId } });
    expect((await retry(harness, toolCallId)).status).toBe(202);
    expect((await harness.call(toolCallId)).body).toMatchObject({
      status: 'proposed',
      attempt: 2,
      waitingFor: 'approval',
    });
  });

  it('fired many times at once makes one attempt', async () => {
    rejectFirst('/demo.book', 1);
    const failed = await harness.propose('demo.book', { amount: 10 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => retry(harness, failed.body.toolCallId)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    expect((await harness.call(failed.body.toolCallId, 10)).body).toMatchObject({ status: 'completed', attempt: 2 });
    expect(sent('/demo.book', 10)).toHaveLength(2);
  });

  it('reaches the calls of the own principal only', async () => {
    rejectFirst('/demo.book', 1);
    const failed = await harness.propose('demo.book', { amount: 11 });
    for (const person of [CAST.otherHarness, CAST.lena, CAST.elsewhereOperator]) {
      expectProblem(await retry(await stack.as(person), failed.body.toolCallId), 'tool_call_not_found');
    }
    expect(sent('/demo.book', 11)).toHaveLength(1);
  });
});
