import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import type { StatementReceipt, ReceiptRepresentation } from '../../src/client/contract/late-evidence.js';
import { opaqueManifest, permit, probeableManifest } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { jsonAnswer, type FakeAnswer } from '../support/fake-tool.js';
import { expectProblem, type Answer, type Client } from '../support/http-client.js';
import { CALLBACK, CALLBACK_ENV, CALLBACK_SECRET, jobManifest, signedCallback } from '../support/late-results.js';
import { refundManifest } from '../support/quick-refund.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const ENDS = ['completed', 'failed', 'manual_handoff'];
const UNKNOWN = ['result_unknown', 'reconciling'];
const CONNECTOR = { sub: 'bank', roles: ['connector'] };

let stack: Stack;
let harness: Client;
let operator: Client;
let nobody: Client;
let amount = 0;
let ids = 0;

const NAMES = [
  'demo.job',
  'demo.early',
  'demo.brief',
  'demo.books',
  'demo.silent',
  'refund.late',
  'refund.polled',
  'refund.replay',
];

beforeAll(async () => {
  const refund = (name: string, changes: object): object => {
    const manifest = JSON.parse(refundManifest(name)[`${name}.yaml`] ?? '') as Record<string, unknown>;
    return { [`${name}.yaml`]: JSON.stringify({ ...manifest, ...changes }) };
  };
  const { 'demo.silent.yaml': silent } = probeableManifest('demo.silent', { amount: { type: 'integer' } });
  stack = await Stack.start({
    capabilities: {
      ...jobManifest('demo.job'),
      ...jobManifest('demo.early', { timeout: '8s' }),
      ...jobManifest('demo.brief', { callback: { ...CALLBACK, budget: '1s' } }),
      ...opaqueManifest(
        'demo.books',
        { amount: { type: 'integer' } },
        {
          idempotency: { header: 'Idempotency-Key' },
          onAmbiguous: 'reconcile',
          statement: { budget: '1h' },
        },
      ),
      'demo.silent.yaml': (silent ?? '').replace('"/effects"', '"/nothing"'),
      ...refund('refund.late', {
        probe: null,
        pending: { status: [202], referenceAt: '/refundId' },
        lateResult: 'callback',
        callback: {
          ...CALLBACK,
          happenedWhen: ['refund.succeeded'],
          failedWhen: ['refund.failed'],
          pendingWhen: ['refund.processing'],
          referenceAt: '/data/refundId',
          keyAt: '/data/idempotencyKey',
        },
      }),
      ...refund('refund.polled', {
        pending: { status: [202], referenceAt: '/refundId' },
        lateResult: 'poll',
        timeout: '20s',
      }),
      ...refund('refund.replay', {
        effect: 'replay_by_key',
        probe: null,
        idempotency: { header: 'Idempotency-Key', keyRetention: '24h', replayAsProbe: true },
      }),
    },
    policies: Object.assign({}, ...NAMES.map(permit)) as Record<string, string>,
    env: CALLBACK_ENV,
  });
  harness = await stack.as(CAST.harness);
  operator = await stack.as(CAST.operator);
  nobody = stack.withToken(null);
  stack.tool.behave('/nothing', () => jsonAnswer({ error: 'later' }, 503));
});
afterEach(() => stack.provider.heal());
afterAll(() => stack.destroy());

interface Job {
  readonly call: ToolCallRepresentation;
  /** What the tool knows it by. */
  readonly key: string;
}

/** Proposes, and gives the call once it is in one of the statuses. */
async function job(capability: string, answer: FakeAnswer, statuses: readonly string[]): Promise<Job> {
  amount += 1;
  const own = JSON.stringify({ amount });
  stack.tool.behave(`/${capability}`, () => answer);
  const sent = await harness.propose(capability, { amount }, { wait: 0 });
  const call = await harness.callWhen(sent.body.toolCallId, statuses);
  const request = stack.tool.executions(`/${capability}`).find(({ body }) => body === own);
  return { call, key: request?.key ?? '' };
}

const accepted = (ref: string): FakeAnswer => jsonAnswer({ ref }, 202);

function callBack(
  path: string,
  type: string,
  data: object,
  { id, client = nobody, secret }: { readonly id?: string; readonly client?: Client; readonly secret?: string } = {},
): Promise<Answer<ReceiptRepresentation>> {
  ids += 1;
  const signed = signedCallback(id ?? `cb-${ids}`, { type, data }, secret === undefined ? {} : { secret });
  return client.post(path, undefined, { raw: signed.body, headers: signed.headers });
}

