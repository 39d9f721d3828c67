import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import { ask, cancelBlock, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { jsonAnswer, rejection } from '../support/fake-tool.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const AMOUNT = { amount: { type: 'integer' } };
const COMPENSATION = {
  compensation: {
    capability: 'demo.credit',
    arguments: { charge: { from: 'result', at: '/chargeId' }, amount: { from: 'arguments', at: '/amount' } },
  },
};

let stack: Stack;
let harness: Client;
let lena: Client;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.charge', AMOUNT, COMPENSATION),
      ...opaqueManifest('demo.credit', { charge: { type: 'string' }, ...AMOUNT }),
      ...opaqueManifest('demo.plain', AMOUNT),
      ...opaqueManifest('demo.hold', AMOUNT, { timeout: '10s', ...cancelBlock('demo.hold') }),
    },
    policies: { ...permit('demo.charge'), ...ask('demo.credit'), ...permit('demo.plain'), ...permit('demo.hold') },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  stack.tool.behave('/demo.charge', ({ body }) =>
    body === '{"amount":13}' ? rejection() : jsonAnswer({ chargeId: `c-${body.length}` }),
  );
});
afterAll(() => stack.destroy());

const undo = (toolCallId: string, client: Client = harness) =>
  client.post<ToolCallRepresentation>(`/v1/tool-calls/${toolCallId}/compensation`, { reason: 'charged twice' });

describe('a compensation', () => {
  it('is a call of its own: judged, countersigned, sent once; the original stays and the two name each other', async () => {
    const charge = await harness.propose('demo.charge', { amount: 5 });
    const before = charge.body;
    expect(before.status).toBe('completed');
    const asked = await undo(before.toolCallId);
    expect(asked.status).toBe(202);
    expect(asked.body).toMatchObject({
      status: 'proposed',
      waitingFor: 'approval',
      capability: 'demo.credit',
      arguments: { charge: 'c-12', amount: 5 },
      compensates: before.toolCallId,
      runId: before.runId,
    });
    expect(stack.tool.executions('/demo.credit')).toEqual([]);
    await lena.decide(approvalIdOf(asked), 'allow');
    expect((await harness.call(asked.body.toolCallId, 10)).body.status).toBe('completed');
    expect(stack.tool.executions('/demo.credit').map(({ body }) => body)).toEqual(['{"amount":5,"charge":"c-12"}']);
    const after = (await harness.call(before.toolCallId)).body;
    const { updatedAt: _, position: __, ...same } = before;
    expect(after).toMatchObject({ ...same, compensatedBy: asked.body.toolCallId });
    const types = eventsOf(stack.dataDir, 'tool_call_id', before.toolCallId).map(({ event_type: type }) => type);
    expect(types.at(-1)).toBe('compensation.requested');
  });

  it('of one call is one call, however often and by whomever it is asked for', async () => {
    const charge = await harness.propose('demo.charge', { amount: 6 });
    const operator = await stack.as(CAST.operator);
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => undo(charge.body.toolCallId, n % 2 ? harness : operator)),
    );
    const ids = new Set(answers.map(({ body }) => body.toolCallId));
    expect(ids.size).toBe(1);
    const again = await undo(charge.body.toolCallId);
    expect([again.body.toolCallId, again.headers.get('idempotent-replayed')]).toEqual([[...ids][0], 'true']);
  });

  it('never happens by itself, and never to what is not on record', async () => {
    const failed = await harness.propose('demo.charge', { amount: 13 });
    expect(failed.body.status).toBe('failed');
    expectProblem(await undo(failed.body.toolCallId), 'compensation_not_possible');
    const plain = await harness.propose('demo.plain', { amount: 1 });
    expectProblem(await undo(plain.body.toolCallId), 'compensation_not_declared');
    expectProblem(await undo('call_never'), 'tool_call_not_found');
    expectProblem(await undo(plain.body.toolCallId, await stack.as(CAST.otherHarness)), 'tool_call_not_found');
    stack.tool.behave('/demo.charge', () => ({ reset: true }));
    const unknown = await harness.propose('demo.charge', { amount: 7 });
    expect(unknown.body.mayHaveHappened).toBe(true);
    expectProblem(await undo(unknown.body.toolCallId), 'compensation_not_possible');
    expect(stack.tool.executions('/demo.credit')).toHaveLength(1);
  });
});

describe('cancel of one call on the wire', () => {
  it('asks the tool once, shows the wish as a wish, and leaves the run alone', async () => {
    stack.tool.behave('/demo.hold', () => ({ ...rejection(409), delayMs: 1_500 }));
    stack.tool.behave('/demo.hold.cancel', () => ({ status: 204, text: '', delayMs: 500 }));
    const call = await harness.propose('demo.hold', { amount: 1 }, { wait: 0, headers: { 'run-id': 'on-the-wire' } });
    const { toolCallId, runId } = call.body;
    const command = { type: 'cancel', target: { toolCallId }, commandId: 'cancel-on-the-wire' };
    const answer = await harness.control(command);
    expect(answer.status).toBe(202);
    expect((await harness.call(toolCallId)).body).toMatchObject({
      mayHaveHappened: true,
      cancellation: { status: 'requested' },
    });
    expect((await harness.control(command)).body).toEqual(answer.body);
    const end = await until(
      'it is cancelled',
      async () => (await harness.call(toolCallId)).body,
      ({ status }) => status === 'failed',
    );
    expect(end).toMatchObject({
      error: { code: 'cancelled', effect: 'none' },
      cancellation: { status: 'confirmed' },
      mayHaveHappened: false,
    });
    expect(stack.tool.executions('/demo.hold.cancel')).toHaveLength(1);
    expect((await harness.get(`/v1/runs/${runId}`)).body).toMatchObject({ status: 'running', stop: null });
    expectProblem(await harness.control({ type: 'retry', target: { toolCallId } }), 'retry_not_allowed');
  });

  it('that a restart cut off is never told twice: the answer is missing, and that is what is said', async () => {
    stack.tool.behave('/demo.hold', () => ({ ...jsonAnswer({ ok: true }), delayMs: 8_000 }));
    stack.tool.behave('/demo.hold.cancel', () => ({ status: 204, text: '', delayMs: 900 }));
    const before = stack.tool.executions('/demo.hold.cancel').length;
    const call = await harness.propose('demo.hold', { amount: 2 }, { wait: 0 });
    await harness.control({ type: 'cancel', target: { toolCallId: call.body.toolCallId } });
    await until(
      'the tool is asked',
      () => stack.tool.executions('/demo.hold.cancel').length,
      (n) => n > before,
    );
    await stack.restart('SIGKILL');
    const left = await until(
      'it is said',
      async () => (await harness.call(call.body.toolCallId)).body,
      ({ status }) => status === 'manual_handoff',
    );
    expect(left.mayHaveHappened).toBe(true);
    const types = eventsOf(stack.dataDir, 'tool_call_id', call.body.toolCallId).map(({ event_type: type }) => type);
    expect(types).toContain('tool.call.result_unknown');
    expect(types).not.toContain('tool.cancelled');
    expect(stack.tool.executions('/demo.hold.cancel')).toHaveLength(before + 1);
  });
});
