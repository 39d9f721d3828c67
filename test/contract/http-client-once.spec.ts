import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { blockLoop, HttpClientHarness, pause, textOf } from './http-client-harness.js';
import { response } from './raw-http-server.js';

let harness: HttpClientHarness;
beforeEach(() => {
  harness = new HttpClientHarness();
});
afterEach(() => harness.stop());

describe('HttpClient writes a request at most once', () => {
  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'POST'])(
    'when the connection is reset after a %s was read',
    async (method) => {
      const server = await harness.server({ onRequest: ({ socket }) => socket.resetAndDestroy() });
      const result = await harness.silence(harness.client(), server.url(), { method });
      expect(result).toMatchObject({ cause: 'reset', evidence: { bytesWritten: true } });
      await pause(100);
      expect(server.requests).toHaveLength(1);
      expect(server.sockets).toHaveLength(1);
    },
  );

  it.each(['GET', 'POST'])('when the connection is closed without a byte after a %s was read', async (method) => {
    const server = await harness.server({ onRequest: ({ socket }) => socket.end() });
    const result = await harness.silence(harness.client(), server.url(), { method });
    expect(result).toMatchObject({ cause: 'reset', evidence: { bytesWritten: true, headersFlushed: true } });
    await pause(100);
    expect(server.requests).toHaveLength(1);
  });

  it.each(['GET', 'POST'])('when a kept connection dies under the second %s', async (method) => {
    const server = await harness.server({
      onRequest: ({ socket, index }) => {
        if (index === 0) socket.write(response(200, 'first'));
        else socket.resetAndDestroy();
      },
    });
    const client = harness.client();
    await harness.response(client, server.url(), { method });
    const second = await harness.silence(client, server.url(), { method });
    expect(second).toMatchObject({ cause: 'reset', evidence: { bytesWritten: true } });
    await pause(100);
    expect(server.requests).toHaveLength(2);
    expect(server.sockets).toHaveLength(1);
  });

  it.each(['GET', 'POST'])(
    'when the server closes a kept connection at the very moment a %s is sent',
    async (method) => {
      // Whichever side wins the race: no request is read twice, and "not sent" is never said of one that was read.
      for (let round = 0; round < 30; round += 1) {
        const server = await harness.server({
          onRequest: ({ socket }) => socket.write(response(200), () => setTimeout(() => socket.end(), round % 3)),
        });
        const client = harness.client();
        await harness.response(client, server.url(), { method });
        await pause(round % 3);
        const second = await harness.send(client, server.url(), { method });
        await pause(5);
        expect(server.requests.length).toBeGreaterThanOrEqual(second.kind === 'response' ? 2 : 1);
        expect(server.requests.length).toBeLessThanOrEqual(second.evidence.bytesWritten ? 2 : 1);
        await client.destroy();
      }
    },
  );

  it('when the server had closed a kept connection before: it opens another one', async () => {
    const server = await harness.server({
      onRequest: ({ socket }) => socket.write(response(200, 'ok'), () => setTimeout(() => socket.end(), 5)),
    });
    const client = harness.client();
    for (const method of ['POST', 'GET', 'POST']) {
      const result = await harness.response(client, server.url(), { method });
      expect(textOf(result)).toBe('ok');
      await pause(40);
    }
    expect(server.requests).toHaveLength(3);
    expect(server.sockets).toHaveLength(3);
  });

  it('when nothing listens', async () => {
    const server = await harness.server();
    const url = server.url();
    await server.stop();
    expect(await harness.silence(harness.client(), url, { method: 'POST' })).toMatchObject({
      cause: 'connect_failed',
      evidence: { bytesWritten: false, headersFlushed: false },
    });
  });

  it('when the connection is reset as soon as it is accepted', async () => {
    const server = await harness.server({ onConnection: (socket) => socket.resetAndDestroy() });
    await harness.silence(harness.client(), server.url(), { method: 'POST', body: Buffer.from('x') });
    await pause(100);
    expect(server.sockets).toHaveLength(1);
  });

  it('when the peer does not read: what the kernel still holds is thrown away at the deadline', async () => {
    const server = await harness.server({ onConnection: (socket) => socket.pause() });
    const body = Buffer.alloc(30_000_000, 'x');
    const result = await harness.silence(harness.client(), server.url(), {
      method: 'POST',
      body,
      deadlineMonotonicMs: performance.now() + 300,
    });
    expect(result).toMatchObject({ cause: 'timeout', evidence: { bytesWritten: true, headersFlushed: false } });
    server.sockets[0]?.resume();
    await pause(100);
    // Only what the server's process had taken from its kernel: far less than the buffers on the way can hold.
    expect(server.bytesReceived).toBeLessThan(1_000_000);
    expect(server.requests).toHaveLength(0);
  });
});

