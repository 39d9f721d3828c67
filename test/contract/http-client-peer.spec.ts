import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createCheckedConnector } from '../../src/egress/checked-connector.js';
import { EgressFailure } from '../../src/egress/egress-failure.js';
import { HttpClientHarness, pause, textOf } from './http-client-harness.js';
import { response } from './raw-http-server.js';
import { selfSignedCertificate } from './self-signed-certificate.js';

let harness: HttpClientHarness;
beforeEach(() => {
  harness = new HttpClientHarness();
});
afterEach(() => harness.stop());

const refused = { cause: 'address_refused', evidence: { bytesWritten: false } };

describe('HttpClient connects to allowed addresses only', () => {
  it.each([
    ['127.0.0.1'],
    ['2130706433'],
    ['0x7f.1'],
    ['0177.0.0.1'],
    ['localhost'],
    ['localhost.'],
    ['[::ffff:127.0.0.1]'],
    ['[::ffff:7f00:1]'],
    ['[64:ff9b::7f00:1]'],
    ['[2002:7f00:1::]'],
    ['0.0.0.0'],
    ['[::]'],
    ['169.254.169.254'],
    ['100.64.0.1'],
  ])('and refuses %s without opening a socket', async (host) => {
    const server = await harness.server();
    const result = await harness.silence(harness.client(), server.url('/', host), { allowAddresses: [] });
    expect(result).toMatchObject(refused);
    expect(result.evidence.connectedAddress).toBeUndefined();
    await pause(10);
    expect(server.sockets).toHaveLength(0);
  });

  it('and reaches one that the list opens, by name, by literal and by odd notation', async () => {
    const server = await harness.server({ onRequest: ({ socket }) => socket.write(response(200)) });
    const client = harness.client({ resolve: () => Promise.resolve(['127.0.0.1']) });
    for (const host of ['127.0.0.1', '2130706433', 'upstream.test', 'upstream.test.']) {
      const result = await harness.response(client, server.url('/', host), { allowAddresses: ['127.0.0.0/8'] });
      expect(result.evidence.connectedAddress).toBe('127.0.0.1');
    }
  });

  it('and refuses a name as soon as one of its addresses is refused', async () => {
    const server = await harness.server();
    for (const addresses of [
      ['127.0.0.1', '10.0.0.1'],
      ['8.8.8.8', '169.254.169.254'],
      ['127.0.0.1', 'not an address'],
    ]) {
      const client = harness.client({ resolve: () => Promise.resolve(addresses) });
      expect(await harness.silence(client, server.url('/', 'mixed.test'))).toMatchObject(refused);
    }
    expect(server.sockets).toHaveLength(0);
  });

  it('and asks the resolver once per connection, so that a second answer cannot replace the checked one', async () => {
    const server = await harness.server({ onRequest: ({ socket }) => socket.write(response(200)) });
    let asked = 0;
    const client = harness.client({
      resolve: () => {
        asked += 1;
        return Promise.resolve([asked === 1 ? '127.0.0.1' : '169.254.169.254']);
      },
    });
    expect((await harness.response(client, server.url('/', 'rebinding.test'))).status).toBe(200);
    expect((await harness.response(client, server.url('/', 'rebinding.test'))).status).toBe(200);
    expect(asked).toBe(1);
    server.sockets[0]?.destroy();
    await pause(20);
    expect(await harness.silence(client, server.url('/', 'rebinding.test'))).toMatchObject(refused);
    expect(asked).toBe(2);
  });

  it('and never uses a connection of one allow list under another', async () => {
    const server = await harness.server({ onRequest: ({ socket }) => socket.write(response(200)) });
    const client = harness.client();
    await harness.response(client, server.url(), { allowAddresses: ['loopback'] });
    expect(await harness.silence(client, server.url(), { allowAddresses: [] })).toMatchObject(refused);
    expect(await harness.silence(client, server.url(), { allowAddresses: ['private'] })).toMatchObject(refused);
    await harness.response(client, server.url(), { allowAddresses: ['loopback'] });
    expect(server.sockets).toHaveLength(1);
  });

  it('and says so when a name has no address', async () => {
    for (const resolve of [() => Promise.resolve([]), () => Promise.reject(new Error('ENOTFOUND CANARY'))]) {
      const result = await harness.silence(harness.client({ resolve }), 'http://nowhere.test/');
      expect(result).toMatchObject({ cause: 'resolve_failed', evidence: { bytesWritten: false } });
      expect(JSON.stringify(result)).not.toContain('CANARY');
    }
  });

  it('and does not wait for a resolver that never answers', async () => {
    const client = harness.client({ resolve: () => new Promise(() => undefined) });
    const sendBeforeMonotonicMs = performance.now() + 60;
    const result = await harness.silence(client, 'http://slow.test/', { sendBeforeMonotonicMs });
    expect(result).toMatchObject({ cause: 'not_sent_deadline', evidence: { bytesWritten: false } });
  });

  it('and gives an attempt to connect up after its own limit', async () => {
    const client = harness.client({ connectTimeoutMs: 50, resolve: () => new Promise(() => undefined) });
    expect(await harness.silence(client, 'http://slow.test/')).toMatchObject({ cause: 'connect_failed' });
  });
});

