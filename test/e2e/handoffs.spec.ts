import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import { opaqueManifest, permit, probeableManifest } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

let stack: Stack;
let harness: Client;
let operator: Client;
let amount = 0;

beforeAll(async () => {
  const { 'demo.vague.yaml': vague } = probeableManifest('demo.vague', { amount: { type: 'integer' } });
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.wire', { amount: { type: 'integer' } }),
      // Its look-ups never say anything, and there are three of them.
      'demo.vague.yaml': (vague ?? '')
        .replace('"/effects"', '"/nothing"')
        .replace('"budget": "1m"', '"budget": "1m", "attemptsMax": 2'),
    },
    policies: { ...permit('demo.wire'), ...permit('demo.vague') },
  });
  harness = await stack.as(CAST.harness);
  operator = await stack.as(CAST.operator);
  stack.tool.behave('/nothing', () => jsonAnswer({ error: 'later' }, 503));
});
afterAll(() => stack.destroy());

async function handedOff(capability = 'demo.wire'): Promise<ToolCallRepresentation> {
  amount += 1;
  stack.tool.behave(`/${capability}`, () => ({ reset: true }));
  const sent = await harness.propose(capability, { amount }, { wait: 0 });
  return harness.callWhen(sent.body.toolCallId, ['manual_handoff', 'completed', 'failed']);
}

const resolve = (toolCallId: string, body: object, client = operator) =>
  client.post<ToolCallRepresentation>(`/v1/tool-calls/${toolCallId}/resolution`, body);

const executions = () =>
  stack.tool.executions('/demo.wire').filter(({ body }) => body === JSON.stringify({ amount })).length;

describe('a call whose effect cannot be looked up', () => {
  it('is handed to an operator when its result is unknown, and never sent again', async () => {
    const call = await handedOff();
    expect(call).toMatchObject({
      status: 'manual_handoff',
      waitingFor: 'operator',
      mayHaveHappened: true,
      retryAllowed: false,
      resolution: null,
      error: { effect: 'unknown' },
    });
    expect(call.guidance).toMatch(/a person is finding out; do not call again/);
    expectProblem(
      await operator.control({ type: 'retry', target: { toolCallId: call.toolCallId } }),
      'retry_not_allowed',
    );
    expect(executions()).toBe(1);
    const types = eventsOf(stack.dataDir, 'tool_call_id', call.toolCallId).map(({ event_type: type }) => type);
    expect(types).toContain('manual.handoff_opened');
    const listed = await operator.get<{ items: ToolCallRepresentation[] }>(
      '/v1/tool-calls?status=needs-reconciliation',
    );
    expect(listed.body.items.map(({ toolCallId }) => toolCallId)).toContain(call.toolCallId);
  });

  it('answers whoever waits, with 200: nothing moves until a person speaks', async () => {
    amount += 1;
    stack.tool.behave('/demo.wire', () => ({ reset: true }));
    const answer = await harness.propose('demo.wire', { amount }, { wait: 20 });
    expect(answer.status).toBe(200);
    expect(answer.body.status).toBe('manual_handoff');
  });
});

describe('look-ups that never say anything', () => {
  it('end, and a person is asked', async () => {
    const call = await handedOff('demo.vague');
    expect(call).toMatchObject({ status: 'manual_handoff', error: { code: 'attempts_exhausted', effect: 'unknown' } });
    expect(stack.tool.executions('/demo.vague')).toHaveLength(1);
  });
});

describe('the finding of a handoff', () => {
  it('needs an operator, evidence, and one of four words', async () => {
    const { toolCallId } = await handedOff();
    const finding = { finding: 'happened', evidenceRefs: ['ticket-1'] };
    expectProblem(await resolve(toolCallId, finding, harness), 'not_authorized');
    expectProblem(await resolve(toolCallId, finding, await stack.as(CAST.lena)), 'not_authorized');
    expectProblem(await resolve(toolCallId, finding, await stack.as(CAST.elsewhereOperator)), 'tool_call_not_found');
    expectProblem(await resolve(toolCallId, { finding: 'happened', evidenceRefs: [] }), 'evidence_required');
    expectProblem(await resolve(toolCallId, { finding: 'maybe', evidenceRefs: ['x'] }), 'invalid_request');
    expectProblem(await resolve(toolCallId, { finding: 'happened' }), 'invalid_request');
    expect((await harness.call(toolCallId)).body).toMatchObject({ waitingFor: 'operator', resolution: null });
  });

  it('that it happened closes the intent and forbids a retry', async () => {
    const { toolCallId, arguments: args } = await handedOff();
    const open = await harness.propose('demo.wire', args);
    expect(expectProblem(open, 'outstanding_identical_intent').toolCallId).toBe(toolCallId);
    const resolved = await resolve(toolCallId, {
      finding: 'happened',
      evidenceRefs: ['statement-7'],
      note: 'seen on the statement',
    });
    expect(resolved.status).toBe(200);
    expect(resolved.body).toMatchObject({
      status: 'manual_handoff',
      waitingFor: null,
      mayHaveHappened: true,
      retryAllowed: false,
      resolution: { finding: 'happened', evidenceRefs: ['statement-7'] },
    });
    expectProblem(await operator.control({ type: 'retry', target: { toolCallId } }), 'retry_not_allowed');
    stack.tool.behave('/demo.wire', () => jsonAnswer(null));
    expect((await harness.propose('demo.wire', args)).body.status).toBe('completed');
  });

  it('that it did not happen, with evidence, allows one retry of the same call', async () => {
    const { toolCallId } = await handedOff();
    const resolved = await resolve(toolCallId, { finding: 'not_happened', evidenceRefs: ['bank-call-3'] });
    expect(resolved.body).toMatchObject({ mayHaveHappened: false, retryAllowed: true });
    stack.tool.behave('/demo.wire', () => jsonAnswer({ ok: true }));
    expect((await harness.control({ type: 'retry', target: { toolCallId } })).status).toBe(202);
    expect((await harness.call(toolCallId, 10)).body).toMatchObject({ status: 'completed', attempt: 2 });
    expect(executions()).toBe(2);
    expectProblem(await harness.control({ type: 'retry', target: { toolCallId } }), 'retry_not_allowed');
  });

  it.each(['partial', 'unknowable'] as const)('%s forbids a retry and ends the waiting', async (finding) => {
    const { toolCallId } = await handedOff();
    const resolved = await resolve(toolCallId, { finding, evidenceRefs: ['e1'] });
    expect(resolved.body).toMatchObject({ waitingFor: null, mayHaveHappened: true, retryAllowed: false });
    expectProblem(await operator.control({ type: 'retry', target: { toolCallId } }), 'retry_not_allowed');
  });

  it('is made once, and only where there is a handoff', async () => {
    const { toolCallId } = await handedOff();
    const finding = { finding: 'happened', evidenceRefs: ['e1'] };
    expect((await resolve(toolCallId, finding)).status).toBe(200);
    const again = expectProblem(await resolve(toolCallId, { ...finding, finding: 'not_happened' }), 'handoff_not_open');
    expect((await operator.command(again.commandId ?? '')).body).toMatchObject({
      status: 'rejected',
      code: 'handoff_not_open',
    });
    expect((await harness.call(toolCallId)).body.resolution?.finding).toBe('happened');
    const read = await harness.propose('order.read', { orderId: 'ord_1001' }, { key: null });
    expectProblem(await resolve(read.body.toolCallId, finding), 'handoff_not_open');
    expectProblem(await resolve('call_never', finding), 'tool_call_not_found');
  });
});