const pathOf = ({ key }: Job): string => `/v1/tool-calls/${key}/callback`;
const typesOf = (id: string): string[] =>
  eventsOf(stack.dataDir, 'tool_call_id', id).map(({ event_type: type }) => type);

describe('a tool that tells the end afterwards', () => {
  it('ends the call with its signed callback, long after the attempt was over, however often it repeats itself', async () => {
    await stack.provider.callBackTo(`${stack.proxy.url}/v1/tool-calls/{idempotencyKey}/callback`, CALLBACK_SECRET);
    const orderId = await stack.provider.order();
    await stack.provider.inject({ accept202: true, completeAfterMs: 1_200, callbackCopies: 3, orderId, times: 1 });
    const sent = await harness.propose('refund.late', { orderId, amountMinor: 500 }, { wait: 0 });
    const { toolCallId } = sent.body;
    const call = await harness.callWhen(toolCallId, ENDS);
    expect(call).toMatchObject({ status: 'completed', result: { orderId, status: 'succeeded' }, contradicted: false });
    const ignored = (): number => typesOf(toolCallId).filter((type) => type === 'tool.call.callback_ignored').length;
    await until('the repetition is on record', ignored, (count) => count === 1);
    expect(typesOf(toolCallId).filter((type) => type === 'tool.call.completed')).toHaveLength(1);
    expect(typesOf(toolCallId)).not.toContain('tool.call.result_unknown');
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
  });

  it('fails the call where it says so, in whatever order it says what', async () => {
    const orderId = await stack.provider.order();
    await stack.provider.inject({
      accept202: true,
      completeAfterMs: 300,
      completeAs: 'failed',
      callbackProcessing: 'after',
      orderId,
    });
    const { body } = await harness.propose('refund.late', { orderId, amountMinor: 500 }, { wait: 0 });
    const call = await harness.callWhen(body.toolCallId, ENDS);
    expect(call).toMatchObject({ status: 'failed', error: { code: 'failed_at_tool', effect: 'none' } });
    expect(call.retryAllowed).toBe(false);
    expect(await stack.provider.executionsOf(orderId)).toBe(0);
  });

  it('is asked where the manifest says so, and the call ends as accepted calls end', async () => {
    const orderId = await stack.provider.order();
    await stack.provider.inject({ accept202: true, completeAfterMs: 1_200, orderId, times: 1 });
    const sent = await harness.propose('refund.polled', { orderId, amountMinor: 500 }, { wait: 0 });
    const { toolCallId } = sent.body;
    await harness.callWhen(toolCallId, ['accepted']);
    const call = await harness.callWhen(toolCallId, ENDS);
    expect(call).toMatchObject({ status: 'completed', result: { orderId, status: 'succeeded' } });
    expect(typesOf(toolCallId).slice(-2)).toEqual(['tool.call.accepted', 'tool.call.completed']);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
  });

  it('settles a call whose result is unknown, with the callback as evidence', async () => {
    const one = await job('demo.job', { reset: true }, ['reconciling']);
    expect(one.call.reconciliation).toMatchObject({ strategy: 'await_callback', attempts: 0 });
    const receipt = await callBack(pathOf(one), 'job.done', { key: one.key, ref: 'r-1', paid: 7 });
    expect(receipt).toMatchObject({ status: 202, body: { status: 'recorded', toolCallId: one.call.toolCallId } });
    const call = await harness.callWhen(one.call.toolCallId, ENDS);
    expect(call).toMatchObject({ status: 'completed', result: { paid: 7 } });
    expect(typesOf(call.toolCallId).slice(-3)).toEqual([
      'tool.call.callback_received',
      'reconciliation.resolved',
      'tool.call.completed',
    ]);
    expect(stack.tool.executions('/demo.job').filter(({ key }) => key === one.key)).toHaveLength(1);
  });

  it('is waited for as long as the manifest says, and then a person is asked', async () => {
    const one = await job('demo.brief', { reset: true }, ENDS);
    expect(one.call).toMatchObject({ status: 'manual_handoff', error: { code: 'deadline_passed' } });
    const taken = await job('demo.brief', accepted('r-slow'), ENDS);
    expect(taken.call).toMatchObject({ status: 'manual_handoff', error: { code: 'deadline_passed' } });
    await callBack(pathOf(taken), 'job.done', { key: taken.key, ref: 'r-slow' });
    const call = (await harness.call(taken.call.toolCallId)).body;
    expect(call).toMatchObject({ status: 'manual_handoff', contradicted: false, resolution: null });
    expect(typesOf(call.toolCallId).at(-1)).toBe('tool.call.callback_received');
  });

  it('may tell it before anybody knows whose it is', async () => {
    stack.tool.behave('/demo.early', () => ({ ...accepted('r-early'), delayMs: 300 }));
    amount += 1;
    const sent = await harness.propose('demo.early', { amount }, { wait: 0 });
    const early = await callBack('/v1/callbacks/demo.early', 'job.done', { ref: 'r-early', paid: 3 });
    expect(early).toMatchObject({ status: 202, body: { status: 'unmatched', toolCallId: null } });
    const call = await harness.callWhen(sent.body.toolCallId, ENDS);
    expect(call).toMatchObject({ status: 'completed', result: { paid: 3 } });
  });

  it('is heard after a restart, whether it called before or while nobody listened', async () => {
    const one = await job('demo.job', accepted('r-2'), ['accepted']);
    await callBack('/v1/callbacks/demo.job', 'job.running', { ref: 'r-2' });
    await stack.restart('SIGKILL');
    expect((await harness.call(one.call.toolCallId)).body.status).toBe('accepted');
    await callBack('/v1/callbacks/demo.job', 'job.done', { ref: 'r-2', paid: 1 });
    expect(await harness.callWhen(one.call.toolCallId, ENDS)).toMatchObject({ status: 'completed' });
  });
});

