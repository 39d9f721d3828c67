import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { classifyHttp, DEFAULT_DEFINITIVE_STATUS, type HttpRules } from '../../src/proxy/core/classify-http.js';
import { HttpClientHarness, pause, textOf } from './http-client-harness.js';
import { response } from './raw-http-server.js';

let harness: HttpClientHarness;
beforeEach(() => {
  harness = new HttpClientHarness();
});
afterEach(() => harness.stop());

/** A server that answers every request with these bytes, and closes where asked to. */
async function answering(
  bytes: string | Buffer,
  then: 'stay' | 'end' | 'reset' = 'stay',
): Promise<Awaited<ReturnType<HttpClientHarness['server']>>> {
  return harness.server({
    onRequest: ({ socket }) => {
      socket.write(bytes, () => {
        if (then === 'end') socket.end();
        // A reset overtakes what the peer has not read yet.
        if (then === 'reset') setTimeout(() => socket.resetAndDestroy(), 30);
      });
    },
  });
}

describe('HttpClient sends', () => {
  it('exactly the request it was given, with credentials, and asks for an unencoded answer', async () => {
    const server = await answering(
      response(201, '{"id":"r1"}', ['Content-Type: application/json', 'X-A: 1', 'x-a: 2']),
    );
    let handed = 0;
    const result = await harness.response(harness.client(), server.url('/refunds?x=%2F'), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'key-1' },
      credentialHeaders: { Authorization: 'Bearer t' },
      body: new TextEncoder().encode('{"amount":5}'),
      onHandedToTransport: () => {
        handed += 1;
      },
    });
    const [request] = server.requests;
    expect(request?.head.split('\r\n').toSorted()).toEqual(
      [
        'POST /refunds?x=%2F HTTP/1.1',
        `host: 127.0.0.1:${server.port}`,
        'connection: keep-alive',
        'content-type: application/json',
        'idempotency-key: key-1',
        'authorization: Bearer t',
        'accept-encoding: identity',
        'content-length: 12',
        'x-attempt: 1',
      ].toSorted(),
    );
    expect(request?.body.toString()).toBe('{"amount":5}');
    expect(result).toMatchObject({
      status: 201,
      headers: { 'content-type': 'application/json', 'x-a': '1, 2' },
      bodyTruncated: false,
      evidence: { bytesWritten: true, headersFlushed: true, connectedAddress: '127.0.0.1', bodyBytes: 11 },
    });
    expect(result.evidence.endedAtMs).toBeGreaterThan(result.evidence.startedAtMs);
    expect(textOf(result)).toBe('{"id":"r1"}');
    expect(handed).toBe(1);
  });

  it('only the bytes of a body that is a view into a larger buffer', async () => {
    const server = await answering(response(200));
    const body = Buffer.from('secret-BODY-secret').subarray(7, 11);
    await harness.response(harness.client(), server.url(), { method: 'POST', body });
    expect(server.requests[0]?.body.toString()).toBe('BODY');
  });

  it('an explicit length of 0 for a POST without a body', async () => {
    const server = await answering(response(200));
    await harness.response(harness.client(), server.url(), { method: 'POST' });
    expect(server.requests[0]?.head).toContain('content-length: 0');
  });

  it('on when an observer throws', async () => {
    const server = await answering(response(200, 'fine'));
    const result = await harness.response(harness.client(), server.url(), {
      onHandedToTransport: () => {
        throw new Error('observer');
      },
    });
    expect(textOf(result)).toBe('fine');
  });

  it.each([
    ['method', { method: 'CONNECT' }],
    ['method', { method: 'get' }],
    ['method', { method: 'GET / HTTP/1.1\r\nx: y' }],
    ['body', { method: 'GET', body: Buffer.from('x') }],
    ['limits', { responseBytesMax: -1 }],
    ['limits', { sendBeforeMonotonicMs: Number.NaN }],
    ['url_userinfo', { url: 'http://user:pw@127.0.0.1/' }],
    ['url_path', { url: 'http://127.0.0.1/a/../b' }],
    ['header_value', { headers: { 'x-a': 'b\r\nx-c: d' } }],
    ['header_forbidden', { headers: { host: 'evil' } }],
    ['header_needs_credential', { headers: { authorization: 'Bearer t' } }],
    ['header_repeated', { headers: { 'x-api-key': 'a' }, credentialHeaders: { 'X-API-Key': 'b' } }],
  ])('nothing when the request is refused for %s', async (problem, more) => {
    const server = await harness.server();
    const result = await harness.silence(harness.client(), server.url(), more);
    expect(result).toMatchObject({ cause: 'request_invalid', problem, evidence: { bytesWritten: false } });
    expect(server.sockets).toHaveLength(0);
  });
});

