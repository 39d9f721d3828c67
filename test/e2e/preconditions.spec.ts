import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, connector, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { jsonAnswer, type FakeAnswer } from '../support/fake-tool.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const ORDER = { orderId: { type: 'string' } };
const reading = { request: { method: 'GET', path: '/orders/{args.orderId}' }, at: '/status' };
const UNCHANGED = { name: 'order_status', title: 'The order is as it was', ...reading, timeout: '1s' };
const OPEN = { name: 'is_open', title: 'The order is open', ...reading, expect: { equals: 'open' } };

const manifest = (name: string, ...preconditions: readonly object[]) =>
  opaqueManifest(
    name,
    {},
    {
      inputSchema: { type: 'object', additionalProperties: false, required: ['orderId'], properties: ORDER },
      connector: connector({ method: 'POST', path: `/${name}`, body: '{args}' }),
      preconditions,
    },
  );

let stack: Stack;
let harness: Client;
let lena: Client;
let orders = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...manifest('demo.release', UNCHANGED),
      ...manifest('demo.ship', OPEN),
    },
    policies: {
      ...ask('demo.release'),
      ...permit('demo.ship'),
    },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
});
afterAll(() => stack.destroy());

/** An order of its own, so that what one test says about the world is no other's. */
class Order {
  readonly id: string;

  constructor(status = 'open') {
    orders += 1;
    this.id = `o-${orders}`;
    this.is(status);
  }

  is(status: string): void {
    this.answers(jsonAnswer({ status }));
  }

  answers(answer: FakeAnswer): void {
    stack.tool.behave(`/orders/${this.id}`, () => answer);
  }

  propose(capability: string) {
    return harness.propose(capability, { orderId: this.id }, { wait: 0 });
  }

  sent(capability: string): number {
    const body = JSON.stringify({ orderId: this.id });
    return stack.tool.executions(`/${capability}`).filter((request) => request.body === body).length;
  }
}

describe('what a call rests on', () => {
  it('is shown to people with the time it was read, and the call runs when it is still so', async () => {
    const order = new Order();
    const asked = await order.propose('demo.release');
    const approvalId = approvalIdOf(asked);
    const { body } = await lena.approval(approvalId);
    expect(body.preconditions).toEqual([
      { name: 'order_status', title: 'The order is as it was', value: 'open', observedAt: expect.any(String) },
    ]);
    const page = await lena.get(`/v1/approvals/${approvalId}`, { headers: { accept: 'text/html' } });
    expect(page.text).toContain('Rests on: The order is as it was');
    expect((await lena.decide(approvalId, 'allow')).status).toBe(200);
    expect((await harness.call(asked.body.toolCallId, 10)).body.status).toBe('completed');
    expect(order.sent('demo.release')).toBe(1);
  });

  it('has changed before the vote: the vote is refused and the call is asked about anew', async () => {
    const order = new Order();
    const asked = await order.propose('demo.release');
    order.is('held');
    const refused = expectProblem(await lena.decide(approvalIdOf(asked), 'allow'), 'precondition_changed');
    expect(refused.status).toBe(409);
    const old = await lena.approval(approvalIdOf(asked));
    expect(old.body).toMatchObject({ status: 'invalidated', statusReason: 'precondition_changed' });
    const call = await harness.call(asked.body.toolCallId);
    expect(call.body).toMatchObject({ status: 'proposed', approval: { status: 'pending' } });
    const next = call.body.approval?.approvalId ?? '';
    expect(next).not.toBe(approvalIdOf(asked));
    expect((await lena.approval(next)).body.preconditions).toMatchObject([{ value: 'held' }]);
    await lena.decide(next, 'allow');
    expect((await harness.call(asked.body.toolCallId, 10)).body.status).toBe('completed');
    expect(order.sent('demo.release')).toBe(1);
  });

  it('does not hold: the call is denied, or ends unsent where nobody was asked', async () => {
    const order = new Order('refunded');
    const proposed = await order.propose('demo.ship');
    const ended = await harness.callWhen(proposed.body.toolCallId, ['not_executed']);
    expect(ended).toMatchObject({
      mayHaveHappened: false,
      retryAllowed: true,
      error: {
        code: 'precondition_failed',
        effect: 'none',
        message: 'precondition failed: The order is open',
      },
    });
    const gone = new Order();
    gone.answers(jsonAnswer({}, 404));
    const denied = await gone.propose('demo.release');
    expect(denied.body).toMatchObject({ status: 'denied', error: { code: 'precondition_failed' } });
    expect(order.sent('demo.ship') + gone.sent('demo.release')).toBe(0);
  });

  it('cannot be read: nothing is recorded at a proposal, and a call that is let go waits for it', async () => {
    const order = new Order();
    order.answers({ reset: true });
    const key = 'the-same-key';
    const once = () => harness.propose('demo.release', { orderId: order.id }, { wait: 0, key });
    const refused = expectProblem(await once(), 'precondition_unavailable');
    expect(refused.status).toBe(503);
    const waiting = await order.propose('demo.ship');
    await until(
      'a second look at the order',
      async () => stack.tool.received.filter(({ path }) => path === `/orders/${order.id}`).length,
      (count) => count >= 3,
    );
    expect((await harness.call(waiting.body.toolCallId)).body.status).toBe('authorized');
    order.is('open');
    expect((await harness.callWhen(waiting.body.toolCallId, ['completed'])).status).toBe('completed');
    expect((await once()).body.status).toBe('proposed');
    expect(order.sent('demo.ship')).toBe(1);
  });
});

describe('a restart between the grant and the dispatch', () => {
  it('does not hide what has changed meanwhile: people are asked again, and nothing was sent [K-97]', async () => {
    const order = new Order();
    const asked = await order.propose('demo.release');
    const operator = await stack.as(CAST.operator);
    await operator.control({ type: 'pause', target: { capability: 'demo.release' } });
    await lena.decide(approvalIdOf(asked), 'allow');
    expect((await harness.call(asked.body.toolCallId)).body.status).toBe('authorized');
    await stack.restart('SIGKILL');
    order.is('refunded');
    await operator.control({ type: 'unpause', target: { capability: 'demo.release' } });
    const call = await harness.callWhen(asked.body.toolCallId, ['proposed']);
    expect(call.approval).toMatchObject({ status: 'pending' });
    expect((await lena.approval(approvalIdOf(asked))).body).toMatchObject({
      status: 'invalidated',
      statusReason: 'precondition_changed',
    });
    const types = eventsOf(stack.dataDir, 'tool_call_id', asked.body.toolCallId).map(({ event_type }) => event_type);
    expect(types).not.toContain('tool.call.dispatching');
    expect(order.sent('demo.release')).toBe(0);
  });
});