describe('a callback that cannot be trusted', () => {
  it('changes nothing and learns nothing, whatever is wrong with it', async () => {
    const one = await job('demo.job', { reset: true }, ['reconciling']);
    const data = { key: one.key, ref: 'r-x' };
    const other = `whsec_${Buffer.from('some other thirty-two byte secret').toString('base64')}`;
    const stale = signedCallback('cb-old', { type: 'job.done', data }, { at: new Date(Date.now() - 600_000) });
    const right = signedCallback('cb-changed', { type: 'job.failed', data });
    const connector = await stack.as({ ...CONNECTOR, tenant: 'umbrella' });
    const refused = await Promise.all([
      callBack(pathOf(one), 'job.done', data, { secret: other }),
      callBack('/v1/tool-calls/call_unknown/callback', 'job.done', data),
      callBack('/v1/callbacks/order.read', 'job.done', data),
      callBack(pathOf(one), 'job.done', data, { client: connector }),
      nobody.post(pathOf(one), undefined, { raw: stale.body, headers: stale.headers }),
      nobody.post(pathOf(one), undefined, { raw: right.body.replace('failed', 'done'), headers: right.headers }),
      nobody.post(pathOf(one), { type: 'job.done', data }),
    ]);
    for (const answer of refused) expectProblem(answer, 'callback_unauthenticated');
    expectProblem(await callBack(pathOf(one), 'job.done', data, { client: harness }), 'not_authorized');
    const big = await callBack(pathOf(one), 'job.done', { ...data, more: 'x'.repeat(300_000) });
    expectProblem(big, 'payload_too_large');
    const call = (await harness.call(one.call.toolCallId)).body;
    expect(UNKNOWN).toContain(call.status);
    expect(typesOf(call.toolCallId)).not.toContain('tool.call.callback_received');
  });

  it('is about no call when its body and its address name two', async () => {
    const one = await job('demo.job', { reset: true }, ['reconciling']);
    const two = await job('demo.job', { reset: true }, ['reconciling']);
    const answer = await callBack(pathOf(one), 'job.done', { key: two.key });
    expect(answer.body).toMatchObject({ status: 'unmatched' });
    for (const { call } of [one, two]) expect((await harness.call(call.toolCallId)).body.status).toBe('reconciling');
  });

  it('is taken once for each id, whatever the second body says', async () => {
    const one = await job('demo.job', { reset: true }, ['reconciling']);
    await callBack(pathOf(one), 'job.running', { key: one.key }, { id: 'cb-same' });
    const second = await callBack(pathOf(one), 'job.done', { key: one.key }, { id: 'cb-same' });
    expect(second).toMatchObject({ status: 200, body: { status: 'duplicate' } });
    expect((await harness.call(one.call.toolCallId)).body.status).toBe('reconciling');
  });
});

