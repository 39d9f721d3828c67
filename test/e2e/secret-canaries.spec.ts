import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuthorizationServer, CLIENT_SECRET } from '../support/authorization-server.js';
import { countersign } from '../support/command-line.js';
import { connector, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { jsonAnswer, type FakeAnswer } from '../support/fake-tool.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const STATIC = 'canary-static-key-4Gt7Yb2Nq';
const STORED = 'canary-stored-key-9Ws1Zx5Mv';
const ROTATED = 'canary-rotated-key-6Hj8Lp3Rd';
const WAYS = { static: 'payments', stored: 'kept', fetched: 'crm' } as const;
type Way = keyof typeof WAYS;

/** Files with secrets that the operator keeps, outside of everything of the product. */
const elsewhere = mkdtempSync(join(tmpdir(), 'countersign-kept-'));
let stack: Stack;
let harness: Client;
let authorization: AuthorizationServer;
let operatorToken: string;
/** A little longer than nobody asks an authorization server that has just failed. */
const AFTER_A_FAILURE_MS = 1200;

/** Every token that the tool was sent. */
const fetched = new Set<string>();

const path = (way: Way): string => `/demo.${way}`;

beforeAll(async () => {
  authorization = await AuthorizationServer.start();
  writeFileSync(join(elsewhere, 'crm-client.txt'), `${CLIENT_SECRET}\n`, { mode: 0o600 });
  const ways = Object.keys(WAYS) as Way[];
  const manifests = ways.map((way) => {
    const sends = { ...connector({ method: 'POST', path: path(way), body: '{args}' }), credential: WAYS[way] };
    return opaqueManifest(`demo.${way}`, { text: { type: 'string' } }, { connector: sends, timeout: '1s' });
  });
  const crm = {
    kind: 'oauth_client_credentials',
    issuer: authorization.issuer,
    clientId: 'countersign',
    clientSecret: `file:${join(elsewhere, 'crm-client.txt')}`,
    scope: 'tickets.write',
    allowAddresses: ['loopback'],
    timeoutMs: 400,
  };
  const kept = { secret: 'secret:kept-key', header: 'x-api-key', scheme: null };
  stack = await Stack.start({
    apiKey: STATIC,
    capabilities: Object.assign({}, ...manifests) as Record<string, string>,
    policies: Object.assign({}, ...ways.map((way) => permit(`demo.${way}`))) as Record<string, string>,
    env: {
      COUNTERSIGN_LOG__LEVEL: 'debug',
      COUNTERSIGN_CREDENTIALS: JSON.stringify({ crm, kept }),
    },
    beforeStart: async (environment) => {
      const file = join(elsewhere, 'kept-key.txt');
      writeFileSync(file, `${STORED}\n`, { mode: 0o600 });
      const stored = await countersign(['secret', 'put', 'kept-key', '--from-file', file], environment);
      expect(stored).toMatchObject({ code: 0, out: 'secret:kept-key@1\n' });
    },
  });
  harness = await stack.as(CAST.harness);
  operatorToken = join(stack.dir, 'operator.jwt');
  writeFileSync(operatorToken, await stack.token(CAST.operator), { mode: 0o600 });
});
afterAll(async () => {
  await stack?.destroy();
  await authorization?.stop();
  rmSync(elsewhere, { recursive: true, force: true });
});

const cli = (...args: string[]) =>
  countersign([...args, '--token-file', operatorToken, '--url', stack.proxy.url], stack.environment);

/** What the tool was sent as its credential, last. */
function received(way: Way): string {
  const headers = stack.tool.executions(path(way)).at(-1)?.headers ?? {};
  const value = (headers['x-api-key'] ?? headers.authorization ?? '') as string;
  const secret = value.replace('Bearer ', '');
  if (way === 'fetched' && secret !== '') fetched.add(secret);
  return secret;
}

const encodings = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4)
      .replaceAll('=', ''),
  );
  return [secret, bytes.toString('hex'), ...shifted];
};

function bytesBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name)))).toString('latin1');
}

