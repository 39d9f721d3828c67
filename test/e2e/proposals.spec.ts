import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

let stack: Stack;
let harness: Client;
let lena: Client;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.unpermitted'),
      ...opaqueManifest('demo.delete', {
        path: { type: 'string' },
        force: { type: 'boolean', default: true },
        options: {
          type: 'object',
          additionalProperties: false,
          properties: { depth: { type: 'integer', default: 3 } },
          default: {},
        },
      }),
      ...opaqueManifest(
        'demo.order',
        { item: { type: 'string' }, count: { type: 'integer' }, urgent: { type: 'boolean', default: false } },
        {
          inputSchema: {
            type: 'object',
            additionalProperties: false,
            required: ['item'],
            properties: {
              item: { type: 'string' },
              count: { type: 'integer' },
              urgent: { type: 'boolean', default: false },
            },
          },
          idempotency: { callerKeyTemplate: 'order:{args.item}:{intentId}' },
        },
      ),
    },
    policies: { ...ask('demo.delete'), ...permit('demo.order') },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
});
afterAll(() => stack.destroy());

describe('a proposal', () => {
  it('that policy allows runs once and answers with the result', async () => {
    const orderId = await stack.provider.order();
    const answer = await harness.propose('refund.create', { orderId, amountMinor: 1200 });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      status: 'completed',
      waitingFor: null,
      attempt: 1,
      capability: 'refund.create',
      capabilityVersion: '1.0.0',
      result: { orderId, amountMinor: 1200, status: 'succeeded' },
      resultTruncated: false,
      mayHaveHappened: true,
      retryAllowed: false,
      approval: null,
      decision: { outcome: 'allow', determining: ['refunds.create'] },
      outcome: { status: 'not_observed', evidenceRefs: [] },
    });
    expect(answer.headers.get('location')).toBe(`/v1/tool-calls/${answer.body.toolCallId}`);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
    expect((await harness.call(answer.body.toolCallId)).body).toEqual(answer.body);
  });

  it('that policy forbids is a denied call with reasons, and nothing is sent', async () => {
    const orderId = await stack.provider.order();
    const answer = await harness.propose('refund.create', { orderId, amountMinor: 250_000 });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      status: 'denied',
      approval: null,
      mayHaveHappened: false,
      retryAllowed: false,
      error: { code: 'denied', effect: 'none' },
      decision: { outcome: 'deny' },
    });
    expect(answer.body.decision?.determining).toContain('refunds.never-above-1000');
    expect(answer.body.decision?.reasons).toContain('Refunds above 1000.00 are not made by agents at all.');
    expect(await stack.provider.requestsOf(orderId)).toEqual([]);
  });

  it('that no permit covers is denied', async () => {
    const answer = await harness.propose('demo.unpermitted', { text: 'x' });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'denied', decision: { outcome: 'deny', determining: [] } });
    expect(stack.tool.executions('/demo.unpermitted')).toEqual([]);
  });

  it('that needs people says that it waits and for whom, and never looks like an empty success', async () => {
    const orderId = await stack.provider.order();
    const answer = await harness.propose('refund.create', { orderId, amountMinor: 7500 }, { wait: 0 });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      status: 'proposed',
      waitingFor: 'approval',
      result: null,
      mayHaveHappened: false,
      decision: { outcome: 'requires_confirmation' },
      approval: { status: 'pending', executeBy: null, needed: [{ group: 'support-lead', count: 1, have: 0 }] },
    });
    expect(answer.body.guidance).toMatch(/waits for the decision/);
    const read = await harness.call(answer.body.toolCallId);
    expect(read.status).toBe(202);
    expect(read.body).toMatchObject({ status: 'proposed', waitingFor: 'approval' });
    expect(read.body.links['approval']).toBe(`/v1/approvals/${approvalIdOf(answer)}`);
    expect(await stack.provider.requestsOf(orderId)).toEqual([]);
  });
});

