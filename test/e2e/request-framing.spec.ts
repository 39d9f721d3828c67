import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventCount } from '../support/event-records.js';
import { expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const BODY = '{"capability":"demo.wire","arguments":{"text":"x"}}';
const ANSWER_MS = 1_000;

let stack: Stack;
let harness: Client;
let token: string;

beforeAll(async () => {
  stack = await Stack.start({ capabilities: opaqueManifest('demo.wire'), policies: permit('demo.wire') });
  harness = await stack.as(CAST.harness);
  token = await stack.token(CAST.harness);
});
afterAll(() => stack.destroy());

const head = (...lines: readonly string[]): string =>
  ['POST /v1/tool-calls HTTP/1.1', 'host: proxy', `authorization: Bearer ${token}`, 'content-type: application/json']
    .concat('idempotency-key: framed', lines, '', '')
    .join('\r\n');

/** Sends bytes as they are and gives every byte that comes back until the other side ends, or nothing more is to be expected. */
async function exchange(text: string): Promise<string> {
  const { hostname, port } = new URL(stack.proxy.url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  const timer = setTimeout(() => socket.destroy(), ANSWER_MS);
  if (!socket.closed) await once(socket, 'close');
  clearTimeout(timer);
  return Buffer.concat(chunks).toString('utf8');
}

const statusesOf = (answer: string): number[] =>
  [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => Number(match[1]));

describe('a body whose length is ambiguous', () => {
  it.each([
    ['says less than it is', (body: string) => head(`content-length: ${body.length - 10}`) + body],
    ['says more than it is', (body: string) => head(`content-length: ${body.length + 10}`) + body],
    ['says two lengths', (body: string) => head(`content-length: ${body.length}`, 'content-length: 5') + body],
    [
      'says a length and chunks',
      (body: string) => head(`content-length: ${body.length}`, 'transfer-encoding: chunked') + chunked(body),
    ],
    ['says chunks and is none', (body: string) => head('transfer-encoding: chunked') + body],
    ['says a negative length', (body: string) => head('content-length: -1') + body],
    ['says a length that is no number', (body: string) => head('content-length: 5x') + body],
    [
      'says an encoding of transfer nobody knows',
      (body: string) => head('transfer-encoding: xchunked') + chunked(body),
    ],
    ['ends in the middle of a chunk', (body: string) => `${head('transfer-encoding: chunked')}ff\r\n${body}`],
    ['says nothing', (body: string) => head() + body],
  ])('because it %s is no call: nothing is recorded and nothing is sent', async (_, build) => {
    const before = eventCount(stack.dataDir);
    const answer = await exchange(build(BODY));
    for (const status of statusesOf(answer)) expect([400, 408, 411, 413, 501]).toContain(status);
    expect(answer).not.toContain('call_');
    expect(eventCount(stack.dataDir)).toBe(before);
    expect(stack.tool.executions('/demo.wire')).toEqual([]);
    expect((await harness.get('/v1/capabilities')).status).toBe(200);
  });
});

const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

describe('a body that is packed', () => {
  it.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'x-unknown'])(
    'as %s is refused before it is looked into',
    async (encoding) => {
      const before = eventCount(stack.dataDir);
      const headers = { 'content-encoding': encoding, 'idempotency-key': 'packed' };
      for (const raw of [new Uint8Array(gzipSync(BODY)), BODY]) {
        expectProblem(await harness.post('/v1/tool-calls', undefined, { raw, headers }), 'unsupported_media_type');
      }
      expect(eventCount(stack.dataDir)).toBe(before);
    },
  );

  it('so that it would become a thousand times larger is refused like any other', async () => {
    const raw = new Uint8Array(gzipSync(Buffer.alloc(50 * 1_048_576)));
    const answer = await harness.post('/v1/tool-calls', undefined, { raw, headers: { 'content-encoding': 'gzip' } });
    expectProblem(answer, 'unsupported_media_type');
  });
});

describe('a body in chunks', () => {
  it('that is too large in all is refused, whatever the single chunks are', async () => {
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const answer = await exchange(`${head('transfer-encoding: chunked')}${chunk.repeat(64)}0\r\n\r\n`);
    for (const status of statusesOf(answer)) expect(status).toBe(413);
  });

  it('that is right is one call, and what is recorded is what the tool got', async () => {
    const { length } = stack.tool.executions('/demo.wire');
    const answer = await exchange(
      head('transfer-encoding: chunked', 'connection: close', 'prefer: wait=5') + chunked(BODY),
    );
    expect(statusesOf(answer)).toEqual([200]);
    expect(answer).toContain('"arguments":{"text":"x"}');
    expect(
      stack.tool
        .executions('/demo.wire')
        .slice(length)
        .map(({ body }) => body),
    ).toEqual(['{"text":"x"}']);
  });
});
