import { NOTHING_FETCHED } from '../../builders/precondition-examples.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Precondition } from '../../../src/capabilities/manifest.js';
import { HttpClient } from '../../../src/egress/http-client.js';
import { PreconditionReader } from '../../../src/policy/preconditions/precondition-reader.js';
import { Credentials } from '../../../src/secrets/credentials.js';
import { SystemClock } from '../../../src/system/clock.js';
import { preconditionWith } from '../../builders/precondition-examples.js';
import { settingsWith } from '../../builders/settings-examples.js';
import { FakeTool, jsonAnswer, type FakeAnswer } from '../../support/fake-tool.js';
import { capabilityWith } from '../capabilities/manifest-examples.js';

const PATH = '/v1/orders/o-1';
const READER_KEY = 'a-key-that-can-only-read';
const SEND_KEY = 'a-key-that-can-send';
const ABOUT = { args: { orderId: 'o-1', amountMinor: 1 }, masked: [] };

let tool: FakeTool;
let http: HttpClient;

beforeAll(async () => {
  process.env['PRECONDITION_READER'] = READER_KEY;
  process.env['PRECONDITION_SENDER'] = SEND_KEY;
  tool = await FakeTool.start();
  http = new HttpClient();
});
beforeEach(() => {
  tool.received.length = 0;
});
afterAll(async () => {
  await http.destroy();
  await tool.stop();
});

const CREDENTIALS = {
  payments: { header: 'authorization', scheme: 'Bearer', secret: 'env:PRECONDITION_SENDER' },
  keyed: { header: 'x-api-key', scheme: null, secret: 'env:PRECONDITION_READER' },
};

async function read(more: object = {}, answer?: FakeAnswer, allowAddresses: readonly string[] = ['loopback']) {
  if (answer !== undefined) tool.behave(PATH, () => answer);
  const settings = settingsWith({ credentials: CREDENTIALS });
  const capability = capabilityWith(
    {
      preconditions: [preconditionWith({ timeout: '400ms', ...more })],
      connector: { baseUrl: 'upstream:payments', allowAddresses, credential: 'payments' },
    },
    { upstreams: { payments: tool.url }, credentials: CREDENTIALS },
  );
  const reader = new PreconditionReader(http, new Credentials(settings), settings, new SystemClock(), NOTHING_FETCHED);
  return reader.read(capability, capability.manifest.preconditions?.[0] as Precondition, ABOUT);
}

describe('a value of the world', () => {
  it('is read with a plain GET that carries neither our key nor the credential of the act', async () => {
    expect(await read({}, jsonAnswer({ status: 'open' }))).toMatchObject({
      holds: true,
      shown: 'open',
      isAbsent: false,
    });
    const [request] = tool.received;
    expect(request).toMatchObject({ method: 'GET', path: PATH, key: null, body: '' });
    expect(request?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(request?.headers)).not.toContain(SEND_KEY);
  });

  it('is read with the credential that the precondition names, which nobody gets to see', async () => {
    const reading = await read({ credential: 'keyed' }, jsonAnswer({ status: `${READER_KEY}!` }));
    expect(tool.received[0]?.headers['x-api-key']).toBe(READER_KEY);
    expect(reading).toMatchObject({ shown: '[redacted]!' });
  });

  it.each([404, 410])('is absent when the tool says %d', async (status) => {
    expect(await read({}, jsonAnswer({ error: 'none' }, status))).toMatchObject({ isAbsent: true, holds: false });
    expect(await read({ absent: 'is_a_value', expect: { equals: null } })).toMatchObject({ holds: true });
  });

  it('is absent when the answer has no such place', async () => {
    expect(await read({}, jsonAnswer({ state: 'open' }))).toMatchObject({ isAbsent: true, holds: false });
  });

  it.each<[string, FakeAnswer, string]>([
    ['comes too late', { ...jsonAnswer({ status: 'open' }), delayMs: 700 }, 'timeout'],
    ['is somewhere else', { status: 302, headers: { location: '/v1/other' }, text: '' }, 'status_302'],
    ['is an error', jsonAnswer({ status: 'open' }, 500), 'status_500'],
    ['is not for us', jsonAnswer({ status: 'open' }, 401), 'status_401'],
    ['has no body', { status: 204, text: '' }, 'answer_not_json'],
    ['is no JSON', { status: 200, text: 'open' }, 'answer_not_json'],
    ['says one thing twice', { status: 200, text: '{"status":"open","status":"open"}' }, 'answer_not_json'],
    ['is huge', jsonAnswer({ filling: 'x'.repeat(300_000), status: 'open' }), 'answer_too_large'],
    ['breaks off', { reset: true }, 'reset'],
  ])('is not known when the answer %s, and it is asked for once', async (_, answer, cause) => {
    expect(await read({}, answer)).toEqual({ cause });
    expect(tool.received.map(({ path }) => path)).toEqual([PATH]);
  });

  it('is not read at an address that the manifest does not allow', async () => {
    tool.behave(PATH, () => jsonAnswer({ status: 'open' }));
    expect(await read({}, undefined, ['10.0.0.0/8'])).toEqual({ cause: 'address_refused' });
    expect(tool.received).toEqual([]);
  });
});
