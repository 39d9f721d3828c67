import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { approvalIdOf, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { TraceCollector, type ReceivedSpan } from '../support/trace-collector.js';
import { until } from '../support/until.js';

const CANARY = 'canary-argument-9Kx2Lm7Q';
const WORDS = { word: { type: 'string' } };
const CALLER_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER_SPAN = '00f067aa0ba902b7';

let collector: TraceCollector;
let stack: Stack;
let harness: Client;
let lena: Client;

beforeAll(async () => {
  collector = await TraceCollector.start();
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.send', WORDS, { timeout: '10s' }),
      ...opaqueManifest('demo.pay', WORDS, { timeout: '10s' }),
    },
    policies: { ...permit('demo.send'), ...ask('demo.pay') },
    env: { COUNTERSIGN_TRACING__OTLP_URL: collector.url, COUNTERSIGN_LOG__LEVEL: 'debug' },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  for (const path of ['/demo.send', '/demo.pay']) stack.tool.behave(path, ({ body }) => jsonAnswer({ said: body }));
});
afterAll(async () => {
  await stack.destroy();
  await collector.stop();
});

const derivedTrace = (toolCallId: string): string => createHash('sha256').update(toolCallId).digest('hex').slice(0, 32);

function complete(toolCallId: string): Promise<readonly ReceivedSpan[]> {
  return until(
    'the whole trace',
    () => collector.of(toolCallId),
    (spans) => ['tool call', 'attempt', 'settle'].every((name) => spans.some((span) => span.name === name)),
  );
}

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const [span] = spans.filter((each) => each.name === name);
  if (span === undefined) throw new Error(`no span ${name} among ${spans.map((each) => each.name).join()}`);
  return span;
};

