import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunRepresentation } from '../../src/client/contract/runs.js';
import { ask, cancelBlock, opaqueManifest, permit, probeableManifest } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { jsonAnswer, rejection } from '../support/fake-tool.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const AMOUNT = { amount: { type: 'integer' } };
const PENDING = { pending: { status: [202], referenceAt: '/ref' } };

let stack: Stack;
let harness: Client;
let lena: Client;
let operator: Client;
let label = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', AMOUNT),
      ...opaqueManifest('demo.slow', AMOUNT, { timeout: '10s' }),
      ...opaqueManifest('demo.single', AMOUNT, { concurrency: 1, timeout: '10s' }),
      ...probeableManifest('demo.book', AMOUNT, { timeout: '10s', ...cancelBlock('demo.book') }),
      ...opaqueManifest('demo.order', AMOUNT, {
        timeout: '10s',
        ...PENDING,
        ...cancelBlock('demo.order', { by: 'external_id' }),
      }),
    },
    policies: {
      ...ask('demo.pay'),
      ...['slow', 'single', 'book', 'order'].reduce((all, name) => ({ ...all, ...permit(`demo.${name}`) }), {}),
    },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  operator = await stack.as(CAST.operator);
});
afterAll(() => stack.destroy());
afterEach(() => {
  for (const name of ['slow', 'single', 'book', 'book.cancel', 'order', 'order.cancel']) {
    stack.tool.behave(`/demo.${name}`, () => jsonAnswer({ ok: true }));
  }
});

/** A label of its own for each test. */
const newRun = (): string => `stop-${(label += 1)}`;

const propose = (run: string, capability: string, amount: number, wait = 0) =>
  harness.propose(capability, { amount }, { wait, headers: { 'run-id': run } });

const stop = (runId: string, more: object = {}, client: Client = harness) =>
  client.control({ type: 'stop', target: { runId }, ...more });

const runOf = async (runId: string): Promise<RunRepresentation> =>
  (await harness.get<RunRepresentation>(`/v1/runs/${runId}`)).body;

const stopped = (runId: string) =>
  until(
    'the run is stopped',
    () => runOf(runId),
    ({ status }) => status === 'stopped',
  );

const typesOf = (column: 'run_id' | 'tool_call_id', id: string): string[] =>
  eventsOf(stack.dataDir, column, id).map(({ event_type: type }) => type);

const SIX = [
  'stop.requested',
  'model.cancelled',
  'tool.cancellation_requested',
  'tool.cancelled',
  'external_action_irreversible',
  'run.stopped',
];
const factsOf = (runId: string): string[] => typesOf('run_id', runId).filter((type) => SIX.includes(type));

const sentBy = (path: string, amount: number) =>
  stack.tool.executions(path).filter(({ body }) => body === `{"amount":${amount}}`);

const dispatched = (id: string) =>
  until(
    'it is sent',
    async () => (await harness.call(id)).body,
    ({ status }) => status === 'dispatched',
  );

