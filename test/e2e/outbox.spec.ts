import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HTTP, type CloudEvent } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import type { EventPageRepresentation, EventRepresentation } from '../../src/client/contract/events.js';
import type { ReadinessRepresentation } from '../../src/client/contract/health.js';
import {
  deadLetterPage,
  sinkList,
  type DeadLetterPageRepresentation,
  type SinkListRepresentation,
} from '../../src/client/contract/outbox.js';
import { opaqueManifest, permit } from '../support/demo-capabilities.js';
import { expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';
import { WebhookReceiver, type WebhookRequest } from '../support/webhook-receiver.js';

const CARD = 'canary-card-token-3Kd9sLq2Vb';
const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;

let receiver: WebhookReceiver;
let stack: Stack;
let harness: Client;
let operator: Client;
let folder: string;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  folder = mkdtempSync(join(tmpdir(), 'countersign-outbox-'));
  writeFileSync(join(folder, 'secret'), `${secretOf(1)}\n`);
  const sinks = {
    ops: {
      kind: 'webhook',
      url: receiver.url,
      secrets: ['env:OPS_SECRET', `file:${join(folder, 'secret')}`],
      allowAddresses: ['loopback'],
      backoffMs: 20,
      backoffMsMax: 40,
      maxTries: 3,
      timeoutMs: 1000,
    },
    siem: { kind: 'file', path: join(folder, 'events.ndjson') },
  };
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', { amount: { type: 'integer' } }),
      ...opaqueManifest('demo.card', { cardToken: { type: 'string' } }, { redact: ['/cardToken'] }),
    },
    policies: { ...permit('demo.pay'), ...permit('demo.card') },
    env: {
      OPS_SECRET: secretOf(2),
      COUNTERSIGN_OUTBOX__SINKS: JSON.stringify(sinks),
      COUNTERSIGN_INSTALLATION__OPERATOR_TENANT: 'acme',
    },
  });
  harness = await stack.as(CAST.harness);
  operator = await stack.as(CAST.operator);
});
beforeEach(() => receiver.takeEverything());
afterAll(async () => {
  await stack.destroy();
  await receiver.stop();
});

async function pay(amount: number): Promise<string> {
  const { body } = await harness.propose('demo.pay', { amount });
  return (body as { toolCallId: string }).toolCallId;
}

const about = (toolCallId: string): readonly WebhookRequest[] =>
  receiver.requests.filter(({ subject }) => subject === `call/${toolCallId}`);

const delivered = (toolCallId: string, count = 1): Promise<readonly WebhookRequest[]> =>
  until(
    'a delivery',
    () => about(toolCallId),
    (found) => found.length >= count,
  );

async function deadLetters(): Promise<DeadLetterPageRepresentation['items']> {
  const answer = await operator.get('/v1/outbox/dead-letters?sink=ops');
  return deadLetterPage.parse(answer.body).items;
}

async function sinks(): Promise<SinkListRepresentation['items']> {
  return sinkList.parse((await operator.get('/v1/outbox/sinks')).body).items;
}