async function expectNoSecrets(): Promise<void> {
  const auditor = await stack.as(CAST.auditor);
  let events = '';
  for (let after = -1; ;) {
    const page = await auditor.get<{ items: readonly { position: number }[] }>(`/v1/events?after=${after}&limit=200`);
    events += page.text;
    const last = page.body.items.at(-1)?.position;
    if (last === undefined) break;
    after = last;
  }
  expect(events).toContain('tool.call.completed');
  const { pid } = stack.proxy;
  const places: Record<string, string> = {
    events,
    answers: stack.transcript.join('\n'),
    output: stack.output,
    data: bytesBelow(stack.dataDir),
    cmdline: readFileSync(`/proc/${pid}/cmdline`, 'latin1'),
    title: readFileSync(`/proc/${pid}/comm`, 'latin1'),
    children: readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .split(' ')
      .filter((child) => child.trim() !== '')
      .map(
        (child) => readFileSync(`/proc/${child}/environ`, 'latin1') + readFileSync(`/proc/${child}/cmdline`, 'latin1'),
      )
      .join(''),
  };
  const secrets = [STATIC, STORED, ROTATED, CLIENT_SECRET, ...fetched].flatMap(encodings);
  const found = Object.entries(places).flatMap(([place, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => ({ place, secret })),
  );
  expect(found).toEqual([]);
}

describe.each(['static', 'stored', 'fetched'] as const)('a %s credential', (way) => {
  const expected = (): string => ({ static: STATIC, stored: STORED, fetched: received('fetched') })[way];

  it('reaches the tool and nobody else when the call succeeds [Q05]', async () => {
    const done = await harness.propose(`demo.${way}`, { text: 'succeeds' });
    expect(done.body.status).toBe('completed');
    expect(received(way)).toBe(expected());
    expect(received(way).length).toBeGreaterThan(16);
    await expectNoSecrets();
  });

  it.each([
    ['as it is', (secret: string): FakeAnswer => jsonAnswer({ got: secret }, 401)],
    ['in base64', (secret: string): FakeAnswer => jsonAnswer({ got: Buffer.from(`key ${secret}`).toString('base64') })],
    ['cut over two chunks', (secret: string): FakeAnswer => ({ status: 422, text: `no: ${secret}`, cutAt: 12 })],
  ])('is taken out of an answer that repeats it %s [Q03, X43]', async (how, answer) => {
    stack.tool.behave(path(way), () => answer(received(way)));
    await harness.propose(`demo.${way}`, { text: `echoes ${how}` });
    expect(received(way)).not.toBe('');
    await expectNoSecrets();
    stack.tool.behave(path(way), () => jsonAnswer({ ok: true }));
  });
});

describe('a call that waits for a person', () => {
  it('has no secret in what is kept meanwhile: a copy of the data directory holds none [Q05]', async () => {
    const asked = { orderId: await stack.provider.order(), amountMinor: 7_000 };
    const waiting = await harness.propose('refund.create', asked, { wait: 0 });
    const lead = await stack.as(CAST.lena);
    const pending = await lead.get<{ status: string }>(`/v1/approvals/${approvalIdOf(waiting)}`);
    expect(pending.body.status).toBe('pending');
    await expectNoSecrets();
  });
});

describe('a credential that cannot be had', () => {
  it('ends the call as not sent, with a code of its own and nothing at the tool', async () => {
    await authorization.be('hang');
    stack.tool.behave(path('fetched'), () => jsonAnswer({ error: 'expired' }, 401));
    await harness.propose('demo.fetched', { text: 'its token is refused' });
    received('fetched');
    const before = stack.tool.executions(path('fetched')).length;
    const failed = await harness.propose('demo.fetched', { text: 'has no token' });
    expect(failed.body).toMatchObject({
      status: 'failed',
      mayHaveHappened: false,
      error: { code: 'credential_unavailable', effect: 'none' },
    });
    expect(stack.tool.executions(path('fetched'))).toHaveLength(before);
    await authorization.be('serve');
    stack.tool.behave(path('fetched'), () => jsonAnswer({ ok: true }));
    await pause(AFTER_A_FAILURE_MS);
    const again = await harness.propose('demo.fetched', { text: 'its server answers again' });
    expect(again.body.status).toBe('completed');
    received('fetched');
    await expectNoSecrets();
  });
});

describe('a stored secret', () => {
  it('is replaced while the server runs, calls have the new value from then on, and no route gives one', async () => {
    const file = join(stack.dir, 'rotated.txt');
    writeFileSync(file, ROTATED, { mode: 0o600 });
    const put = await cli('secret', 'put', 'kept-key', '--from-file', file);
    expect(put).toMatchObject({ code: 0, out: 'secret:kept-key@2\n' });
    await harness.propose('demo.stored', { text: 'after the rotation' });
    expect(received('stored')).toBe(ROTATED);
    const operator = await stack.as(CAST.operator);
    const [retired, refused] = await Promise.all([
      cli('secret', 'retire', 'kept-key@1'),
      // Without a token the directory itself is opened, and the server that runs has it.
      countersign(['secret', 'list'], stack.environment),
    ]);
    expect(retired).toMatchObject({ code: 0 });
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('instance_already_running') as unknown });
    expectProblem(await operator.post('/v1/secrets/kept-key/retire', { version: 2 }), 'secret_in_use');
    expectProblem(await operator.post('/v1/secrets/kept-key/retire', { version: 9 }), 'secret_not_found');
    const { out } = await cli('secret', 'list');
    expect(out).toMatch(/kept-key@1\t\S+\tretired .*\nkept-key@2\t\S+\tkek_/);
    await operator.get('/v1/secrets');
    await expectNoSecrets();
  });
});

