import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ErrorCode } from '../../src/domain/errors/error-codes.js';
import { opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventCount } from '../support/event-records.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const ROLES = ['harness', 'approver', 'operator', 'auditor', 'connector', 'feedback'] as const;
type Role = (typeof ROLES)[number];

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly roles: readonly Role[];
  /** What another tenant's caller with the right role gets. Absent: the route names no id. */
  readonly elsewhere?: ErrorCode;
}

let stack: Stack;
let harness: Client;
let routes: readonly Route[];

beforeAll(async () => {
  stack = await Stack.start({ capabilities: opaqueManifest('demo.wire'), policies: permit('demo.wire') });
  harness = await stack.as(CAST.harness);
  const orderId = await stack.provider.order();
  const proposed = await harness.propose('refund.create', { orderId, amountMinor: 7_000 }, { wait: 0 });
  const { toolCallId, runId } = proposed.body;
  const approvalId = approvalIdOf(proposed);
  const operator = await stack.as(CAST.operator);
  await operator.control({ type: 'pause', target: { capability: 'demo.wire' }, commandId: 'a-command' });
  const digest = `sha256:${'0'.repeat(64)}`;
  const opened = await harness.post<{ runId: string }>('/v1/runs', { label: 'to-fail' });
  const { runId: otherRunId } = opened.body;
  const artifact = { clientId: 'a-1', goalRef: 'g', mediaType: 'text/csv', digest, location: 's3://a' };
  const feedback = {
    feedbackId: 'f-1',
    verdict: 'met',
    criteriaId: 'c',
    criteriaVersion: '1',
    verifiedAt: '2031-01-01T00:00:00Z',
    evidenceRefs: [],
  };
  const everybody = ROLES;
  routes = [
    { method: 'POST', path: '/v1/tool-calls', body: {}, roles: ['harness'] },
    {
      method: 'GET',
      path: `/v1/tool-calls/${toolCallId}`,
      roles: ['harness', 'operator', 'auditor'],
      elsewhere: 'tool_call_not_found',
    },
    { method: 'GET', path: '/v1/tool-calls', roles: ['operator', 'auditor'] },
    {
      method: 'POST',
      path: `/v1/tool-calls/${toolCallId}/resolution`,
      body: { finding: 'happened', evidenceRefs: ['x'] },
      roles: ['operator'],
      elsewhere: 'tool_call_not_found',
    },
    { method: 'GET', path: '/v1/approvals', roles: ['approver', 'operator', 'auditor'] },
    {
      method: 'GET',
      path: `/v1/approvals/${approvalId}`,
      roles: ['approver', 'operator', 'auditor'],
      elsewhere: 'approval_not_found',
    },
    {
      method: 'POST',
      path: `/v1/approvals/${approvalId}/decision`,
      body: { decision: 'allow', digest },
      // Whoever is authenticated is refused on record, by the rule and not by the route.
      roles: everybody,
      elsewhere: 'approval_not_found',
    },
    {
      method: 'POST',
      path: '/v1/control',
      body: { type: 'cancel', target: { toolCallId: 'call_none' } },
      // Who may do what is a rule of each command; whoever may not is refused on record.
      roles: everybody,
    },
    {
      method: 'GET',
      path: '/v1/control/a-command',
      roles: everybody,
      elsewhere: 'command_not_found',
    },
    {
      method: 'GET',
      path: `/v1/runs/${runId}`,
      roles: ['harness', 'approver', 'operator', 'auditor'],
      elsewhere: 'run_not_found',
    },
    {
      method: 'POST',
      path: `/v1/tool-calls/${toolCallId}/feedback`,
      body: feedback,
      roles: ['feedback'],
      elsewhere: 'tool_call_not_found',
    },
    {
      method: 'GET',
      path: `/v1/runs/${runId}/view`,
      roles: ['harness', 'approver', 'operator', 'auditor'],
      elsewhere: 'run_not_found',
    },
    {
      method: 'GET',
      path: `/v1/runs/${runId}/timeline`,
      roles: ['operator', 'auditor'],
      elsewhere: 'run_not_found',
    },
    { method: 'POST', path: '/v1/runs', body: { label: 'a-label' }, roles: ['harness'] },
    ...[
      { path: `/v1/runs/${runId}/turns`, body: { clientId: 't-1' } },
      { path: `/v1/runs/${runId}/subagents`, body: { clientId: 's-1', childSessionId: 'x', goalRef: 'g' } },
      { path: `/v1/runs/${runId}/subagents/sub_none/end`, body: { status: 'failed' } },
      { path: `/v1/runs/${runId}/artifacts`, body: artifact },
      { path: `/v1/runs/${runId}/complete`, body: {} },
      { path: `/v1/runs/${otherRunId}/fail`, body: { code: 'model_failed' } },
    ].map(({ path, body }): Route => ({ method: 'POST', path, body, roles: ['harness'], elsewhere: 'run_not_found' })),
    {
      method: 'POST',
      path: '/v1/turns/trn_none/reasoning',
      body: { clientId: 'r-1', goalRef: 'g', conclusion: 'c', risk: 'low' },
      roles: ['harness'],
      elsewhere: 'turn_not_found',
    },
    { method: 'GET', path: '/v1/events', roles: ['operator', 'auditor'] },
    { method: 'GET', path: '/v1/capabilities', roles: everybody },
  ];
});
afterAll(() => stack.destroy());