describe('stop', () => {
  it('of a run in which nothing is open is two facts, and a label opens a new run afterwards', async () => {
    const run = newRun();
    const done = await propose(run, 'demo.slow', 1, 5);
    expect(done.body.status).toBe('completed');
    const answer = await stop(done.body.runId);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ status: 'accepted' });
    expect(await stopped(done.body.runId)).toMatchObject({ canStop: false, openCalls: 0, stop: { model: 'idle' } });
    expect(factsOf(done.body.runId)).toEqual(['stop.requested', 'run.stopped']);
    const next = await propose(run, 'demo.slow', 2, 5);
    expect(next.body.runId).not.toBe(done.body.runId);
    expectProblem(
      await harness.propose('demo.slow', { amount: 3 }, { wait: 0, body: { runId: done.body.runId } }),
      'run_already_ended',
    );
  });

  it('retires what waits for people: off the list, no late yes, nothing runs, also after a restart', async () => {
    const waiting = await propose(newRun(), 'demo.pay', 1);
    const granted = await propose(`stop-${label}`, 'demo.pay', 2);
    await operator.control({ type: 'pause', target: { capability: 'demo.pay' } });
    await lena.decide(approvalIdOf(granted), 'allow');
    const { digest } = (await lena.approval(approvalIdOf(waiting))).body;
    await stop(waiting.body.runId);
    await stopped(waiting.body.runId);
    await operator.control({ type: 'unpause', target: { capability: 'demo.pay' } });
    for (const { body } of [waiting, granted]) {
      expect((await harness.call(body.toolCallId)).body).toMatchObject({
        status: 'not_executed',
        error: { code: 'stopped', effect: 'none' },
        approval: { status: 'closed' },
        mayHaveHappened: false,
      });
    }
    const listed = await lena.get<{ items: { approvalId: string }[] }>('/v1/approvals?status=pending');
    expect(listed.body.items.map(({ approvalId }) => approvalId)).not.toContain(approvalIdOf(waiting));
    const yes = () => lena.post(`/v1/approvals/${approvalIdOf(waiting)}/decision`, { decision: 'allow', digest });
    expectProblem(await yes(), 'approval_not_pending');
    expectProblem(
      await harness.control({ type: 'resume', target: { runId: waiting.body.runId } }),
      'run_already_ended',
    );
    await stack.restart('SIGKILL');
    expectProblem(await yes(), 'approval_not_pending');
    await pause(700);
    expect(stack.tool.executions('/demo.pay')).toEqual([]);
  });

  it('lets what waits for its turn never start, also after a restart and its sweeps', async () => {
    stack.tool.behave('/demo.single', () => ({ text: 'null', delayMs: 1_500 }));
    const first = await propose(newRun(), 'demo.single', 1);
    const queued = await propose(`stop-${label}`, 'demo.single', 2);
    expect(queued.body.status).toBe('authorized');
    await stop(first.body.runId);
    await until(
      'it ends',
      async () => (await harness.call(queued.body.toolCallId)).body,
      ({ status }) => status === 'not_executed',
    );
    expectProblem(
      await harness.control({ type: 'retry', target: { toolCallId: queued.body.toolCallId } }),
      'run_already_ended',
    );
    expect(await stopped(first.body.runId)).toMatchObject({
      stop: { calls: expect.arrayContaining([{ toolCallId: queued.body.toolCallId, leg: 'not_started' }]) },
    });
    await stack.restart('SIGKILL');
    await pause(700);
    expect(sentBy('/demo.single', 2)).toEqual([]);
    expect((await harness.call(first.body.toolCallId)).body.status).toBe('completed');
  });

  it('answers at once while a tool that has no cancel runs on, says so, and keeps its late result', async () => {
    stack.tool.behave('/demo.slow', () => ({ ...jsonAnswer({ paid: true }), delayMs: 2_000 }));
    const slow = await propose(newRun(), 'demo.slow', 10);
    await dispatched(slow.body.toolCallId);
    const before = Date.now();
    expect((await stop(slow.body.runId)).status).toBe(202);
    expect(Date.now() - before).toBeLessThan(1_000);
    const call = await until(
      'it is said',
      async () => (await harness.call(slow.body.toolCallId)).body,
      (body) => body.cancellation !== null,
    );
    expect(call).toMatchObject({
      status: 'dispatched',
      mayHaveHappened: true,
      cancellation: { status: 'impossible', reason: 'not_supported' },
    });
    expect(await runOf(slow.body.runId)).toMatchObject({
      status: 'stopping',
      canStop: false,
      stop: { calls: [{ toolCallId: slow.body.toolCallId, leg: 'irreversible' }] },
    });
    expectProblem(await propose(`stop-${label}`, 'demo.slow', 11), 'run_stopping');
    await stopped(slow.body.runId);
    expect((await harness.call(slow.body.toolCallId)).body).toMatchObject({
      status: 'completed',
      result: { paid: true },
    });
    expect(factsOf(slow.body.runId)).toEqual(['stop.requested', 'external_action_irreversible', 'run.stopped']);
    expect(sentBy('/demo.slow', 11)).toEqual([]);
    const after = typesOf('run_id', slow.body.runId);
    expect(after.slice(after.indexOf('run.stopped'))).not.toContain('tool.call.dispatching');
  });

  it('asks a tool that can cancel, once, and takes its word for what became of the call', async () => {
    stack.tool.behave('/demo.book', () => ({ ...rejection(409), delayMs: 1_500 }));
    const call = await propose(newRun(), 'demo.book', 20);
    await dispatched(call.body.toolCallId);
    await stop(call.body.runId);
    await stopped(call.body.runId);
    expect((await harness.call(call.body.toolCallId)).body).toMatchObject({
      status: 'failed',
      error: { code: 'cancelled', effect: 'none' },
      cancellation: { status: 'confirmed' },
      mayHaveHappened: false,
      retryAllowed: false,
    });
    expect(factsOf(call.body.runId)).toEqual([
      'stop.requested',
      'tool.cancellation_requested',
      'tool.cancelled',
      'run.stopped',
    ]);
    const [request] = sentBy('/demo.book', 20);
    expect(
      stack.tool.executions('/demo.book.cancel').filter(({ body }) => body.includes(request?.key ?? '?')),
    ).toHaveLength(1);
  });

  it('keeps an answer that contradicts a confirmed cancellation beside the record', async () => {
    stack.tool.behave('/demo.book', () => ({ ...jsonAnswer({ ok: true }), delayMs: 1_200 }));
    const call = await propose(newRun(), 'demo.book', 21);
    await dispatched(call.body.toolCallId);
    await stop(call.body.runId);
    await stopped(call.body.runId);
    await until(
      'the late answer is recorded',
      () => typesOf('tool_call_id', call.body.toolCallId),
      (types) => types.includes('tool.call.contradiction_recorded'),
    );
    expect((await harness.call(call.body.toolCallId)).body.status).toBe('failed');
    expect((await runOf(call.body.runId)).status).toBe('stopped');
  });

  it('shows what a tool refuses to cancel as beyond stopping, and lets it finish', async () => {
    stack.tool.behave('/demo.book', () => ({ ...jsonAnswer({ ok: true }), delayMs: 1_000 }));
    stack.tool.behave('/demo.book.cancel', () => rejection(409));
    const call = await propose(newRun(), 'demo.book', 22);
    await dispatched(call.body.toolCallId);
    await stop(call.body.runId);
    await stopped(call.body.runId);
    expect((await harness.call(call.body.toolCallId)).body).toMatchObject({
      status: 'completed',
      cancellation: { status: 'impossible', reason: 'refused_by_tool' },
    });
    expect(factsOf(call.body.runId)).toEqual([
      'stop.requested',
      'tool.cancellation_requested',
      'external_action_irreversible',
      'run.stopped',
    ]);
  });

  it('hands over what is left unanswered as unknown, and finds out by looking', async () => {
    stack.tool.behave('/demo.book', () => ({ ...jsonAnswer({ ok: true }), delayMs: 3_000 }));
    stack.tool.behave('/demo.book.cancel', () => ({ reset: true }));
    const call = await propose(newRun(), 'demo.book', 23);
    await dispatched(call.body.toolCallId);
    await stop(call.body.runId);
    const run = await stopped(call.body.runId);
    expect(factsOf(call.body.runId)).toEqual(['stop.requested', 'tool.cancellation_requested', 'run.stopped']);
    expect(run.stop?.calls).toEqual([{ toolCallId: call.body.toolCallId, leg: 'handed_over' }]);
    const unknown = eventsOf(stack.dataDir, 'tool_call_id', call.body.toolCallId).map(({ event_type: type }) => type);
    expect(unknown).toContain('tool.call.result_unknown');
    const end = await until(
      'it is settled',
      async () => (await harness.call(call.body.toolCallId)).body,
      ({ status }) => status === 'completed',
    );
    expect(end.error).toBeNull();
    expect(sentBy('/demo.book', 23)).toHaveLength(1);
  });

  it('cancels what a tool has taken on by the reference the tool told', async () => {
    stack.tool.behave('/demo.order', () => jsonAnswer({ ref: 'ord-77' }, 202));
    const call = await propose(newRun(), 'demo.order', 30);
    await until(
      'it is accepted',
      async () => (await harness.call(call.body.toolCallId)).body,
      ({ status }) => status === 'accepted',
    );
    await stop(call.body.runId);
    await stopped(call.body.runId);
    expect((await harness.call(call.body.toolCallId)).body).toMatchObject({
      status: 'failed',
      error: { code: 'cancelled' },
      externalRequestId: 'ord-77',
    });
    expect(stack.tool.executions('/demo.order.cancel').map(({ body }) => body)).toEqual(['{"id":"ord-77"}']);
  });

  it('waits for the model only when one is active, and records its end once', async () => {
    const done = await propose(newRun(), 'demo.slow', 40, 5);
    const { runId } = done.body;
    await stop(runId, { modelActive: true });
    await pause(400);
    expect(await runOf(runId)).toMatchObject({ status: 'stopping', stop: { model: 'active' } });
    expect((await harness.post(`/v1/runs/${runId}/model-cancelled`, {})).status).toBe(200);
    await harness.post(`/v1/runs/${runId}/model-cancelled`, {}).catch(() => undefined);
    await stopped(runId);
    expect(factsOf(runId)).toEqual(['stop.requested', 'model.cancelled', 'run.stopped']);
  });

  it('is admitted once: the same commandId repeats its answer, another is told that the run stops or has ended', async () => {
    const done = await propose(newRun(), 'demo.slow', 50, 5);
    const { runId } = done.body;
    const first = await stop(runId, { commandId: `stop-once-${runId}` });
    const again = await stop(runId, { commandId: `stop-once-${runId}` });
    expect([again.status, again.body]).toEqual([202, first.body]);
    await stopped(runId);
    expectProblem(await stop(runId), 'run_already_ended');
    expectProblem(await stop('run_never'), 'run_not_found');
    for (const person of [CAST.otherHarness, CAST.elsewhereHarness, CAST.elsewhereOperator, CAST.lena]) {
      expectProblem(await stop(runId, {}, await stack.as(person)), 'run_not_found');
    }
    expect(factsOf(runId)).toEqual(['stop.requested', 'run.stopped']);
    const refused = await stop(runId, { commandId: `stop-late-${runId}` });
    expect(refused.body.commandId).toBe(`stop-late-${runId}`);
    expect((await harness.command(`stop-late-${runId}`)).body).toMatchObject({
      type: 'stop',
      status: 'rejected',
      code: 'run_already_ended',
    });
  });

  it('races with proposals of its run: what was not sent before the stop is never sent', async () => {
    const run = newRun();
    const opened = await propose(run, 'demo.slow', 60, 5);
    const { runId } = opened.body;
    const racing = Array.from({ length: 30 }, (_, n) =>
      harness.propose('demo.slow', { amount: 600 + n }, { wait: 0, body: { runId } }),
    );
    const [answer] = await Promise.all([stop(runId), ...racing]);
    expect(answer.status).toBe(202);
    await stopped(runId);
    const types = typesOf('run_id', runId);
    const requested = types.indexOf('stop.requested');
    expect(types.slice(requested)).not.toContain('tool.call.dispatching');
    expect(types.slice(requested)).not.toContain('tool.call.proposed');
  });
});

