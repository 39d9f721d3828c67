import { createHash, createHmac } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import type { LeaseIntrospected, LeasePage, LeaseRepresentation } from '../../src/client/contract/leases.js';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import { connector, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { jsonAnswer, type Received } from '../support/fake-tool.js';
import { expectProblem, type Answer, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const KEY = 'canary-lease-credential-9Qw3Er7Ty';
const EXECUTION = {
  environmentId: 'demo-environment',
  sandboxTrustLevel: 'high',
  networkPolicy: { allowHosts: ['127.0.0.1'] },
  dataAccessPolicy: { access: 'write', resources: ['demo'] },
};
const withCredential = (name: string): object => ({
  ...connector({ method: 'POST', path: `/${name}`, body: '{args}' }),
  credential: 'payments',
});

let stack: Stack;
let harness: Client;
let operator: Client;
let upstream: Client;
let elsewhere: Client;
const tokens: string[] = [];

beforeAll(async () => {
  stack = await Stack.start({
    apiKey: KEY,
    capabilities: {
      ...opaqueManifest(
        'demo.lent',
        { n: { type: 'integer' } },
        { connector: withCredential('demo.lent'), lease: { scopes: ['demo:do'] }, execution: EXECUTION },
      ),
      ...opaqueManifest(
        'demo.signed',
        { n: { type: 'integer' } },
        {
          connector: withCredential('demo.signed'),
          lease: { mode: 'sign_on_behalf', scopes: ['demo:do'] },
          execution: { ...EXECUTION, sandboxTrustLevel: 'low' },
        },
      ),
      ...opaqueManifest(
        'demo.token',
        { n: { type: 'integer' } },
        {
          lease: { mode: 'token', scopes: ['demo:do', 'demo:more'], audience: 'https://tool.example' },
          execution: EXECUTION,
          timeout: '10s',
        },
      ),
    },
    policies: {
      ...permit('demo.lent'),
      ...permit('demo.signed'),
      'demo.token-permit.cedar': `@id("demo.token.permit")
@lease("ttl=60;scope=demo:do")
permit (principal, action == Action::"demo.token", resource);`,
    },
    env: { COUNTERSIGN_LOG__LEVEL: 'debug' },
  });
  harness = await stack.as(CAST.harness);
  operator = await stack.as(CAST.operator);
  upstream = await stack.as({ sub: 'tool', roles: ['connector'] });
  elsewhere = await stack.as(CAST.elsewhereOperator);
});
afterAll(() => stack.destroy());

async function leaseOf(toolCallId: string): Promise<LeaseRepresentation> {
  const { body } = await operator.get<LeasePage>(`/v1/leases?toolCallId=${toolCallId}`);
  return body.items[0] as LeaseRepresentation;
}

/** Proposes, and answers what the tool was sent while it still waits. */
async function held(
  n: number,
): Promise<{ call: Promise<Answer<ToolCallRepresentation>>; sent: Received; token: string }> {
  const before = stack.tool.executions('/demo.token').length;
  const call = harness.propose('demo.token', { n });
  const sent = (await until(
    'the request of the call',
    () => stack.tool.executions('/demo.token')[before],
    (request) => request !== undefined,
  )) as Received;
  const token = String(sent.headers['authorization']).replace('Bearer ', '');
  tokens.push(token);
  return { call, sent, token };
}

const introspect = async (token: string, more: object = {}): Promise<LeaseIntrospected> =>
  (await upstream.post<LeaseIntrospected>('/v1/leases/introspect', { token, ...more })).body;

describe('a call under a lease', () => {
  it('takes nine events, and its lease ends with it [P-06, K-37]', async () => {
    const { body: call } = await harness.propose('demo.lent', { n: 1 });
    expect(call).toMatchObject({ status: 'completed' });
    expect(stack.tool.executions('/demo.lent').at(-1)?.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
    expect(eventsOf(stack.dataDir, 'tool_call_id', call.toolCallId).map(({ event_type }) => event_type)).toEqual([
      'tool.call.proposed',
      'policy.decided',
      'capability.authorized',
      'lease.issued',
      'tool.call.dispatching',
      'tool.call.dispatched',
      'tool.call.accepted',
      'tool.call.completed',
      'lease.released',
    ]);
    expect(await leaseOf(call.toolCallId)).toMatchObject({
      status: 'released',
      uses: 1,
      scopes: ['demo:do'],
      executionEnvironmentId: 'demo-environment',
    });
  });

  it('signed on its behalf gives the tool a signature that only the credential makes, and never the credential [K-36]', async () => {
    const { body: call } = await harness.propose('demo.signed', { n: 2 });
    const { headers, body } = stack.tool.executions('/demo.signed').at(-1) as Received;
    const lease = await leaseOf(call.toolCallId);
    const digest = createHash('sha256').update(body).digest('hex');
    const signed = ['v1', headers['countersign-timestamp'], 'POST', '/demo.signed', digest, lease.leaseId].join('\n');
    const expected = createHmac('sha256', KEY).update(signed).digest('hex');
    expect(headers['countersign-signature']).toBe(`v1=${expected}`);
    expect(JSON.stringify(headers)).not.toContain(KEY);
  });

  it('with a token lets the tool use it once, and not after the end [L3, L4, L8]', async () => {
    stack.tool.behave('/demo.token', ({ headers }) => ({
      ...jsonAnswer({ heard: headers['authorization'] }),
      delayMs: 900,
    }));
    const { call, token } = await held(3);
    const { body: keys } = await harness.get<JSONWebKeySet>('/.well-known/jwks.json');
    expect(keys.keys).toHaveLength(2);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'Ed25519', typ: 'lease+jwt', kid: keys.keys[0]?.kid });
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), { audience: 'https://tool.example' });
    expect(payload).toMatchObject({ scope: 'demo:do', max_uses: 1, sub: 'sam', act: { sub: 'support-agent' } });
    const txn = payload['txn'] as string;
    expect(await introspect(token, { use: true, toolCallId: 'call_other' })).toEqual({
      active: false,
      code: 'lease_call_mismatch',
    });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => introspect(token, { use: true, toolCallId: txn })),
    );
    expect(answers.filter(({ active }) => active)).toEqual([expect.objectContaining({ used: true, usesLeft: 0, txn })]);
    expect(answers.filter(({ code }) => code === 'lease_exhausted')).toHaveLength(7);
    const { body } = await call;
    expect(body.status).toBe('completed');
    expect(JSON.stringify(body)).not.toContain(token);
    expect(await introspect(token, { use: true })).toEqual({ active: false, code: 'lease_released' });
  });

  it('that is stopped before the tool used its token can be used no more [Q06, L7, K-105]', async () => {
    const { call, token } = await held(4);
    const { body: open } = await operator.get<LeasePage>('/v1/leases?status=issued');
    const { runId, leaseId } = open.items[0] as LeaseRepresentation;
    await operator.post('/v1/control', { type: 'stop', target: { runId } });
    expect(await introspect(token, { use: true })).toEqual({ active: false, code: 'lease_revoked' });
    await call;
    const live = ({ status }: LeaseRepresentation): boolean => status === 'issued' || status === 'active';
    await until(
      'leases of a stopped run',
      async () => (await operator.get<LeasePage>(`/v1/leases?runId=${runId}`)).body.items,
      (items) => !items.some(live),
    );
    expect((await operator.get<LeaseRepresentation>(`/v1/leases/${leaseId}`)).body).toMatchObject({
      status: 'revoked',
      reason: 'stopped',
    });
  });

  it('is revoked by an operator of its tenant, as often as asked, and by nobody else [Q09, X26]', async () => {
    const { call, token } = await held(5);
    const jti = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string };
    const path = `/v1/leases/${jti.jti}`;
    expectProblem(await elsewhere.post(`${path}/revoke`, {}), 'lease_not_found');
    expectProblem(await harness.post(`${path}/revoke`, {}), 'not_authorized');
    expect(await introspect(token)).toMatchObject({ active: true, used: false });
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await operator.post<LeaseRepresentation>(`${path}/revoke`, {});
      expect({ status, lease: body.status, reason: body.reason }).toEqual({
        status: 200,
        lease: 'revoked',
        reason: 'operator',
      });
    }
    expectProblem(await upstream.post(`${path}/renew`, {}), 'lease_revoked');
    expect(await introspect(token, { use: true })).toEqual({ active: false, code: 'lease_revoked' });
    await call;
    expect(
      eventsOf(stack.dataDir, 'tool_call_id', (await call).body.toolCallId).filter(
        ({ event_type }) => event_type === 'lease.revoked',
      ),
    ).toHaveLength(1);
  });

  it('does not survive a restart of the proxy [P-48, L9]', async () => {
    const { call, token } = await held(6);
    call.catch(() => undefined);
    await stack.restart('SIGKILL');
    expect(await introspect(token, { use: true })).toEqual({ active: false, code: 'lease_revoked' });
    const { body } = await operator.get<LeasePage>('/v1/leases?status=revoked');
    expect(body.items[0]).toMatchObject({ status: 'revoked', reason: 'restart', uses: 0 });
  });

  it('leaves no token and no credential in any answer, line of output or byte of the data directory [P-47, K-35]', () => {
    const files = readdirSync(stack.dataDir, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const places = {
      answers: stack.transcript.join('\n'),
      output: stack.output,
      data: Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name)))).toString('latin1'),
    };
    expect(tokens).toHaveLength(4);
    const secrets = [KEY, ...tokens, ...tokens.map((token) => token.split('.')[2] as string)];
    for (const [place, text] of Object.entries(places)) {
      for (const secret of secrets) expect({ place, found: text.includes(secret) }).toEqual({ place, found: false });
    }
  });
});