describe('evidence that says otherwise than the record', () => {
  it('never changes the end, forbids a retry, and is shown wherever people look', async () => {
    const one = await job('demo.job', jsonAnswer({ error: 'no' }, 422), ['failed']);
    expect(one.call.retryAllowed).toBe(true);
    await callBack(pathOf(one), 'job.done', { key: one.key });
    const contradicted = await until(
      'the contradiction',
      () => harness.call(one.call.toolCallId),
      ({ body }) => body.contradicted,
    );
    expect(contradicted.body).toMatchObject({ status: 'failed', mayHaveHappened: true, retryAllowed: false });
    expectProblem(
      await harness.control({ type: 'retry', target: { toolCallId: one.call.toolCallId } }),
      'retry_not_allowed',
    );
    const listed = await operator.get<{ items: ToolCallRepresentation[] }>('/v1/tool-calls?status=contradicted');
    expect(listed.body.items.map(({ toolCallId }) => toolCallId)).toEqual([one.call.toolCallId]);
    const ready = await nobody.get('/readyz');
    const reason = { name: 'contradicted_calls', severity: 'degraded', detail: expect.stringMatching(/^1 ended/) };
    expect(ready).toMatchObject({ status: 200, body: { ready: true, reasons: [reason] } });
    expect(stack.tool.executions('/demo.job').filter(({ key }) => key === one.key)).toHaveLength(1);
  });
});

describe('lines of a statement', () => {
  const post = (statementId: string, lines: object[], client = operator): Promise<Answer<StatementReceipt>> =>
    client.post('/v1/statements', { statementId, capability: 'demo.books', lines });

  it('settle the calls they name, are kept where they name none, and count once', async () => {
    const one = await job('demo.books', { reset: true }, ['reconciling']);
    expect(one.call.reconciliation).toMatchObject({ strategy: 'statement_match' });
    const lines = [
      { lineId: '1', finding: 'happened', downstreamKey: one.key, effect: { booked: 5 } },
      { lineId: '2', finding: 'happened', reference: 'nobody-knows' },
    ];
    const connector = await stack.as(CONNECTOR);
    const first = await post('2031-01', lines, connector);
    expect(first.body.lines.map(({ status }) => status)).toEqual(['recorded', 'unmatched']);
    const again = await post('2031-01', lines, connector);
    expect(again.body.lines.map(({ status }) => status)).toEqual(['duplicate', 'duplicate']);
    expect(await harness.callWhen(one.call.toolCallId, ENDS)).toMatchObject({
      status: 'completed',
      result: { booked: 5 },
    });
  });

  it('come from operators and connectors of the same tenant, about capabilities that take them', async () => {
    const one = await job('demo.books', { reset: true }, ['reconciling']);
    const lines = [{ lineId: '1', finding: 'failed', downstreamKey: one.key }];
    expectProblem(await post('x', lines, harness), 'not_authorized');
    const elsewhere = await post('x', lines, await stack.as(CAST.elsewhereOperator));
    expect(elsewhere.body.lines).toEqual([{ id: '1', status: 'unmatched', toolCallId: null }]);
    expect((await harness.call(one.call.toolCallId)).body.status).toBe('reconciling');
    expectProblem(
      await operator.post('/v1/statements', { statementId: 'x', capability: 'demo.job', lines }),
      'statement_not_supported',
    );
    expectProblem(await post('x', [{ lineId: '1', finding: 'happened' }]), 'invalid_request');
  });
});

describe('asking by the identical request', () => {
  it('hears what became of the first, with the same bytes and key, and nothing happens twice', async () => {
    const orderId = await stack.provider.order();
    await stack.provider.inject({ resetAfterEffect: true, orderId, times: 1 });
    const sent = await harness.propose('refund.replay', { orderId, amountMinor: 500 }, { wait: 0 });
    const call = await harness.callWhen(sent.body.toolCallId, ENDS);
    expect(call).toMatchObject({ status: 'completed', attempt: 1 });
    const requests = await stack.provider.requestsOf(orderId);
    expect(requests).toHaveLength(2);
    expect(new Set(requests.map(({ body, headers }) => `${headers['idempotency-key']} ${body}`)).size).toBe(1);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
    expect(typesOf(call.toolCallId).filter((type) => type === 'tool.call.dispatching')).toHaveLength(1);
  });
});

describe('a process that is killed while it looks for a result', () => {
  it('goes on counting where it was, and sends nothing', async () => {
    const one = await job('demo.silent', { reset: true }, ['reconciling']);
    const before = await until(
      'three look-ups',
      () => harness.call(one.call.toolCallId),
      ({ body }) => (body.reconciliation?.attempts ?? 0) >= 3,
    );
    await stack.restart('SIGKILL');
    const attempts = before.body.reconciliation?.attempts ?? 0;
    const after = await until(
      'one look-up more',
      () => harness.call(one.call.toolCallId),
      ({ body }) => (body.reconciliation?.attempts ?? 0) > attempts,
    );
    expect(after.body.reconciliation?.deadline).toBe(before.body.reconciliation?.deadline);
    expect(typesOf(one.call.toolCallId).filter((type) => type === 'reconciliation.started')).toHaveLength(1);
    expect(stack.tool.executions('/demo.silent')).toHaveLength(1);
  });
});
