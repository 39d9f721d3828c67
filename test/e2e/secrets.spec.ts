import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, connector, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { refundManifest } from '../support/quick-refund.js';
import { CAST, Stack } from '../support/stack.js';

const KEY = 'canary-provider-key-7Hq2Lm9xTz';
const CARD = 'canary-card-token-4Vb8Nc1wRs';

let stack: Stack;
let harness: Client;
let lena: Client;

beforeAll(async () => {
  stack = await Stack.start({
    apiKey: KEY,
    capabilities: {
      ...refundManifest('refund.quick'),
      ...opaqueManifest(
        'demo.echo',
        { cardToken: { type: 'string' }, how: { type: 'string' } },
        { redact: ['/cardToken'], connector: echoConnector() },
      ),
    },
    policies: {
      ...permit('refund.quick'),
      ...ask('demo.echo', { when: 'context.input has how && context.input.how == "asked"' }),
    },
    env: { COUNTERSIGN_LOG__LEVEL: 'debug' },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
});
afterAll(() => stack.destroy());

function echoConnector(): object {
  return { ...connector({ method: 'POST', path: '/demo.echo', body: '{args}' }), credential: 'payments' };
}

/** A secret in the forms in which tools give things back. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4)
      .replaceAll('=', ''),
  );
  return [secret, bytes.toString('hex'), ...inBase64, encodeURIComponent(secret).replaceAll('-', '%2D')];
}

const SECRETS = [...formsOf(KEY), ...formsOf(CARD)];

function bytesBelow(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
}

/** No answer to anybody, no line of output and no byte of the data directory holds a secret. */
function expectNoSecrets(): void {
  const places = {
    answers: stack.transcript.join('\n'),
    output: stack.output,
    data: bytesBelow(stack.dataDir).toString('latin1'),
  };
  expect(readdirSync(stack.dataDir).some((name) => name.endsWith('-wal'))).toBe(true);
  for (const [place, text] of Object.entries(places)) {
    for (const secret of SECRETS)
      expect({ place, secret, found: text.includes(secret) }).toEqual({ place, secret, found: false });
  }
}

describe('the credential of a tool and a redacted argument', () => {
  it.each([
    ['in a result', {}],
    ['in a rejection', { rejectWith: 422 }],
    ['in an error', { statusBeforeEffect: 503 }],
    ['in an error after the effect', { statusAfterEffect: 500 }],
    ['in an answer of another shape', { wrongShape: true }],
    ['in an answer that is no JSON', { invalidJson: true }],
    ['in a redirect', { redirect: 'beforeEffect' }],
    ['in half an answer', { halfBody: true }],
  ])('given back by the provider %s reach nobody and no file', async (_, faults) => {
    const orderId = await stack.provider.order();
    await stack.provider.inject({ ...faults, reflectKey: true, orderId, times: 1 });
    const args = { orderId, amountMinor: 100, cardToken: CARD, note: 'paid twice' };
    const sent = await harness.propose('refund.quick', args, { wait: 0 });
    await harness.callWhen(sent.body.toolCallId, ['completed', 'failed', 'manual_handoff']);
    const [request] = await stack.provider.requestsOf(orderId);
    expect(request?.body).toContain(CARD);
    expectNoSecrets();
    await stack.provider.heal();
  });

  it.each([
    ['as they are', 200, (text: string) => text],
    ['in base64', 200, (text: string) => Buffer.from(text).toString('base64')],
    ['in hexadecimal', 200, (text: string) => Buffer.from(text).toString('hex')],
    ['in the name of a field', 200, (text: string) => ({ [text]: 1 })],
    ['in a refusal with 401', 401, (text: string) => ({ error: { message: `bad credential ${text}` } })],
    ['in a refusal with 422', 422, (text: string) => ({ error: { message: text } })],
    ['in an error', 500, (text: string) => ({ error: text })],
  ] as const)('echoed by a tool %s reach nobody and no file', async (_, status, form) => {
    stack.tool.behave('/demo.echo', ({ headers, body }) =>
      jsonAnswer(
        { key: form(headers.authorization ?? ''), card: form((JSON.parse(body) as { cardToken: string }).cardToken) },
        status,
      ),
    );
    await harness.propose('demo.echo', { cardToken: CARD, how: `${status}` });
    const received = stack.tool.executions('/demo.echo').at(-1);
    expect(received?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.parse(received?.body ?? '')).toMatchObject({ cardToken: CARD });
    expectNoSecrets();
  });

  it('are masked for the approver, who can still tell two of them apart', async () => {
    const first = await harness.propose('demo.echo', { cardToken: CARD, how: 'asked' }, { wait: 0 });
    const second = await harness.propose('demo.echo', { cardToken: `${CARD}x`, how: 'asked' }, { wait: 0 });
    const shown = await Promise.all([first, second].map((answer) => lena.approval(approvalIdOf(answer))));
    const masks = shown.map(({ body }) => body.arguments['cardToken']);
    expect(masks[0]).toMatch(/^\[redacted:[0-9a-f]{8}\]$/);
    expect(masks[1]).not.toBe(masks[0]);
    expect((await lena.get(`/v1/approvals/${approvalIdOf(first)}`, { headers: { accept: 'text/html' } })).status).toBe(
      200,
    );
    expectNoSecrets();
  });

  it('are not repeated by a refused request, whatever is wrong with it', async () => {
    const args = { cardToken: CARD, how: 7 };
    expectProblem(await harness.propose('demo.echo', args), 'invalid_arguments');
    expectProblem(await harness.propose('demo.echo', { cardToken: CARD, how: 'x', other: CARD }), 'invalid_arguments');
    expectProblem(
      await harness.propose('demo.echo', {}, { raw: `{"capability":"demo.echo","arguments":{"cardToken":"${CARD}` }),
      'invalid_json',
    );
    expectProblem(await harness.propose('demo.echo', {}, { body: { other: CARD } }), 'invalid_request');
    expectNoSecrets();
  });

  it('are in no file after the process was killed, and the calls are as they were', async () => {
    const orderId = await stack.provider.order();
    const sent = await harness.propose('refund.quick', { orderId, amountMinor: 100, cardToken: CARD });
    await stack.restart('SIGKILL');
    expect((await harness.call(sent.body.toolCallId)).body).toEqual(sent.body);
    expectNoSecrets();
  });
});