const send = (client: Client, { method, path, body }: Route) => client.send(method, path, body);

describe('every route', () => {
  it('is closed without a token, and to tokens that are none', async () => {
    for (const route of routes) {
      for (const authorization of [
        undefined,
        'Bearer',
        'Bearer x',
        'Basic c2FtOnBhc3M=',
        'Bearer a.b.c',
        `Bearer ${'x'.repeat(9_000)}`,
      ]) {
        const headers = authorization === undefined ? {} : { authorization };
        const answer = await stack.withToken(null).send(route.method, route.path, route.body, { headers });
        expectProblem(answer, 'unauthenticated');
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    }
  });

  it('is open to its roles and to no other', async () => {
    for (const route of routes) {
      for (const role of ROLES) {
        const person = role === 'harness' ? CAST.harness : { sub: `only-${role}`, roles: [role], groups: [] };
        const answer = await send(await stack.as(person), route);
        const code = (answer.body as { code?: string }).code;
        const what = { route: `${route.method} ${route.path}`, role };
        expect({ ...what, open: code !== 'not_authorized' || answer.status !== 403 }).toEqual({
          ...what,
          open: route.roles.includes(role),
        });
      }
      const nobody = await stack.as({ sub: 'no-role', roles: [] });
      const answer = await send(nobody, route);
      if (route.roles.length < ROLES.length) expectProblem(answer, 'not_authorized');
      else expect([200, 403, 404]).toContain(answer.status);
    }
  });

  it('knows no id of another tenant, whatever the role', async () => {
    for (const route of routes) {
      if (route.elsewhere === undefined) continue;
      for (const role of route.roles) {
        const person =
          role === 'harness'
            ? CAST.elsewhereHarness
            : { sub: 'rolf', roles: [role], groups: ['support-lead'], tenant: 'umbrella' };
        const answer = await send(await stack.as(person), route);
        expectProblem(answer, route.elsewhere);
      }
    }
  });

  it('lists nothing of another tenant', async () => {
    const elsewhere = await stack.as(CAST.elsewhereOperator);
    for (const path of [
      '/v1/tool-calls',
      '/v1/approvals',
      '/v1/tool-calls?status=proposed',
      '/v1/approvals?status=pending',
    ]) {
      expect((await elsewhere.get(path)).body).toEqual({ items: [], nextCursor: null });
    }
  });

  it('changes nothing by GET or HEAD, whoever looks', async () => {
    const before = eventCount(stack.dataDir);
    for (const person of [CAST.lena, CAST.operator, CAST.auditor, CAST.harness, null]) {
      const client = person === null ? stack.withToken(null) : await stack.as(person);
      for (const { path } of routes) {
        for (const method of ['GET', 'HEAD']) {
          for (let times = 0; times < 2; times += 1) {
            const answer = await client.send(method, path, undefined, {
              headers: { 'user-agent': 'Slackbot-LinkExpanding 1.0' },
            });
            expect(answer.status).toBeLessThan(500);
          }
        }
      }
    }
    expect(eventCount(stack.dataDir)).toBe(before);
  });
});

describe('another principal of the same tenant', () => {
  it("does not find a harness's calls, runs or commands", async () => {
    const proposed = await harness.propose('order.read', { orderId: 'ord_1001' }, { key: null });
    const other = await stack.as(CAST.otherHarness);
    expectProblem(await other.call(proposed.body.toolCallId), 'tool_call_not_found');
    expectProblem(await other.get(`/v1/runs/${proposed.body.runId}`), 'run_not_found');
    expectProblem(await other.command('a-command'), 'command_not_found');
    const otherAgent = await stack.as({ sub: 'sam', act: { sub: 'another-agent' }, roles: ['harness'] });
    expectProblem(await otherAgent.call(proposed.body.toolCallId), 'tool_call_not_found');
    const replaced = await stack.as({ ...CAST.harness });
    expect((await replaced.call(proposed.body.toolCallId)).status).toBe(200);
  });
});

describe('a request that fits no route', () => {
  it('is answered as a problem with its code', async () => {
    for (const path of ['/', '/v1', '/v2/tool-calls', '/v1/tool-calls/', '/v1/approvals/x/y/z', '/admin']) {
      const answer = await harness.get(path);
      expect({ path, status: answer.status }).toEqual({ path, status: 404 });
      expect(['not_found', 'tool_call_not_found']).toContain((answer.body as { code: string }).code);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    }
  });

  it('because its URL is malformed is answered as a problem too', async () => {
    for (const path of ['/v1/tool-calls/%ff', '/v1/tool-calls/%', `/v1/tool-calls/${'x'.repeat(2_000)}`]) {
      const answer = await harness.get(path);
      expect([400, 404, 414]).toContain(answer.status);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(answer.text).not.toContain('FST_');
    }
  });

  it('by its method is 404 or 405, as a problem', async () => {
    for (const { path } of routes) {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await harness.send(method, path);
        expect([404, 405]).toContain(answer.status);
        expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      }
    }
  });

  it('by its media type is 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'multipart/form-data; boundary=x',
      'application/jsonp',
    ]) {
      expectProblem(
        await harness.post('/v1/tool-calls', {}, { headers: { 'content-type': type } }),
        'unsupported_media_type',
      );
    }
    const encoded = await harness.post('/v1/tool-calls', {}, { headers: { 'content-encoding': 'gzip' } });
    expectProblem(encoded, 'unsupported_media_type');
  });

  it('by its size is 413', async () => {
    expectProblem(await harness.post('/v1/tool-calls', { capability: 'x'.repeat(1_100_000) }), 'payload_too_large');
  });

  it('by its fields is 400, with the place and no value', async () => {
    const wrong: readonly (readonly [object, string])[] = [
      [{ arguments: {} }, '/capability'],
      [{ capability: 'demo.wire' }, '/arguments'],
      [{ capability: 'demo.wire', arguments: {}, extra: 'canary-value' }, '/extra'],
      [{ capability: 'demo.wire', arguments: [] }, '/arguments'],
      [{ capability: 7, arguments: {} }, '/capability'],
      [{ capability: 'demo.wire', arguments: {}, runId: '' }, '/runId'],
      [{ capability: 'demo.wire', arguments: {}, runId: 0 }, '/runId'],
      [{ capability: 'demo.wire', arguments: {}, runId: 'x'.repeat(5_000) }, '/runId'],
      [{ capability: 'demo.wire', arguments: {}, turnId: null }, '/turnId'],
      [{ capability: 'demo.wire', arguments: {}, callId: '\u{1F389}'.repeat(300) }, '/callId'],
      [{ capability: 'demo.wire', arguments: {}, allowDuplicateIntent: 'yes' }, '/allowDuplicateIntent'],
    ];
    for (const [body, pointer] of wrong) {
      const problem = expectProblem(await harness.post('/v1/tool-calls', body), 'invalid_request');
      expect({ body, pointer: problem.pointer }).toEqual({ body, pointer });
      expect(JSON.stringify(problem)).not.toContain('canary-value');
    }
  });

  it('by its waiting time is 400', async () => {
    for (const wait of ['-1', 'NaN', 'long']) {
      expectProblem(await harness.get(`/v1/tool-calls/call_x?wait=${wait}`), 'invalid_request');
    }
    expectProblem(await harness.get('/v1/tool-calls/call_x?hold=1'), 'invalid_request');
  });
});

describe('ids in paths', () => {
  it('that walk through folders or carry control characters are 404 like any other unknown id', async () => {
    const operator = await stack.as(CAST.operator);
    for (const id of [
      '..%2f..%2fetc%2fpasswd',
      '%2e%2e',
      'a%00b',
      "x'%20OR%201=1",
      'a%0ab',
      '%F0%9F%8E%89'.repeat(50),
      'call_x%22',
    ]) {
      for (const folder of ['tool-calls', 'approvals', 'runs', 'control']) {
        const answer = await operator.get(`/v1/${folder}/${id}`);
        expect({ folder, id, status: answer.status }).toEqual({ folder, id, status: 404 });
        expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      }
    }
  });
});