function lines(): { id: string; sequence: string; type: string; data: EventRepresentation }[] {
  const text = readFileSync(join(folder, 'events.ndjson'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('a webhook', () => {
  it('is signed as Standard Webhooks says with every secret, and is a CloudEvent', async () => {
    const [delivery] = await delivered(await pay(1));
    if (delivery === undefined) throw new Error('nothing was delivered');
    for (const byte of [1, 2]) {
      expect(new Webhook(secretOf(byte)).verify(delivery.body, delivery.headers)).toMatchObject({ id: delivery.id });
    }
    expect(() => new Webhook(secretOf(3)).verify(delivery.body, delivery.headers)).toThrow(/matching signature/);
    expect(delivery.headers['webhook-id']).toBe(delivery.id);
    const event = HTTP.toEvent({ headers: delivery.headers, body: delivery.body }) as CloudEvent;
    expect(event.validate()).toBe(true);
    expect(event).toMatchObject({
      specversion: '1.0',
      type: 'tool.call.completed',
      source: 'urn:countersign:refunds-example',
      tenant: 'acme',
      sequence: String(delivery.position),
    });
  });

  it('holds what every other reader of the event sees, redacted values masked', async () => {
    const { body } = await harness.propose('demo.card', { cardToken: CARD });
    const { toolCallId } = body as { toolCallId: string };
    const [delivery] = await delivered(toolCallId);
    const { data } = JSON.parse(delivery?.body ?? '') as { data: EventRepresentation };
    const auditor = await stack.as(CAST.auditor);
    const page = await auditor.get<EventPageRepresentation>(`/v1/events?after=${data.position - 1}&limit=1`);
    expect(page.body.items).toEqual([data]);
    const proposed = await until(
      'the proposal in the file',
      () => lines().find(({ data: event, type }) => event.toolCallId === toolCallId && type === 'tool.call.proposed'),
      (found) => found !== undefined,
    );
    expect(proposed?.data.payload['arguments']).toEqual({ cardToken: expect.stringMatching(/^\[redacted:/) });
    expect(receiver.requests.map((request) => request.body).join()).not.toContain(CARD);
    expect(readFileSync(join(folder, 'events.ndjson'), 'utf8')).not.toContain(CARD);
  });

  it('changes over to a new secret in its file while the server runs', async () => {
    writeFileSync(join(folder, 'secret'), `${secretOf(1)}\n${secretOf(4)}\n`);
    const isSigned = ({ body, headers }: WebhookRequest): boolean => {
      try {
        return new Webhook(secretOf(4)).verify(body, headers) !== null;
      } catch {
        return false;
      }
    };
    const changedOver = await until(
      'a delivery that the new secret signs',
      async () => {
        const toolCallId = await pay(1);
        return delivered(toolCallId);
      },
      (found) => found.some(isSigned),
      20_000,
    );
    // Until the change is over, the old secret signs as well.
    expect(changedOver.filter(isSigned)).not.toEqual([]);
  });

  it('whose answer comes too late is repeated under the same id, and never two at a time', async () => {
    const open = new Map<string, number>();
    let most = 0;
    receiver.answer = ({ id }, response) => {
      open.set(id, (open.get(id) ?? 0) + 1);
      most = Math.max(most, ...open.values());
      response.on('close', () => open.set(id, (open.get(id) ?? 0) - 1));
      if (receiver.requests.filter((request) => request.id === id).length > 1) response.writeHead(200).end();
    };
    const found = await delivered(await pay(1), 2);
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
    expect(most).toBe(1);
  });
});

describe('dead letters', () => {
  it('are listed, seen in readiness, and delivered by a replay with the id they had', async () => {
    let bad: string | null = null;
    receiver.answer = ({ subject }, response) => {
      bad ??= subject;
      response.writeHead(subject === bad ? 400 : 200).end();
    };
    const toolCallId = await pay(8);
    await until(
      'the dead letter',
      async () => {
        await pay(9);
        return deadLetters();
      },
      (letters) => letters.length > 0,
    );
    const [letter] = await deadLetters();
    expect(letter).toMatchObject({ sink: 'ops', partition: `call/${toolCallId}`, tries: 3, lastError: 'http_400' });
    const weights = async (): Promise<unknown[]> => {
      const ready = (await (await fetch(`${stack.proxy.url}/readyz`)).json()) as ReadinessRepresentation;
      return ready.reasons.filter(({ name }) => name === 'dead_letters').map(({ severity }) => severity);
    };
    expect(await weights()).toEqual(['degraded']);
    receiver.takeEverything();
    const before = about(toolCallId).length;
    const replay = await operator.post('/v1/outbox/dead-letters/replay', { sink: 'ops', position: 'all' });
    expect(replay.status).toBe(202);
    await delivered(toolCallId, before + 1);
    expect(new Set(about(toolCallId).map(({ id }) => id))).toEqual(new Set([letter?.eventId]));
    await until('no dead letter', deadLetters, (letters) => letters.length === 0);
    await until('readiness', weights, (found) => found.length === 0);
    const { commandId } = replay.body as { commandId: string };
    expect((await operator.get(`/v1/control/${commandId}`)).body).toMatchObject({ type: 'replay', status: 'accepted' });
  });

  it('that are not there cannot be replayed', async () => {
    const answer = await operator.post('/v1/outbox/dead-letters/replay', { sink: 'ops', position: 0 });
    expectProblem(answer, 'dead_letter_not_found');
    expectProblem(
      await operator.post('/v1/outbox/dead-letters/replay', { sink: 'nobody', position: 'all' }),
      'sink_not_found',
    );
  });
});

describe('a replay', () => {
  it('repeats everything between two positions, in order, with the same ids', async () => {
    const calls = [await pay(1), await pay(2), await pay(3)];
    for (const call of calls) await delivered(call);
    const known = receiver.requests.filter(({ subject }) => calls.includes(subject.slice('call/'.length)));
    const positions = known.map(({ position }) => position);
    const seen = receiver.requests.length;
    await until('the cursor', sinks, ([ops]) => Number(ops?.cursor) >= Math.max(...positions));
    const range = { fromPosition: Math.min(...positions), toPosition: Math.max(...positions) };
    expect((await operator.post('/v1/outbox/sinks/ops/replay', range)).status).toBe(202);
    await until(
      'the repetition',
      () => receiver.requests.length,
      (count) => count >= seen + 3,
    );
    const again = receiver.requests.slice(seen).map(({ id }) => id);
    expect(again.toSorted()).toEqual([...new Set(known.map(({ id }) => id))].toSorted());
    await until('the end of the replay', sinks, ([ops]) => ops?.replay === null);
  });

  it('is for operators of the installation alone, and a refusal is recorded', async () => {
    const elsewhere = await stack.as(CAST.elsewhereOperator);
    const approver = await stack.as(CAST.lena);
    for (const client of [elsewhere, approver, harness]) {
      expectProblem(await client.post('/v1/outbox/sinks/ops/replay', { fromPosition: 0 }), 'not_authorized');
    }
    expectProblem(await elsewhere.get('/v1/outbox/sinks'), 'not_authorized');
    expectProblem(await elsewhere.get('/v1/outbox/dead-letters'), 'not_authorized');
    expectProblem(await harness.get('/v1/outbox/sinks'), 'not_authorized');
  });

  it.each([[{}], [{ fromPosition: -1 }], [{ fromPosition: 1e9 }], [{ fromPosition: 0, url: 'file:///etc/passwd' }]])(
    'of %p is refused',
    async (body) => {
      expectProblem(await operator.post('/v1/outbox/sinks/ops/replay', body), 'invalid_request');
    },
  );
});

describe('sinks', () => {
  it('come from the settings alone: no request makes one', async () => {
    for (const path of ['/v1/outbox/sinks', '/v1/outbox/sinks/mine']) {
      const answer = await operator.post(path, { kind: 'file', path: '/etc/cron.d/mine' });
      expectProblem(answer, 'not_found');
    }
    expect((await sinks()).map(({ name, kind }) => [name, kind])).toEqual([
      ['ops', 'webhook'],
      ['siem', 'file'],
    ]);
  });
});

describe('the file', () => {
  it('holds every event of the installation once, in order, and only its owner reads it', async () => {
    await pay(5);
    const auditor = await stack.as(CAST.auditor);
    const { head } = (await auditor.get<EventPageRepresentation>('/v1/events?limit=1')).body;
    const found = await until('the newest event', lines, (all) => Number(all.at(-1)?.sequence) >= head);
    expect(found.map(({ sequence }) => Number(sequence))).toEqual(found.map((_, index) => index));
    expect(statSync(join(folder, 'events.ndjson')).mode & 0o777).toBe(0o600);
  });

  it('is made again when it was moved away', async () => {
    const last = Number(lines().at(-1)?.sequence);
    renameSync(join(folder, 'events.ndjson'), join(folder, 'events.1.ndjson'));
    await pay(6);
    const [next] = await until(
      'a new file',
      () => (statSync(join(folder, 'events.ndjson'), { throwIfNoEntry: false }) === undefined ? [] : lines()),
      (all) => all.length > 0,
    );
    expect(Number(next?.sequence)).toBeGreaterThan(last);
  });
});
