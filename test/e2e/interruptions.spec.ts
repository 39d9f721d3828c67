import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit, probeableManifest, readOnlyManifest } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const AMOUNT = { amount: { type: 'integer' } };

let stack: Stack;
let harness: Client;
let lena: Client;
let operator: Client;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', AMOUNT),
      ...opaqueManifest('demo.slow', AMOUNT, { timeout: '1500ms' }),
      ...probeableManifest('demo.book', AMOUNT, { timeout: '400ms', quiesce: '1500ms' }),
      ...readOnlyManifest('demo.read', AMOUNT),
      ...readOnlyManifest('demo.look', AMOUNT, { timeout: '1500ms' }),
    },
    policies: {
      ...ask('demo.pay'),
      ...permit('demo.slow'),
      ...permit('demo.book'),
      ...permit('demo.read'),
      ...permit('demo.look'),
    },
  });
  [harness, lena, operator] = (await Promise.all(
    [CAST.harness, CAST.lena, CAST.operator].map((person) => stack.as(person)),
  )) as [Client, Client, Client];
});
beforeEach(() => {
  amount += 1;
});
afterAll(() => stack.destroy());

const sent = (path: string): number =>
  stack.tool.executions(path).filter(({ body }) => body === JSON.stringify({ amount })).length;
const typesOf = (toolCallId: string): string[] =>
  eventsOf(stack.dataDir, 'tool_call_id', toolCallId).map(({ event_type: type }) => type);
const count = (types: readonly string[], type: string): number => types.filter((each) => each === type).length;
const retry = (toolCallId: string) => operator.control({ type: 'retry', target: { toolCallId } });

describe('a call that is running when the process is killed', () => {
  it('gets an explicit end by its own, blocks nothing, and is never sent again', async () => {
    stack.tool.behave('/demo.slow', () => ({ ...jsonAnswer(1), delayMs: 4_000 }));
    const running = await harness.propose('demo.slow', { amount }, { wait: 0 });
    await harness.callWhen(running.body.toolCallId, ['dispatched']);
    await stack.restart('SIGKILL');
    expect((await harness.propose('demo.read', { amount }, { key: null })).body.status).toBe('completed');
    const ended = await harness.callWhen(running.body.toolCallId, ['manual_handoff']);
    expect(ended).toMatchObject({
      mayHaveHappened: true,
      retryAllowed: false,
      attempt: 1,
      error: { effect: 'unknown' },
    });
    expect(count(typesOf(ended.toolCallId), 'tool.call.result_unknown')).toBe(1);
    expectProblem(await retry(ended.toolCallId), 'retry_not_allowed');
    expect(sent('/demo.slow')).toBe(1);
  });

  it('has no effect that anybody must look for when it only reads, and may be made again', async () => {
    stack.tool.behave('/demo.look', () => ({ ...jsonAnswer(1), delayMs: 4_000 }));
    const running = await harness.propose('demo.look', { amount }, { wait: 0 });
    await harness.callWhen(running.body.toolCallId, ['dispatched']);
    await stack.restart('SIGKILL');
    const ended = await harness.callWhen(running.body.toolCallId, ['failed', 'manual_handoff']);
    expect(ended).toMatchObject({ status: 'failed', error: { effect: 'none' }, retryAllowed: true });
  });

  it('again and again is one call with one open attempt at a time, each with its end', async () => {
    stack.tool.behave('/demo.look', () => ({ ...jsonAnswer(1), delayMs: 4_000 }));
    const { toolCallId } = (await harness.propose('demo.look', { amount }, { wait: 0, key: `retried-${amount}` })).body;
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      expect((await harness.callWhen(toolCallId, ['dispatched'])).attempt).toBe(attempt);
      expectProblem(await retry(toolCallId), 'retry_not_allowed');
      await stack.restart('SIGKILL');
      await harness.callWhen(toolCallId, ['failed']);
      expect((await retry(toolCallId)).status).toBe(202);
    }
    stack.tool.behave('/demo.look', () => jsonAnswer({ ok: true }));
    const types = typesOf(toolCallId);
    expect(count(types, 'tool.call.dispatching')).toBeLessThanOrEqual(3);
    expect(count(types, 'tool.call.failed')).toBe(2);
    expect(
      (await harness.propose('demo.look', { amount }, { key: `retried-${amount}`, wait: 0 })).body.toolCallId,
    ).toBe(toolCallId);
  });
});