function resolve(): Promise<readonly string[]> {
  return Promise.resolve(['127.0.0.1']);
}

describe('createCheckedConnector', () => {
  it('leaves no socket behind when it gives up', async () => {
    const mute = await harness.server();
    const attempts: Socket[] = [];
    const connect = createCheckedConnector(
      { allowAddresses: ['loopback'], resolve, connectTimeoutMs: 50 },
      { onAttempt: (tcp) => attempts.push(tcp), onOpened: () => undefined },
    );
    const error = await new Promise((answer) => {
      connect({ hostname: 'mute.test', protocol: 'https:', port: String(mute.port) }, (...[failure]) =>
        answer(failure),
      );
    });
    expect(error).toEqual(new EgressFailure('tls_failed'));
    expect(attempts.map((tcp) => tcp.destroyed)).toEqual([true]);
  });
});

describe('HttpClient over TLS', () => {
  const tls = selfSignedCertificate(['upstream.test'], ['127.0.0.1']);

  it('speaks to a peer whose certificate is trusted and names it, and keeps the connection', async () => {
    const server = await harness.server({
      tls,
      onRequest: ({ socket, index }) => socket.write(response(200, `${index}`)),
    });
    const client = harness.client({ ca: tls.cert, resolve });
    for (const [index, host] of ['upstream.test', 'upstream.test', '127.0.0.1'].entries()) {
      const result = await harness.response(client, server.url('/', host), { method: 'POST', body: Buffer.from('x') });
      expect(textOf(result)).toBe(String(index));
      expect(result.evidence).toMatchObject({
        bytesWritten: true,
        headersFlushed: true,
        connectedAddress: '127.0.0.1',
      });
    }
    expect(server.sockets).toHaveLength(2);
    const names = server.requests.map(({ socket }) => (socket as TLSSocket).servername);
    expect(names).toEqual(['upstream.test', 'upstream.test', false]);
  });

  it('sends nothing to a peer whose certificate is not trusted', async () => {
    const server = await harness.server({ tls });
    const result = await harness.silence(harness.client({ resolve }), server.url('/', 'upstream.test'));
    expect(result).toMatchObject({ cause: 'tls_failed', evidence: { bytesWritten: false } });
    expect(server.requests).toHaveLength(0);
  });

  it('sends nothing to a peer whose certificate names another', async () => {
    const server = await harness.server({ tls });
    const client = harness.client({ ca: tls.cert, resolve });
    const result = await harness.silence(client, server.url('/', 'other.test'), { method: 'POST' });
    expect(result).toMatchObject({ cause: 'tls_failed', evidence: { bytesWritten: false } });
    expect(server.requests).toHaveLength(0);
  });

  it('sends nothing to a peer that speaks no TLS, hangs up, or never finishes', async () => {
    const plain = await harness.server({ onConnection: (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') });
    const rude = await harness.server({ onConnection: (socket) => socket.destroy() });
    const mute = await harness.server();
    const client = harness.client({ ca: tls.cert, connectTimeoutMs: 100 });
    for (const { port } of [plain, rude, mute]) {
      const result = await harness.silence(client, `https://127.0.0.1:${port}/`, { method: 'POST' });
      expect(result).toMatchObject({ cause: 'tls_failed', evidence: { bytesWritten: false } });
    }
    const hurried = await harness.silence(client, `https://127.0.0.1:${mute.port}/`, {
      sendBeforeMonotonicMs: performance.now() + 40,
    });
    expect(hurried).toMatchObject({ cause: 'not_sent_deadline', evidence: { bytesWritten: false } });
    await pause(20);
    expect(mute.sockets.every((socket) => socket.destroyed)).toBe(true);
  });

  it('ends the connection at the deadline, also below TLS', async () => {
    const server = await harness.server({ tls });
    const client = harness.client({ ca: tls.cert, resolve });
    const result = await harness.silence(client, server.url('/', 'upstream.test'), {
      deadlineMonotonicMs: performance.now() + 150,
    });
    expect(result).toMatchObject({ cause: 'timeout', evidence: { bytesWritten: true } });
    await pause(30);
    expect(server.sockets.every((socket) => socket.destroyed)).toBe(true);
    expect(server.errors).toEqual(['ECONNRESET']);
  });

  it('calls a reset within a body an incomplete body', async () => {
    const server = await harness.server({
      tls,
      onRequest: ({ socket }) => {
        socket.write('HTTP/1.0 200 OK\r\n\r\nhalf');
        setTimeout(() => server.sockets[0]?.resetAndDestroy(), 30);
      },
    });
    const client = harness.client({ ca: tls.cert, resolve });
    const result = await harness.silence(client, server.url('/', 'upstream.test'));
    expect(result).toMatchObject({ cause: 'body_incomplete', evidence: { bytesWritten: true } });
  });
});