describe('a revoked token', () => {
  const claims = { sub: 'lena', roles: ['approver'], groups: ['support-lead'] };
  const named = (jti: string): Promise<string> => stack.token({ ...claims, jti } as never);

  it('is refused at once although it was verified before, and its neighbours are not', async () => {
    const [one, other] = [await named('token-one'), await named('token-two')];
    expect((await stack.withToken(one).get('/v1/approvals')).status).toBe(200);
    expect(await cli('token', 'revoke', '--jti', 'token-one', '--reason', 'it was lost')).toMatchObject({ code: 0 });
    expectProblem(await stack.withToken(one).get('/v1/approvals'), 'unauthenticated');
    expect((await stack.withToken(other).get('/v1/approvals')).status).toBe(200);
  });

  it('of an agent ends all it has been given, and not those of another tenant [X26]', async () => {
    const mine = await stack.as({ ...CAST.otherHarness, act: { sub: 'lost-agent' } });
    const theirs = await stack.as({ ...CAST.elsewhereHarness, act: { sub: 'lost-agent' } });
    const operator = await stack.as(CAST.operator);
    expect((await mine.get('/v1/capabilities')).status).toBe(200);
    const later = new Date(Date.now() + 600_000).toISOString();
    const ahead = { tenant: 'acme', sub: 'lost-agent', issuedBefore: later };
    expectProblem(await operator.post('/v1/tokens/revoke', ahead), 'invalid_request');
    expect((await mine.get('/v1/capabilities')).status).toBe(200);
    await operator.post('/v1/tokens/revoke', { tenant: 'acme', sub: 'lost-agent' });
    expectProblem(await mine.get('/v1/capabilities'), 'unauthenticated');
    expect((await theirs.get('/v1/capabilities')).status).toBe(200);
    const elsewhere = await stack.as(CAST.elsewhereOperator);
    const tried = await elsewhere.post('/v1/tokens/revoke', { tenant: 'umbrella', sub: 'lost-agent' });
    expectProblem(tried, 'not_authorized');
  });

  it('and a stored secret are what they were after the process was killed', async () => {
    await stack.restart('SIGKILL');
    expectProblem(await stack.withToken(await named('token-one')).get('/v1/approvals'), 'unauthenticated');
    expect((await stack.withToken(await named('token-two')).get('/v1/approvals')).status).toBe(200);
    const [listed] = await Promise.all([
      cli('token', 'list'),
      harness.propose('demo.stored', { text: 'after the kill' }),
    ]);
    expect(listed.out).toContain('token token-one\tuntil ');
    expect(received('stored')).toBe(ROTATED);
    await expectNoSecrets();
  });
});