describe('a question that waits', () => {
  it('is not touched by other calls of its run: it neither becomes allowed nor disappears', async () => {
    const headers = { 'run-id': 'goes-on' };
    const waiting = await harness.propose('demo.pay', { amount }, { wait: 0, headers });
    const shown = (await lena.approval(approvalIdOf(waiting))).body;
    for (let other = 0; other < 3; other += 1) {
      const free = await harness.propose('demo.read', { amount: other }, { key: null, headers });
      expect(free.body).toMatchObject({ status: 'completed', runId: waiting.body.runId });
    }
    await stack.restart('SIGTERM');
    expect((await lena.approval(approvalIdOf(waiting))).body).toEqual(shown);
    expect((await harness.call(waiting.body.toolCallId)).body).toEqual(waiting.body);
    expect(sent('/demo.pay')).toBe(0);
  });

  it('whose call was given up takes no late yes', async () => {
    const waiting = await harness.propose('demo.pay', { amount }, { wait: 0 });
    await harness.control({ type: 'cancel', target: { toolCallId: waiting.body.toolCallId }, reason: 'never mind' });
    expectProblem(await lena.decide(approvalIdOf(waiting), 'allow'), 'approval_not_pending');
    await stack.restart('SIGKILL');
    expectProblem(await lena.decide(approvalIdOf(waiting), 'allow'), 'approval_not_pending');
    await pause(400);
    expect(sent('/demo.pay')).toBe(0);
  });

  it('and was refused or expired never reaches the tool, over a restart too', async () => {
    const refusedArgs = { amount: 50_000 + amount };
    const refused = await harness.propose('demo.pay', refusedArgs, { wait: 0 });
    await lena.decide(approvalIdOf(refused), 'deny');
    const body = { executeBefore: new Date(Date.now() + 400).toISOString() };
    const expired = await harness.propose('demo.pay', { amount }, { wait: 0, body });
    await harness.callWhen(expired.body.toolCallId, ['not_executed']);
    await stack.restart('SIGKILL');
    await pause(400);
    expect((await harness.call(refused.body.toolCallId)).body.status).toBe('denied');
    expect((await harness.call(expired.body.toolCallId)).body.status).toBe('not_executed');
    const again = await harness.propose('demo.pay', refusedArgs, { key: refused.body.idempotencyKey, wait: 0 });
    expect(again.body).toMatchObject({ toolCallId: refused.body.toolCallId, status: 'denied' });
    expect(sent('/demo.pay')).toBe(0);
    expect(
      stack.tool.executions('/demo.pay').filter((request) => request.body === JSON.stringify(refusedArgs)),
    ).toEqual([]);
  });
});

