import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
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
      ...opaqueManifest('demo.single', AMOUNT, { concurrency: 1, timeout: '10s' }),
    },
    policies: { ...ask('demo.pay'), ...permit('demo.single') },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  operator = await stack.as(CAST.operator);
});
afterAll(() => stack.destroy());

const cancel = (client: Client, toolCallId: string, more: object = {}) =>
  client.control({ type: 'cancel', target: { toolCallId }, ...more });

const typesOf = (toolCallId: string): string[] =>
  eventsOf(stack.dataDir, 'tool_call_id', toolCallId).map(({ event_type: type }) => type);

describe('cancel', () => {
  it('ends a call that waits for people, closes its approval and leaves the run alone', async () => {
    const proposed = await harness.propose('demo.pay', { amount: 1 }, { wait: 0 });
    const answer = await cancel(harness, proposed.body.toolCallId, { reason: 'changed my mind' });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ status: 'accepted', links: { self: `/v1/control/${answer.body.commandId}` } });
    const call = (await harness.call(proposed.body.toolCallId)).body;
    expect(call).toMatchObject({
      status: 'not_executed',
      waitingFor: null,
      error: { code: 'cancelled', effect: 'none' },
      approval: { status: 'closed' },
      mayHaveHappened: false,
    });
    const command = (await harness.command(answer.body.commandId)).body;
    expect(command).toMatchObject({ type: 'cancel', status: 'accepted', code: null });
    const caused = eventsOf(stack.dataDir, 'command_id', answer.body.commandId).map(({ event_type: type }) => type);
    expect(caused).toEqual(['control.accepted', 'approval.closed', 'tool.call.not_executed']);
    expect(command.eventIds).toHaveLength(caused.length);
    expect((await harness.get(`/v1/runs/${call.runId}`)).body).toMatchObject({ status: 'running', openCalls: 0 });
  });

  it('is final: a late yes is refused, and nothing runs, also after a restart', async () => {
    const proposed = await harness.propose('demo.pay', { amount: 2 }, { wait: 0 });
    const { digest } = (await lena.approval(approvalIdOf(proposed))).body;
    await cancel(harness, proposed.body.toolCallId);
    const yes = { decision: 'allow', digest };
    const path = `/v1/approvals/${approvalIdOf(proposed)}/decision`;
    expectProblem(await lena.post(path, yes), 'approval_not_pending');
    const listed = await lena.get<{ items: { approvalId: string }[] }>('/v1/approvals?status=pending');
    expect(listed.body.items.map(({ approvalId }) => approvalId)).not.toContain(approvalIdOf(proposed));
    await stack.restart('SIGKILL');
    expectProblem(await lena.post(path, yes), 'approval_not_pending');
    await pause(700);
    expect((await harness.call(proposed.body.toolCallId)).body.status).toBe('not_executed');
    expect(stack.tool.executions('/demo.pay')).toEqual([]);
  });

  it('ends a call that is allowed and not sent yet', async () => {
    stack.tool.behave('/demo.single', () => ({ text: 'null', delayMs: 1_500 }));
    const running = await harness.propose('demo.single', { amount: 1 }, { wait: 0 });
    const queued = await harness.propose('demo.single', { amount: 2 }, { wait: 0 });
    expect(queued.body.status).toBe('authorized');
    expect((await cancel(operator, queued.body.toolCallId)).status).toBe(202);
    expect((await harness.call(queued.body.toolCallId)).body.status).toBe('not_executed');
    expect((await harness.call(running.body.toolCallId, 10)).body.status).toBe('completed');
    await pause(500);
    expect(stack.tool.executions('/demo.single').map(({ body }) => body)).toEqual(['{"amount":1}']);
  });

  it('ends a call that was granted while calls were paused, and closes the grant', async () => {
    const proposed = await harness.propose('demo.pay', { amount: 3 }, { wait: 0 });
    await operator.control({ type: 'pause', target: { capability: 'demo.pay' } });
    expect((await lena.decide(approvalIdOf(proposed), 'allow')).body.status).toBe('granted');
    expect((await harness.call(proposed.body.toolCallId)).body.status).toBe('authorized');
    expect((await cancel(harness, proposed.body.toolCallId)).status).toBe(202);
    await operator.control({ type: 'unpause', target: { capability: 'demo.pay' } });
    await pause(700);
    expect((await harness.call(proposed.body.toolCallId)).body.status).toBe('not_executed');
    expect((await lena.approval(approvalIdOf(proposed))).body.status).toBe('closed');
    expect(stack.tool.executions('/demo.pay')).toEqual([]);
  });

  it('is refused for what may be on the wire, and the result still counts', async () => {
    stack.tool.behave('/demo.single', () => ({ text: 'null', delayMs: 1_000 }));
    const running = await harness.propose('demo.single', { amount: 3 }, { wait: 0 });
    const refused = expectProblem(await cancel(harness, running.body.toolCallId), 'cancel_not_supported');
    expect(refused.toolCallId).toBe(running.body.toolCallId);
    expect((await harness.command(refused.commandId ?? '')).body).toMatchObject({
      status: 'rejected',
      code: 'cancel_not_supported',
    });
    expect((await harness.call(running.body.toolCallId, 10)).body.status).toBe('completed');
  });

  it('is refused for a call that has ended, and its end never changes', async () => {
    const proposed = await harness.propose('demo.pay', { amount: 4 }, { wait: 0 });
    await lena.decide(approvalIdOf(proposed), 'deny');
    const denied = (await harness.call(proposed.body.toolCallId)).body;
    expectProblem(await cancel(harness, proposed.body.toolCallId), 'tool_call_already_ended');
    expect((await harness.call(proposed.body.toolCallId)).body).toEqual(denied);
    expect(typesOf(proposed.body.toolCallId).at(-1)).toBe('tool.call.denied');
  });

  it('twice under one commandId is one cancel; under two, the second is told that it had ended', async () => {
    const proposed = await harness.propose('demo.pay', { amount: 5 }, { wait: 0 });
    const first = await cancel(harness, proposed.body.toolCallId, { commandId: 'cancel-once' });
    const before = typesOf(proposed.body.toolCallId).length;
    const again = await cancel(harness, proposed.body.toolCallId, { commandId: 'cancel-once' });
    expect(again.status).toBe(202);
    expect(again.body).toEqual(first.body);
    expectProblem(
      await cancel(harness, proposed.body.toolCallId, { commandId: 'cancel-twice' }),
      'tool_call_already_ended',
    );
    expect(typesOf(proposed.body.toolCallId)).toHaveLength(before);
    const other = await harness.propose('demo.pay', { amount: 6 }, { wait: 0 });
    expectProblem(await cancel(harness, other.body.toolCallId, { commandId: 'cancel-once' }), 'command_id_conflict');
    expect((await harness.call(other.body.toolCallId)).body.status).toBe('proposed');
  });

  it('reaches the calls of the own principal only; operators reach all of their tenant', async () => {
    const proposed = await harness.propose('demo.pay', { amount: 7 }, { wait: 0 });
    const { toolCallId } = proposed.body;
    for (const person of [CAST.otherHarness, CAST.lena, CAST.elsewhereHarness, CAST.elsewhereOperator]) {
      expectProblem(await cancel(await stack.as(person), toolCallId), 'tool_call_not_found');
    }
    expectProblem(await cancel(harness, 'call_never'), 'tool_call_not_found');
    expect((await harness.call(toolCallId)).body.status).toBe('proposed');
    expect((await cancel(operator, toolCallId)).status).toBe(202);
  });

  it('races with the yes of a person: one of them wins and the other is told', async () => {
    for (let amount = 100; amount < 110; amount += 1) {
      const proposed = await harness.propose('demo.pay', { amount }, { wait: 0 });
      const { toolCallId } = proposed.body;
      const [yes, no] = await Promise.all([lena.decide(approvalIdOf(proposed), 'allow'), cancel(harness, toolCallId)]);
      const ended = (await harness.call(toolCallId, 10)).body.status;
      expect(['completed', 'not_executed']).toContain(ended);
      const ran = stack.tool.executions('/demo.pay').filter(({ body }) => body === `{"amount":${amount}}`).length;
      expect(ran).toBe(ended === 'completed' ? 1 : 0);
      // A yes may be recorded and then cancelled before anything was sent; a cancelled call never completes.
      expect(no.status).toBe(ended === 'completed' ? 409 : 202);
      expect(yes.status === 200 || ended === 'not_executed').toBe(true);
    }
  });
});