describe('the idempotency key', () => {
  it('names one call: the same arguments in another key order are the same call, whatever its state', async () => {
    const orderId = await stack.provider.order();
    const first = await harness.propose(
      'refund.create',
      { orderId, amountMinor: 900, currency: 'EUR' },
      { key: 'order-of-keys' },
    );
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const raw = `{"arguments":{"currency":"EUR","amountMinor":900,"orderId":"${orderId}"},"capability":"refund.create"}`;
    const again = await harness.propose('refund.create', {}, { key: 'order-of-keys', raw });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
  });

  it('does not tell an omitted default from its explicit value', async () => {
    const orderId = await stack.provider.order();
    const first = await harness.propose('refund.create', { orderId, amountMinor: 901 }, { key: 'default-spelled-out' });
    const again = await harness.propose(
      'refund.create',
      { orderId, amountMinor: 901, currency: 'EUR' },
      { key: 'default-spelled-out' },
    );
    expect(again.body.toolCallId).toBe(first.body.toolCallId);
    expect(again.body.argsDigest).toBe(first.body.argsDigest);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
  });

  it('with other arguments is a conflict that names the first call and changes nothing', async () => {
    const orderId = await stack.provider.order();
    const first = await harness.propose('refund.create', { orderId, amountMinor: 902 }, { key: 'reused' });
    const problem = expectProblem(
      await harness.propose('refund.create', { orderId, amountMinor: 903 }, { key: 'reused' }),
      'idempotency_conflict',
    );
    expect(problem.toolCallId).toBe(first.body.toolCallId);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
    expect((await harness.call(first.body.toolCallId)).body).toEqual(first.body);
  });

  it('is required for an effect, and its absence is refused before anything is recorded', async () => {
    const before = await stack.provider.stats();
    expectProblem(
      await harness.propose('refund.create', { orderId: 'ord_1001', amountMinor: 1 }, { key: null }),
      'idempotency_key_required',
    );
    expect((await stack.provider.stats()).requests).toBe(before.requests);
  });

  it('may come in the body, and must agree with the header', async () => {
    const orderId = await stack.provider.order();
    const extras = { key: null, body: { idempotencyKey: 'in-the-body' } };
    const first = await harness.propose('refund.create', { orderId, amountMinor: 904 }, extras);
    expect(first.body).toMatchObject({ status: 'completed', idempotencyKey: 'in-the-body' });
    const again = await harness.propose('refund.create', { orderId, amountMinor: 904 }, { key: 'in-the-body' });
    expect(again.body.toolCallId).toBe(first.body.toolCallId);
    const differing = await harness.propose(
      'refund.create',
      { orderId, amountMinor: 904 },
      { ...extras, key: 'in-the-header' },
    );
    expect(expectProblem(differing, 'invalid_request').pointer).toBe('/idempotencyKey');
  });

  it('is refused when it is empty of visible characters or too long', async () => {
    const args = { orderId: 'ord_1001', amountMinor: 1 };
    expectProblem(await harness.propose('refund.create', args, { key: 'two words' }), 'invalid_idempotency_key');
    expectProblem(await harness.propose('refund.create', args, { key: 'k'.repeat(256) }), 'invalid_idempotency_key');
  });

  it('belongs to its principal: the same key of another person is another call', async () => {
    const [orderId, otherOrderId] = [await stack.provider.order(), await stack.provider.order()];
    const other = await stack.as(CAST.otherHarness);
    const mine = await harness.propose('refund.create', { orderId, amountMinor: 905 }, { key: 'shared-word' });
    const theirs = await other.propose(
      'refund.create',
      { orderId: otherOrderId, amountMinor: 905 },
      { key: 'shared-word' },
    );
    expect(theirs.body.status).toBe('completed');
    expect(theirs.body.toolCallId).not.toBe(mine.body.toolCallId);
  });

  it('stays free when the request was refused, so the corrected request can use it', async () => {
    const orderId = await stack.provider.order();
    expectProblem(
      await harness.propose('refund.create', { orderId, amountMinor: '9' }, { key: 'mended' }),
      'invalid_arguments',
    );
    const mended = await harness.propose('refund.create', { orderId, amountMinor: 9 }, { key: 'mended' });
    expect(mended.body.status).toBe('completed');
  });

  it('of a denied call stays its own: the same call comes back and other arguments conflict', async () => {
    const args = { orderId: 'ord_1003', amountMinor: 300_000 };
    const denied = await harness.propose('refund.create', args, { key: 'denied-once' });
    const again = await harness.propose('refund.create', args, { key: 'denied-once' });
    expect(again.body).toEqual(denied.body);
    expectProblem(
      await harness.propose('refund.create', { ...args, amountMinor: 1 }, { key: 'denied-once' }),
      'idempotency_conflict',
    );
  });

  it('can be derived from the arguments and the intent, as the manifest says', async () => {
    const propose = (args: object, intentId?: string) =>
      harness.propose('demo.order', args, { key: null, body: intentId === undefined ? {} : { intentId } });
    const first = await propose({ item: 'ink & paper', count: 1 }, 'intent-1');
    expect(first.body).toMatchObject({ status: 'completed', idempotencyKey: 'order:ink%20%26%20paper:intent-1' });
    const again = await propose({ item: 'ink & paper', count: 1 }, 'intent-1');
    expect(again.body.toolCallId).toBe(first.body.toolCallId);
    expectProblem(await propose({ item: 'ink & paper', count: 2 }, 'intent-1'), 'idempotency_conflict');
    const next = await propose({ item: 'ink & paper', count: 1 }, 'intent-2');
    expect(next.body.toolCallId).not.toBe(first.body.toolCallId);
    expectProblem(await propose({ item: 'ink & paper' }), 'idempotency_key_required');
    expect(stack.tool.executions('/demo.order')).toHaveLength(2);
  });

  it('is not needed to read, and every read without one is a call of its own', async () => {
    const first = await harness.propose('order.read', { orderId: 'ord_1001' }, { key: null });
    const second = await harness.propose('order.read', { orderId: 'ord_1001' }, { key: null });
    expect(first.body).toMatchObject({ status: 'completed', idempotencyKey: null, result: { orderId: 'ord_1001' } });
    expect(second.body.toolCallId).not.toBe(first.body.toolCallId);
  });
});