describe('a traced call', () => {
  it('is one trace from the request to the tool and back, whose id follows from its own', async () => {
    const sent = await harness.propose('demo.send', { word: 'one' });
    const { toolCallId } = sent.body;
    expect(sent.body.status).toBe('completed');
    await complete(toolCallId);
    const spans = collector.spans.filter(({ traceId }) => traceId === derivedTrace(toolCallId));
    const [request, call, attempt] = [
      named(spans, 'POST /v1/tool-calls'),
      named(spans, 'tool call'),
      named(spans, 'attempt'),
    ];
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'POST',
      'POST /v1/tool-calls',
      'attempt',
      'commit',
      'policy evaluation',
      'settle',
      'tool call',
    ]);
    expect(request.parentSpanId).toBeUndefined();
    expect(call.parentSpanId).toBe(request.spanId);
    for (const name of ['policy evaluation', 'commit', 'attempt'])
      expect(named(spans, name).parentSpanId).toBe(call.spanId);
    for (const name of ['POST', 'settle']) expect(named(spans, name).parentSpanId).toBe(attempt.spanId);
    expect(call.attributes).toMatchObject({
      'countersign.capability': 'demo.send@1.0.0',
      'countersign.status': 'completed',
    });
    const received = stack.tool.executions('/demo.send').at(-1);
    expect(received?.headers['traceparent']).toBe(`00-${derivedTrace(toolCallId)}-${named(spans, 'POST').spanId}-01`);
  });

  it('continues the trace of its caller, and its log lines name that trace', async () => {
    const traceparent = `00-${CALLER_TRACE}-${CALLER_SPAN}-01`;
    const sent = await harness.propose('demo.send', { word: 'two' }, { headers: { traceparent } });
    const { toolCallId } = sent.body;
    const spans = await complete(toolCallId);
    const request = await until(
      'the request',
      () =>
        collector.spans.find(
          ({ name, attributes }) =>
            name === 'POST /v1/tool-calls' && attributes['countersign.tool_call_id'] === toolCallId,
        ),
      (span) => span !== undefined,
    );
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([CALLER_TRACE]));
    expect(request).toMatchObject({ parentSpanId: CALLER_SPAN, links: [{ traceId: derivedTrace(toolCallId) }] });
    expect(stack.tool.executions('/demo.send').at(-1)?.headers['traceparent']).toMatch(`00-${CALLER_TRACE}-`);
    const line = stack.output
      .split('\n')
      .find((each) => each.includes('a call has ended') && each.includes(toolCallId));
    expect(JSON.parse(line ?? '')).toMatchObject({ traceId: CALLER_TRACE, toolCallId, status: 'completed' });
  });

  it('that its caller does not sample leaves nothing, and the tool is told so', async () => {
    const traceparent = `00-${CALLER_TRACE}-${CALLER_SPAN}-00`;
    const unsampled = await harness.propose('demo.send', { word: 'three' }, { headers: { traceparent } });
    const after = await harness.propose('demo.send', { word: 'four' });
    await complete(after.body.toolCallId);
    expect(collector.of(unsampled.body.toolCallId)).toEqual([]);
    expect(stack.tool.executions('/demo.send').at(-2)?.headers['traceparent']).toMatch(/-00$/);
  });

  it('waits for people over a restart and goes on in the same trace', async () => {
    const asked = await harness.propose('demo.pay', { word: 'five' }, { wait: 0 });
    const { toolCallId } = asked.body;
    await stack.restart('SIGTERM');
    await lena.decide(approvalIdOf(asked), 'allow');
    await harness.callWhen(toolCallId, ['completed']);
    const spans = await complete(toolCallId);
    expect(spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['approval', 'dispatch', 'attempt', 'settle']),
    );
    const ofTrace = spans.filter(({ name }) => !name.startsWith('POST /v1/approvals'));
    expect(new Set(ofTrace.map(({ traceId }) => traceId))).toEqual(new Set([derivedTrace(toolCallId)]));
    const [call, approval] = [named(spans, 'tool call'), named(spans, 'approval')];
    expect(named(spans, 'dispatch').parentSpanId).toBe(call.spanId);
    expect(call.startTimeUnixNano <= approval.startTimeUnixNano).toBe(true);
    expect(Number(call.endTimeUnixNano) - Number(call.startTimeUnixNano)).toBeGreaterThan(0);
  });

  it('shows ids, words and codes, and never an argument, a reason, a result or a credential', async () => {
    stack.tool.behave('/demo.send', () => ({ status: 422, text: `{"error":"${CANARY}"}` }));
    const headers = { 'x-note': CANARY, tracestate: `vendor=${CANARY}`, baggage: `user=${CANARY}` };
    const refused = await harness.propose('demo.send', { word: CANARY }, { headers, body: { reason: CANARY } });
    const asked = await harness.propose('demo.pay', { word: CANARY }, { wait: 0 });
    await lena.decide(approvalIdOf(asked), 'deny', { reason: CANARY });
    await complete(refused.body.toolCallId);
    await until(
      'the end of the refused call',
      () => collector.of(asked.body.toolCallId),
      (spans) => spans.some(({ name }) => name === 'tool call'),
    );
    expect(named(collector.of(refused.body.toolCallId), 'tool call').attributes['countersign.code']).toBe(
      'rejected_by_tool',
    );
    for (const secret of [CANARY, 'e2e-provider-key', 'eyJ', 'lena'])
      expect(collector.bodies.join()).not.toContain(secret);
    for (const secret of [CANARY, 'e2e-provider-key', 'eyJ']) expect(stack.output).not.toContain(secret);
  });

  it('is not held up by a collector that never answers, nor by one that is gone', async () => {
    stack.tool.behave('/demo.send', () => jsonAnswer({ ok: true }));
    collector.answers = false;
    for (let n = 0; n < 20; n += 1) {
      expect((await harness.propose('demo.send', { word: `slow ${n}` })).body.status).toBe('completed');
    }
    await collector.stop();
    expect((await harness.propose('demo.send', { word: 'gone' })).body.status).toBe('completed');
    await until(
      'dropped spans',
      async () => (await (await stack.as(CAST.operator)).get('/metrics')).text,
      (text) => /countersign_spans_total\{fate="dropped"\} [1-9]/.test(text),
    );
    expect(stack.output).toContain('the trace collector does not take spans');
  });
});