describe('HttpClient keeps answers apart', () => {
  it('uses a kept connection again, one request at a time', async () => {
    const server = await harness.server({
      onRequest: ({ socket, index }) => socket.write(response(200, `answer ${index}`)),
    });
    const client = harness.client();
    for (let index = 0; index < 5; index += 1) {
      expect(textOf(await harness.response(client, server.url()))).toBe(`answer ${index}`);
    }
    expect(server.sockets).toHaveLength(1);
  });

  it('never gives a surplus answer to the next request', async () => {
    const server = await harness.server({
      onRequest: ({ socket, index }) => {
        const honest = response(200, `honest ${index}`);
        socket.write(index === 0 ? Buffer.concat([honest, response(200, 'poison')]) : honest);
      },
    });
    const client = harness.client({ connectionsPerOriginMax: 1 });
    const answers = await Promise.all([0, 1, 2].map(() => harness.response(client, server.url())));
    expect(answers.map(textOf)).toEqual(['honest 0', 'honest 1', 'honest 2']);
  });

  it('never gives an answer that came while the connection was idle to the next request', async () => {
    const server = await harness.server({
      onRequest: ({ socket, index }) => {
        socket.write(response(200, `honest ${index}`));
        if (index === 0) setTimeout(() => socket.write(response(200, 'poison')), 10);
      },
    });
    const client = harness.client();
    await harness.response(client, server.url());
    await pause(40);
    expect(textOf(await harness.response(client, server.url()))).toBe('honest 1');
  });

  it('does not use a connection again after a truncated body, a timeout, or HEAD', async () => {
    const server = await harness.server({
      onRequest: ({ socket, head }) => {
        if (head.startsWith('POST')) return;
        socket.write(
          head.startsWith('HEAD') ? 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n' : response(200, 'long body'),
        );
      },
    });
    const client = harness.client();
    await harness.response(client, server.url(), { responseBytesMax: 1 });
    await harness.silence(client, server.url(), { method: 'POST', deadlineMonotonicMs: performance.now() + 50 });
    await harness.response(client, server.url(), { method: 'HEAD' });
    await harness.response(client, server.url());
    expect(server.sockets).toHaveLength(4);
  });

  it('opens no more connections to one origin than it may, and serves everybody', async () => {
    let open = 0;
    let openMax = 0;
    const server = await harness.server({
      onRequest: ({ socket }) => {
        open += 1;
        openMax = Math.max(openMax, open);
        setTimeout(() => {
          open -= 1;
          socket.write(response(200, 'ok'));
        }, 5);
      },
    });
    const client = harness.client({ connectionsPerOriginMax: 3 });
    const results = await Promise.all(Array.from({ length: 30 }, () => harness.response(client, server.url())));
    expect(results.every((result) => result.status === 200)).toBe(true);
    expect(server.requests).toHaveLength(30);
    expect(server.sockets).toHaveLength(3);
    expect(openMax).toBe(3);
  });

  it('serves those who wait although the connections before them die', async () => {
    const server = await harness.server({ onRequest: ({ socket }) => socket.resetAndDestroy() });
    const client = harness.client({ connectionsPerOriginMax: 2 });
    const results = await Promise.all(Array.from({ length: 10 }, () => harness.silence(client, server.url())));
    expect(results.every((result) => result.cause === 'reset')).toBe(true);
    expect(server.requests).toHaveLength(10);
  });

  it('closes an idle connection after a while', async () => {
    const server = await harness.server({ onRequest: ({ socket }) => socket.write(response(200)) });
    await harness.response(harness.client({ keepAliveMs: 50 }), server.url());
    expect(server.sockets[0]?.destroyed).toBe(false);
    await pause(200);
    expect(server.sockets[0]?.destroyed).toBe(true);
  });
});