describe('effective arguments', () => {
  it('with defaults at every level are what the approver sees, what is digested and what is sent', async () => {
    const proposed = await harness.propose('demo.delete', { path: 'x' }, { wait: 0 });
    const shown = await lena.approval(approvalIdOf(proposed));
    const effective = { path: 'x', force: true, options: { depth: 3 } };
    expect(shown.body.arguments).toEqual(effective);
    expect(proposed.body.arguments).toEqual(effective);
    expect(shown.body.argsDigest).toBe(proposed.body.argsDigest);
    expect((await lena.decide(approvalIdOf(proposed), 'allow')).status).toBe(200);
    expect((await harness.call(proposed.body.toolCallId, 10)).body.status).toBe('completed');
    expect(stack.tool.executions('/demo.delete').map(({ body }) => body)).toEqual([
      '{"force":true,"options":{"depth":3},"path":"x"}',
    ]);
  });

  it('are never coerced: a number as text is refused with the place it stands at', async () => {
    const problem = expectProblem(
      await harness.propose('demo.order', { item: 'pen', count: '3' }),
      'invalid_arguments',
    );
    expect(problem.pointer).toBe('/arguments/count');
    expect(JSON.stringify(problem)).not.toContain('"3"');
  });

  it('that the schema does not know are refused', async () => {
    const problem = expectProblem(await harness.propose('demo.order', { item: 'pen', bcc: 'x' }), 'invalid_arguments');
    expect(problem.pointer).toBe('/arguments/bcc');
  });

  it('must fit a capability that exists, in the version in force', async () => {
    expectProblem(await harness.propose('no.such.thing', {}), 'capability_unknown');
    expectProblem(await harness.propose('refund.create@9.9.9', {}), 'capability_version_unknown');
    const named = await harness.propose('order.read@1.0.0', { orderId: 'ord_1002' }, { key: null });
    expect(named.body.status).toBe('completed');
  });
});
