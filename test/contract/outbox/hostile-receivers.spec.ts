import { afterEach, describe, expect, it } from '@jest/globals';
import { webhookSettings, secretFile } from '../../builders/outbox-bench.js';
import { RawHttpServer, response, type SeenRequest } from '../raw-http-server.js';
import { HttpClient } from '../../../src/egress/http-client.js';
import type { WebhookSettings } from '../../../src/config/settings.js';
import type { Delivery } from '../../../src/outbox/sink.js';
import { WebhookSink } from '../../../src/outbox/webhook-sink.js';
import { WebhookSigner } from '../../../src/secrets/webhook-signer.js';
import { SystemClock } from '../../../src/system/clock.js';

const client = new HttpClient();
const servers: RawHttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const DELIVERY: Delivery = {
  position: 7,
  eventId: 'evt_7',
  partition: 'call/1',
  recordedAt: '2031-01-01T00:00:00.000Z',
  body: '{"specversion":"1.0"}',
};

async function receiverThat(onRequest: (request: SeenRequest) => void): Promise<RawHttpServer> {
  const server = await RawHttpServer.start({ onRequest });
  servers.push(server);
  return server;
}

async function outcomeAt(url: string, changes: Partial<WebhookSettings> = {}): Promise<unknown> {
  const settings = webhookSettings({
    url,
    allowAddresses: ['loopback'],
    timeoutMs: 300,
    ...changes,
  }) as WebhookSettings;
  const clock = new SystemClock();
  const sink = new WebhookSink(settings, client, new WebhookSigner([`file:${secretFile()}`], () => 0), clock);
  const [delivered] = await sink.deliver([DELIVERY], new AbortController().signal);
  return delivered?.outcome;
}

const answers = async (bytes: string | Buffer): Promise<[unknown, RawHttpServer]> => {
  const server = await receiverThat(({ socket }) => void socket.write(bytes));
  return [await outcomeAt(server.url()), server];
};

describe('a receiver', () => {
  it.each([200, 201, 202, 204])('that answers %d has taken the event', async (status) => {
    const [outcome] = await answers(response(status));
    expect(outcome).toEqual({ kind: 'delivered' });
  });

  it('that redirects is not followed: nobody else gets the event', async () => {
    const trap = await receiverThat(({ socket }) => void socket.write(response(200)));
    for (const status of [301, 302, 303, 307, 308]) {
      const [outcome] = await answers(response(status, '', [`location: ${trap.url()}`]));
      expect(outcome).toMatchObject({ kind: 'refused', reason: `http_${status}` });
    }
    expect(trap.requests).toHaveLength(0);
  });

  it('that answers with a body without end costs no more than the beginning of it', async () => {
    const server = await receiverThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const pour = (): void => {
        if (!socket.destroyed) socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`, () => setImmediate(pour));
      };
      pour();
    });
    expect(await outcomeAt(server.url(), { timeoutMs: 5_000 })).toEqual({ kind: 'delivered' });
  });

  it.each([
    ['never answers', (): void => undefined, 'timeout'],
    ['resets the connection', ({ socket }: SeenRequest): void => void socket.resetAndDestroy(), 'reset'],
    ['answers no HTTP', ({ socket }: SeenRequest): void => void socket.end('HELLO\r\n\r\n'), 'bad_framing'],
    [
      'breaks off inside its answer',
      ({ socket }: SeenRequest): void => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
      'body_incomplete',
    ],
    [
      'answers a byte a second',
      ({ socket }: SeenRequest): void => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\na'),
      'timeout',
    ],
  ])('that %s has not taken the event, and nothing is held against the event', async (_, act, reason) => {
    const server = await receiverThat(act);
    expect(await outcomeAt(server.url())).toEqual({ kind: 'unavailable', reason, retryAfterMs: null });
  });

  it('that is not there has not taken the event', async () => {
    const server = await receiverThat(() => undefined);
    const url = server.url();
    await server.stop();
    servers.pop();
    expect(await outcomeAt(url)).toMatchObject({ kind: 'unavailable', reason: 'connect_failed' });
  });

  it('at an address that nobody allowed is sent nothing', async () => {
    const server = await receiverThat(({ socket }) => void socket.write(response(200)));
    const outcome = await outcomeAt(server.url('/', 'localhost'), { allowAddresses: ['private'] });
    expect(outcome).toMatchObject({ kind: 'unavailable', reason: 'address_refused' });
    expect(server.requests).toHaveLength(0);
  });

  it('that says 410 wants no more, and one that says when to come back is heard', async () => {
    expect((await answers(response(410)))[0]).toMatchObject({ kind: 'gone' });
    const [busy] = await answers(response(503, '', ['retry-after: 120']));
    expect(busy).toEqual({ kind: 'unavailable', reason: 'http_503', retryAfterMs: 120_000 });
  });

  it('gets the event as CloudEvents in structured mode, with the three headers of Standard Webhooks', async () => {
    const [, server] = await answers(response(200));
    const head = server.requests[0]?.head ?? '';
    expect(head).toMatch(/^POST \/ HTTP\/1\.1/);
    expect(head).toMatch(/^content-type: application\/cloudevents\+json; charset=utf-8$/im);
    expect(head).toMatch(/^webhook-id: evt_7$/im);
    expect(head).toMatch(/^webhook-timestamp: \d{10}$/im);
    expect(head).toMatch(/^webhook-signature: v1,[A-Za-z0-9+/]{43}=$/im);
    expect(server.requests[0]?.body.toString()).toBe(DELIVERY.body);
  });
});