describe('HttpClient reads', () => {
  it('a redirect without following it', async () => {
    const elsewhere = await answering(response(200));
    const server = await answering(response(307, '', [`Location: ${elsewhere.url()}`]));
    const result = await harness.response(harness.client(), server.url(), { method: 'POST', body: Buffer.from('x') });
    expect(result.status).toBe(307);
    await pause(50);
    expect(elsewhere.sockets).toHaveLength(0);
  });

  it.each([
    ['204', 'GET', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
    ['204 with a length', 'POST', 'HTTP/1.1 204 No Content\r\ncontent-length: 20\r\n\r\n', 204],
    ['304', 'GET', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 20\r\n\r\n', 304],
    ['the answer to HEAD', 'HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n', 200],
  ])('%s, which has no body whatever its headers say', async (_case, method, bytes, status) => {
    const server = await answering(bytes);
    const result = await harness.response(harness.client(), server.url(), { method });
    expect(result).toMatchObject({ status, bodyTruncated: false });
    expect(result.body.byteLength).toBe(0);
  });

  it('an answer of HTTP/1.0 that ends with its connection', async () => {
    const server = await answering('HTTP/1.0 200 OK\r\n\r\nold but whole', 'end');
    expect(textOf(await harness.response(harness.client(), server.url()))).toBe('old but whole');
  });

  it('a chunked answer, and only its body', async () => {
    const server = await answering(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n5;ext=1\r\n+half\r\n0\r\nX-Trailer: t\r\n\r\n',
    );
    expect(textOf(await harness.response(harness.client(), server.url()))).toBe('half+half');
  });

  it('the final answer after informational ones', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
    const server = await answering(Buffer.concat([Buffer.from(`${hints}${hints}`), response(200, 'final')]));
    const result = await harness.response(harness.client(), server.url());
    expect(result.status).toBe(200);
    expect(result.headers['link']).toBeUndefined();
    expect(textOf(result)).toBe('final');
  });

  it('header values as they are, byte for byte, without letting a name reach a prototype', async () => {
    const server = await answering(
      Buffer.from('HTTP/1.1 200 OK\r\n__proto__: x\r\nX-B: caf\xe9\r\ncontent-length: 0\r\n\r\n', 'latin1'),
    );
    const { headers } = await harness.response(harness.client(), server.url());
    expect(Object.hasOwn(headers, '__proto__')).toBe(true);
    expect(headers['x-b']).toBe('caf\u00e9');
  });

  it('an encoded body without decoding it, so that no bomb goes off', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const server = await answering(response(200, bomb, ['Content-Encoding: gzip']));
    const result = await harness.response(harness.client(), server.url());
    expect(Buffer.from(result.body).equals(bomb)).toBe(true);
    expect(result.headers['content-encoding']).toBe('gzip');
  });

  it('a body of exactly the bound whole, and one byte more cut', async () => {
    const client = harness.client();
    const server = await answering(response(200, 'abcd'));
    const whole = await harness.response(client, server.url(), { responseBytesMax: 4 });
    expect([textOf(whole), whole.bodyTruncated]).toEqual(['abcd', false]);
    const cut = await harness.response(client, server.url(), { responseBytesMax: 3 });
    expect([textOf(cut), cut.bodyTruncated]).toEqual(['abc', true]);
    const nothing = await harness.response(client, server.url(), { responseBytesMax: 0 });
    expect([textOf(nothing), nothing.bodyTruncated]).toEqual(['', true]);
  });

  it('of a body of 100 MB only what is allowed, and ends the connection', async () => {
    const total = 100_000_000;
    let sent = 0;
    const server = await harness.server({
      onRequest: ({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`);
        const pump = (): void => {
          while (sent < total && !socket.destroyed) {
            sent += 65_536;
            if (!socket.write(Buffer.alloc(65_536, 'x'))) return void socket.once('drain', pump);
          }
        };
        pump();
      },
    });
    const result = await harness.response(harness.client(), server.url(), { responseBytesMax: 100_000 });
    expect(result.bodyTruncated).toBe(true);
    expect(result.body.byteLength).toBe(100_000);
    await pause(100);
    expect(server.sockets[0]?.destroyed).toBe(true);
    expect(sent).toBeLessThan(30_000_000);
  });

  it('a body that comes byte by byte', async () => {
    const server = await harness.server({
      onRequest: ({ socket }) => {
        const bytes = [...response(200, 'drip')];
        const timer = setInterval(() => {
          const next = bytes.shift();
          if (next === undefined) clearInterval(timer);
          else socket.write(Buffer.of(next));
        }, 1);
      },
    });
    expect(textOf(await harness.response(harness.client(), server.url()))).toBe('drip');
  });
});

describe('HttpClient reports no response', () => {
  const lengthOf100 = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":';
  const chunkedHalf = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{"half":\r\n';
  const untilClose = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"half":';

  it.each([
    ['a length, then the end', lengthOf100, 'end'],
    ['a length, then a reset', lengthOf100, 'reset'],
    ['a length and connection: close, then the end', lengthOf100.replace('\r\n', '\r\nconnection: close\r\n'), 'end'],
    ['chunks, then the end', chunkedHalf, 'end'],
    ['chunks and connection: close, then the end', chunkedHalf.replace('\r\n', '\r\nconnection: close\r\n'), 'end'],
    ['chunks, then a reset', chunkedHalf, 'reset'],
    ['no length, then a reset', untilClose, 'reset'],
    ['no length in HTTP/1.0, then a reset', 'HTTP/1.0 200 OK\r\n\r\n{"half":', 'reset'],
  ] as const)('but an incomplete body for half of one with %s', async (_case, bytes, then) => {
    const server = await answering(bytes, then);
    const result = await harness.silence(harness.client(), server.url());
    expect(result).toMatchObject({
      cause: 'body_incomplete',
      evidence: { bytesWritten: true, headersFlushed: true, bodyBytes: 8 },
    });
  });

  it.each([
    ['something else than HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['two different lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc'],
    ['a length beside chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['chunks beside a length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n'],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['a chunk size that is no number', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['a bare line feed in a header', 'HTTP/1.1 200 OK\r\nx-a: b\nx-c: d\r\ncontent-length: 0\r\n\r\n'],
    ['a header without end', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}`],
    ['headers without end', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}`],
    [
      'a change of protocol that nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['100 Continue that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ])('but bad framing for %s', async (_case, bytes) => {
    const server = await answering(bytes);
    const result = await harness.silence(harness.client(), server.url());
    expect(result).toMatchObject({ cause: 'bad_framing', evidence: { bytesWritten: true } });
    await pause(20);
    expect(server.requests).toHaveLength(1);
  });

  it('but a timeout when no answer comes, and ends the connection then', async () => {
    const server = await harness.server();
    const startedAt = performance.now();
    const result = await harness.silence(harness.client(), server.url(), { deadlineMonotonicMs: startedAt + 150 });
    expect(result).toMatchObject({ cause: 'timeout', evidence: { bytesWritten: true, headersFlushed: true } });
    expect(result.evidence.endedAtMs - startedAt).toBeGreaterThanOrEqual(150);
    expect(result.evidence.endedAtMs - startedAt).toBeLessThan(400);
    await pause(30);
    expect(server.sockets[0]?.destroyed).toBe(true);
    expect(server.errors).toEqual(['ECONNRESET']);
  });

  it('but a timeout when a body drips on past the deadline', async () => {
    const server = await harness.server({
      onRequest: ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        const timer = setInterval(() => socket.write('1\r\nx\r\n'), 10);
        socket.on('close', () => clearInterval(timer));
      },
    });
    const result = await harness.silence(harness.client(), server.url(), {
      deadlineMonotonicMs: performance.now() + 200,
    });
    expect(result.cause).toBe('timeout');
    expect(result.evidence.bodyBytes).toBeGreaterThan(0);
  });

  it('with no word of the request in what it says', async () => {
    const server = await harness.server({ onRequest: ({ socket }) => socket.resetAndDestroy() });
    const result = await harness.silence(harness.client(), server.url('/p?key=CANARY'), {
      method: 'POST',
      headers: { 'x-a': 'CANARY' },
      credentialHeaders: { authorization: 'CANARY' },
      body: Buffer.from('CANARY'),
    });
    expect(JSON.stringify(result)).not.toContain('CANARY');
    const refused = await harness.silence(harness.client(), 'http://CANARY:CANARY@host/', {});
    expect(JSON.stringify(refused)).not.toContain('CANARY');
  });
});

describe('HttpClient and the classifier', () => {
  const rules: HttpRules = {
    definitiveStatus: DEFAULT_DEFINITIVE_STATUS,
    rejectedBeforeExecutionStatus: [],
    validateOutput: null,
    parseBody: (bytes) => ({ ok: true, value: Buffer.from(bytes).toString() }),
  };

  it('agree on what an outcome is', async () => {
    const client = harness.client();
    const fine = await answering(response(200, 'done'));
    const rejecting = await answering(response(422));
    const dropping = await answering('', 'end');
    const gone = await harness.server();
    const goneUrl = gone.url();
    await gone.stop();
    const outcomes = [];
    for (const url of [fine.url(), rejecting.url(), dropping.url(), goneUrl]) {
      outcomes.push(classifyHttp(await harness.send(client, url, { method: 'POST' }), rules));
    }
    expect(outcomes).toEqual([
      { class: 'completed', output: 'done', status: 200, truncated: false },
      { class: 'rejected', status: 422 },
      { class: 'unknown', cause: 'reset' },
      { class: 'not_sent', cause: 'connect_failed' },
    ]);
  });
});