describe('HttpClient checks the clock immediately before the write', () => {
  it('sends nothing when the time to send is over', async () => {
    const server = await harness.server();
    for (const sendBeforeMonotonicMs of [performance.now() - 1, -Infinity]) {
      const result = await harness.silence(harness.client(), server.url(), { sendBeforeMonotonicMs });
      expect(result).toMatchObject({ cause: 'not_sent_deadline', evidence: { bytesWritten: false } });
    }
    const late = await harness.silence(harness.client(), server.url(), { deadlineMonotonicMs: performance.now() - 1 });
    expect(late.cause).toBe('not_sent_deadline');
    await pause(30);
    expect(server.requests).toHaveLength(0);
  });

  it('sends nothing when the event loop was blocked between the claim and the write, on a new connection', async () => {
    const server = await harness.server();
    let handed = 0;
    const sending = harness.silence(harness.client(), server.url(), {
      method: 'POST',
      sendBeforeMonotonicMs: performance.now() + 60,
      onHandedToTransport: () => {
        handed += 1;
      },
    });
    blockLoop(120);
    expect(await sending).toMatchObject({ cause: 'not_sent_deadline', evidence: { bytesWritten: false } });
    await pause(50);
    expect(server.bytesReceived).toBe(0);
    expect(handed).toBe(0);
  });

  it('sends nothing when the event loop was blocked between the claim and the write, on a kept connection', async () => {
    const server = await harness.server({ onRequest: ({ socket }) => socket.write(response(200)) });
    const client = harness.client();
    await harness.response(client, server.url());
    const sending = harness.silence(client, server.url(), {
      method: 'POST',
      sendBeforeMonotonicMs: performance.now() + 60,
    });
    blockLoop(120);
    expect(await sending).toMatchObject({ cause: 'not_sent_deadline', evidence: { bytesWritten: false } });
    await pause(50);
    expect(server.requests).toHaveLength(1);
  });

  it('checks in the step of the write itself: a clock that jumps once the connection stands is seen', async () => {
    const server = await harness.server();
    let jump = 0;
    const client = harness.client({
      now: () => performance.now() + jump,
      resolve: () => {
        jump = 60_000;
        return Promise.resolve(['127.0.0.1']);
      },
    });
    const result = await harness.silence(client, server.url('/', 'upstream.test'), { method: 'POST' });
    expect(result).toMatchObject({
      cause: 'not_sent_deadline',
      evidence: { bytesWritten: false, connectedAddress: '127.0.0.1' },
    });
    expect(server.bytesReceived).toBe(0);
  });

  it('gives up in the queue, and whoever comes after is served', async () => {
    const server = await harness.server({
      onRequest: ({ socket }) => setTimeout(() => socket.write(response(200, 'ok')), 150),
    });
    const client = harness.client({ connectionsPerOriginMax: 1 });
    const first = harness.response(client, server.url());
    const hurried = harness.silence(client, server.url(), { sendBeforeMonotonicMs: performance.now() + 50 });
    const patient = harness.response(client, server.url());
    const refused = await hurried;
    expect(refused).toMatchObject({ cause: 'not_sent_deadline', evidence: { bytesWritten: false } });
    expect(refused.evidence.endedAtMs - refused.evidence.startedAtMs).toBeLessThan(120);
    await Promise.all([first, patient]);
    expect(server.requests).toHaveLength(2);
  });

  it('takes a deadline further off than a timer can hold', async () => {
    const server = await harness.server({
      onRequest: ({ socket }) => setTimeout(() => socket.write(response(200)), 30),
    });
    const result = await harness.response(harness.client(), server.url(), {
      sendBeforeMonotonicMs: performance.now() + 30 * 86_400_000,
      deadlineMonotonicMs: Infinity,
    });
    expect(result.status).toBe(200);
  });
});

describe('HttpClient ends', () => {
  it('by waiting for what is in flight and taking nothing new', async () => {
    const ends: string[] = [];
    const server = await harness.server({
      onRequest: ({ socket }) =>
        setTimeout(() => {
          ends.push('answered');
          socket.write(response(200, 'ok'));
        }, 60),
    });
    const client = harness.client();
    const inFlight = harness.response(client, server.url());
    await pause(30);
    const closing = client.close().then(() => ends.push('closed'));
    expect(await harness.silence(client, server.url())).toMatchObject({
      cause: 'aborted',
      evidence: { bytesWritten: false },
    });
    await closing;
    expect(ends).toEqual(['answered', 'closed']);
    expect(textOf(await inFlight)).toBe('ok');
    await pause(20);
    expect(server.sockets.every((socket) => socket.destroyed)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it('at once when told to, and says of each request whether it was written', async () => {
    const server = await harness.server();
    const client = harness.client({ connectionsPerOriginMax: 1 });
    const written = harness.silence(client, server.url());
    const waiting = harness.silence(client, server.url());
    await pause(30);
    await client.destroy();
    expect(await written).toMatchObject({ cause: 'aborted', evidence: { bytesWritten: true } });
    expect(await waiting).toMatchObject({ cause: 'aborted', evidence: { bytesWritten: false } });
  });
});
