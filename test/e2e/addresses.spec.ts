import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connector, opaqueManifest, permit, type Files } from '../support/demo-capabilities.js';
import type { Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

/** Ways to write the own machine, or a place inside, that no manifest has opened. */
const INSIDE = {
  name: 'localhost',
  dotted: '127.0.0.1',
  whole: '2130706433',
  octal: '0177.0.0.1',
  hexadecimal: '0x7f.1',
  anything: '0.0.0.0',
  mapped: '[::ffff:7f00:1]',
  six: '[::1]',
  translated: '[64:ff9b::7f00:1]',
  sixtofour: '[2002:7f00:1::]',
  metadata: '169.254.169.254',
  shared: '100.64.0.1',
  private: '10.0.0.1',
} as const;

let stack: Stack;
let harness: Client;
let door: Server;
let knocks = 0;

beforeAll(async () => {
  door = createServer((socket) => {
    knocks += 1;
    socket.destroy();
  });
  door.listen(0, '::');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
  const names = Object.keys(INSIDE).map((word) => `inside.${word}`);
  const capabilities = Object.entries(INSIDE).map(([word, host]) =>
    closedManifest(`inside.${word}`, `https://${host}:${port}`),
  );
  stack = await Stack.start({
    capabilities: Object.assign({}, ...capabilities, opaqueManifest('demo.wire')) as Files,
    policies: Object.assign({}, ...names.map(permit), permit('demo.wire')) as Files,
  });
  harness = await stack.as(CAST.harness);
});
afterAll(async () => {
  await stack.destroy();
  door.close();
});

const TEXT = { text: { type: 'string', maxLength: 100 } };

const closedManifest = (name: string, baseUrl: string): Files =>
  opaqueManifest(name, TEXT, {
    timeout: '2s',
    connector: { ...connector({ method: 'POST', path: '/x', body: '{args}' }), baseUrl, allowAddresses: [] },
  });

describe('an address inside that no manifest has opened', () => {
  it.each(Object.keys(INSIDE))('is never connected to, however it is written: %s', async (word) => {
    const answer = await harness.propose(`inside.${word}`, { text: 'x' });
    expect(answer.body).toMatchObject({
      status: 'failed',
      error: { code: 'not_sent', effect: 'none' },
      mayHaveHappened: false,
    });
    expect(answer.body.error?.message).toMatch(/address/);
    expect(knocks).toBe(0);
  });

  it('cannot be named by arguments: the place is fixed by the manifest', async () => {
    const text = 'http://127.0.0.1/@169.254.169.254/../../admin?x#y';
    expect((await harness.propose('demo.wire', { text })).body.status).toBe('completed');
    expect(stack.tool.executions('/demo.wire').map(({ body }) => JSON.parse(body) as unknown)).toEqual([{ text }]);
    expect(knocks).toBe(0);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'of %i to the inside is not followed, and counts as an answer nobody understands',
    async (status) => {
      const { port } = door.address() as AddressInfo;
      stack.tool.behave('/demo.wire', () => ({
        status,
        headers: { location: `http://127.0.0.1:${port}/stolen` },
        text: '',
      }));
      const sent = await harness.propose('demo.wire', { text: `redirect ${status}` }, { wait: 0 });
      const call = await harness.callWhen(sent.body.toolCallId, ['manual_handoff', 'completed', 'failed']);
      expect(call).toMatchObject({ status: 'manual_handoff', mayHaveHappened: true });
      expect(knocks).toBe(0);
    },
  );
});