describe('steps that were finished', () => {
  it('are not repeated when waits are resumed one by one, with a restart between each', async () => {
    const headers = { 'run-id': `steps-${amount}` };
    stack.tool.behave('/demo.slow', () => jsonAnswer({ ok: true }));
    const free = await harness.propose('demo.slow', { amount: -amount }, { headers });
    expect(free.body.status).toBe('completed');
    const gated = [];
    for (let step = 0; step < 3; step += 1) {
      const args = { amount: 1_000 + amount * 10 + step };
      gated.push({ args, answer: await harness.propose('demo.pay', args, { wait: 0, headers }) });
    }
    for (const { answer } of gated) {
      await stack.restart('SIGKILL');
      await lena.decide(approvalIdOf(answer), 'allow');
      expect((await harness.call(answer.body.toolCallId, 10)).body.status).toBe('completed');
    }
    for (const { args } of gated) {
      expect(stack.tool.executions('/demo.pay').filter(({ body }) => body === JSON.stringify(args))).toHaveLength(1);
    }
    const first = stack.tool
      .executions('/demo.slow')
      .filter(({ body }) => body === JSON.stringify({ amount: -amount }));
    expect(first).toHaveLength(1);
    expect((await harness.call(free.body.toolCallId)).body).toEqual(free.body);
  });

  it('are recognised when their history is sent along later: the result comes back and nothing runs', async () => {
    const request = { key: `history-${amount}`, body: { turnId: `turn-${amount}`, callId: 'C1' }, wait: 0 };
    const first = await harness.propose('demo.pay', { amount }, request);
    const decision = {
      decision: 'allow',
      digest: (await lena.approval(approvalIdOf(first))).body.digest,
      commandId: `R-${amount}`,
    };
    const path = `/v1/approvals/${approvalIdOf(first)}/decision`;
    const decided = await lena.post(path, decision);
    const done = await harness.call(first.body.toolCallId, 10);
    expect(done.body.status).toBe('completed');
    await stack.restart('SIGTERM');
    const again = await harness.propose('demo.pay', { amount }, request);
    expect(again.body).toEqual(done.body);
    const repeated = await lena.post(path, decision);
    expect(repeated.status).toBe(200);
    expect(repeated.headers.get('countersign-command')).toBe(decided.headers.get('countersign-command'));
    const other = await harness.propose(
      'demo.read',
      { amount },
      { key: null, body: { turnId: `turn-${amount}`, callId: 'C2' } },
    );
    expect(other.body.status).toBe('completed');
    expect(sent('/demo.pay')).toBe(1);
    expect(count(typesOf(first.body.toolCallId), 'tool.call.dispatching')).toBe(1);
  });
});

describe('an attempt that is still running after its time is over', () => {
  it('is not started again beside itself, and what it did is found and recorded', async () => {
    stack.tool.behave('/demo.book', () => ({ ...jsonAnswer({ ok: true }), delayMs: 1_200 }));
    const first = await harness.propose('demo.book', { amount }, { wait: 0 });
    const { toolCallId } = first.body;
    await harness.callWhen(toolCallId, ['result_unknown', 'reconciling']);
    expectProblem(await retry(toolCallId), 'retry_forbidden_result_unknown');
    expectProblem(await harness.propose('demo.book', { amount }), 'outstanding_identical_intent');
    expect(await harness.callWhen(toolCallId, ['completed', 'failed', 'manual_handoff'])).toMatchObject({
      status: 'completed',
      attempt: 1,
      mayHaveHappened: true,
    });
    expectProblem(await retry(toolCallId), 'retry_not_allowed');
    expect(sent('/demo.book')).toBe(1);
  });

  it('may be retried once a person has found, with evidence, that it did not happen, and by no other word', async () => {
    stack.tool.behave('/demo.slow', () => ({ reset: true }));
    const first = await harness.propose('demo.slow', { amount }, { wait: 0 });
    const { toolCallId } = await harness.callWhen(first.body.toolCallId, ['manual_handoff']);
    stack.tool.behave('/demo.slow', () => jsonAnswer({ ok: true }));
    expectProblem(await operator.control({ type: 'retry', target: { toolCallId: '' } }), 'invalid_request');
    const forged = await harness.propose(
      'demo.slow',
      { amount },
      { body: { retryOf: toolCallId, reconciled: 'not_applied' } },
    );
    expectProblem(forged, 'invalid_request');
    expectProblem(await harness.propose('demo.slow', { amount }), 'outstanding_identical_intent');
    expectProblem(await retry(toolCallId), 'retry_not_allowed');
    const finding = { finding: 'not_happened', evidenceRefs: ['bank-statement-9'] };
    expect((await operator.post(`/v1/tool-calls/${toolCallId}/resolution`, finding)).status).toBe(200);
    expect((await retry(toolCallId)).status).toBe(202);
    expect((await harness.call(toolCallId, 10)).body).toMatchObject({ status: 'completed', attempt: 2 });
    expectProblem(await retry(toolCallId), 'retry_not_allowed');
    expect(sent('/demo.slow')).toBe(2);
  });
});