describe('suspend and resume of a run', () => {
  it('hold what is allowed and not sent, keep decisions of people, and go on where they were', async () => {
    const run = newRun();
    const asked = await propose(run, 'demo.pay', 900);
    const { runId } = asked.body;
    expect((await harness.control({ type: 'suspend', target: { runId } })).status).toBe(202);
    expect((await runOf(runId)).status).toBe('suspended');
    expectProblem(await propose(run, 'demo.slow', 901), 'run_suspended');
    expect((await lena.decide(approvalIdOf(asked), 'allow')).body.status).toBe('granted');
    await pause(700);
    expect((await harness.call(asked.body.toolCallId)).body.status).toBe('authorized');
    expectProblem(await harness.control({ type: 'suspend', target: { runId } }), 'run_suspended');
    await stack.restart('SIGKILL');
    await pause(700);
    expect((await harness.call(asked.body.toolCallId)).body.status).toBe('authorized');
    expect((await harness.control({ type: 'resume', target: { runId } })).status).toBe(202);
    const done = await harness.call(asked.body.toolCallId, 5);
    expect(done.body).toMatchObject({ status: 'completed', attempt: 1 });
    expect(sentBy('/demo.pay', 900)).toHaveLength(1);
    expectProblem(await harness.control({ type: 'resume', target: { runId } }), 'run_already_active');
  });

  it('say what a resume is of: a decision needs its words, a run takes none', async () => {
    const asked = await propose(newRun(), 'demo.pay', 910);
    const target = { approvalId: approvalIdOf(asked) };
    expectProblem(await lena.control({ type: 'resume', target, decision: 'allow' }), 'invalid_request');
    expectProblem(
      await harness.control({ type: 'resume', target: { runId: asked.body.runId }, decision: 'allow' }),
      'invalid_request',
    );
  });
});
