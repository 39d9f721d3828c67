import { connect } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventCount } from '../support/event-records.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { approvalIdOf, type Answer, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';

let stack: Stack;
let harness: Client;
let lena: Client;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', { amount: { type: 'integer' } }),
      ...opaqueManifest('demo.slow', { amount: { type: 'integer' } }, { timeout: '10s' }),
    },
    policies: { ...ask('demo.pay'), ...permit('demo.slow') },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
});
afterAll(() => stack.destroy());

const propose = (capability = 'demo.pay', wait = 0): Promise<Answer<ToolCallRepresentation>> => {
  amount += 1;
  return harness.propose(capability, { amount }, { wait });
};

async function timed<T>(work: () => Promise<T>): Promise<{ readonly answer: T; readonly ms: number }> {
  const started = performance.now();
  return { answer: await work(), ms: performance.now() - started };
}

/** Opens a request on a socket of its own, lets it arrive, and hangs up without a goodbye. */
async function hangUpOn(request: string, afterMs: number): Promise<void> {
  const { hostname, port } = new URL(stack.proxy.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(request);
  await pause(afterMs);
  socket.resetAndDestroy();
}

async function requestText(method: string, path: string, body = ''): Promise<string> {
  const token = await stack.token(CAST.harness);
  const length = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: proxy\r\nauthorization: Bearer ${token}\r\nprefer: wait=30\r\nidempotency-key: hang-${amount}\r\n${length}\r\n${body}`;
}

describe('whoever waits for a call', () => {
  it.each([
    ['allowed', 'allow', 'completed'],
    ['refused', 'deny', 'denied'],
  ] as const)('is woken when it is %s, long before the wait is over', async (_, decision, status) => {
    const proposed = await propose();
    const waiting = timed(() => harness.call(proposed.body.toolCallId, 20));
    await pause(150);
    await lena.decide(approvalIdOf(proposed), decision);
    const { answer, ms } = await waiting;
    expect(answer.body.status).toBe(status);
    expect(answer.status).toBe(200);
    expect(ms).toBeLessThan(3_000);
  });

  it('is woken when it is cancelled', async () => {
    const proposed = await propose();
    const waiting = timed(() => harness.call(proposed.body.toolCallId, 20));
    await pause(150);
    await harness.control({ type: 'cancel', target: { toolCallId: proposed.body.toolCallId } });
    const { answer, ms } = await waiting;
    expect(answer.body.status).toBe('not_executed');
    expect(ms).toBeLessThan(3_000);
  });

  it('gets the same representation with 202 when the wait is over first, and not before', async () => {
    const proposed = await propose();
    const { answer, ms } = await timed(() => harness.call(proposed.body.toolCallId, 1));
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual(proposed.body);
    expect(ms).toBeGreaterThanOrEqual(950);
    expect(ms).toBeLessThan(3_000);
  });

  it('gets the result of the proposal itself when people answer while it is held', async () => {
    amount += 1;
    const args = { amount };
    const held = harness.propose('demo.pay', args, { wait: 20 });
    await pause(200);
    const pending = await lena.get<{ items: { approvalId: string; arguments: object }[] }>(
      '/v1/approvals?status=pending',
    );
    const mine = pending.body.items.find((item) => JSON.stringify(item.arguments) === JSON.stringify(args));
    await lena.decide(mine?.approvalId ?? '', 'allow');
    const answer = await held;
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'completed', result: { ok: true } });
  });

  it('misses no decision that is made in the instant in which the wait begins', async () => {
    const asked = await Promise.all(Array.from({ length: 20 }, () => propose()));
    const started = performance.now();
    const ended = await Promise.all(
      asked.flatMap((proposed, index) => {
        const decide = () => lena.decide(approvalIdOf(proposed), index % 2 === 0 ? 'allow' : 'deny');
        const wait = () => harness.call(proposed.body.toolCallId, 20);
        return index % 3 === 0 ? [decide().then(wait)] : index % 3 === 1 ? [wait(), decide()] : [decide(), wait()];
      }),
    );
    expect(performance.now() - started).toBeLessThan(8_000);
    expect(ended).toHaveLength(33);
    for (const { status } of ended) expect(status).toBe(200);
    for (const [index, { body }] of asked.entries()) {
      const call = await harness.call(body.toolCallId, 10);
      expect(call.body.status).toBe(index % 2 === 0 ? 'completed' : 'denied');
    }
  });
});

describe('clients that hang up', () => {
  it('while they wait for people change nothing: the process, the question and the call stay', async () => {
    const proposed = await propose();
    const before = await lena.approval(approvalIdOf(proposed));
    const events = eventCount(stack.dataDir);
    const request = await requestText('GET', `/v1/tool-calls/${proposed.body.toolCallId}?wait=30`);
    await Promise.all(Array.from({ length: 100 }, (_, index) => hangUpOn(request, 20 + (index % 10) * 10)));
    process.kill(stack.proxy.pid, 0);
    expect((await lena.approval(approvalIdOf(proposed))).body).toEqual(before.body);
    expect((await harness.call(proposed.body.toolCallId)).body).toEqual(proposed.body);
    expect(eventCount(stack.dataDir)).toBe(events);
    await lena.decide(approvalIdOf(proposed), 'allow');
    expect((await harness.call(proposed.body.toolCallId, 10)).body.status).toBe('completed');
  });

  it('while their call is on the wire do not stop it, and it runs once', async () => {
    stack.tool.behave('/demo.slow', () => ({ ...jsonAnswer({ ok: true }), delayMs: 600 }));
    amount += 1;
    const mine = JSON.stringify({ amount });
    const request = await requestText('POST', '/v1/tool-calls', `{"capability":"demo.slow","arguments":${mine}}`);
    await Promise.all(Array.from({ length: 50 }, () => hangUpOn(request, 200)));
    process.kill(stack.proxy.pid, 0);
    const after = await harness.propose('demo.slow', { amount }, { key: `hang-${amount}` });
    expect(after.body).toMatchObject({ status: 'completed', result: { ok: true } });
    expect(after.headers.get('idempotent-replayed')).toBe('true');
    expect(stack.tool.executions('/demo.slow').filter(({ body }) => body === mine)).toHaveLength(1);
  });

  it('in the middle of a request leave neither a call nor a harmed process', async () => {
    const whole = await requestText('POST', '/v1/tool-calls', '{"capability":"demo.slow","arguments":{"amount":-1}}');
    const events = eventCount(stack.dataDir);
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => hangUpOn(whole.slice(0, 1 + ((index * 37) % (whole.length - 2))), 20)),
    );
    await pause(100);
    process.kill(stack.proxy.pid, 0);
    expect(eventCount(stack.dataDir)).toBe(events);
    expect((await propose()).body.status).toBe('proposed');
    expect(stack.output).not.toMatch(/unhandled|UnhandledPromise/i);
  });
});
