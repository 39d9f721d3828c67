import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LeasePage } from '../../src/client/contract/leases.js';
import { connector, opaqueManifest, permit } from '../support/demo-capabilities.js';
import type { DecisionsAnswer } from '../../src/client/contract/approval-acts.js';
import { approvalIdOf, expectProblem, type Answer, type Client } from '../support/http-client.js';
import { SessionClient, userMessage } from '../support/session-client.js';
import { CAST, Stack } from '../support/stack.js';

const ROLES = ['harness', 'approver', 'operator', 'auditor', 'connector', 'feedback'] as const;

/** A word that only the tenant `acme` has written, in everything that it wrote. */
const MARK = 'canary-of-acme-3Fw';
/** Parameters of paths that name what belongs to the installation, and to no tenant. */
const OF_INSTALLATION: Readonly<Record<string, string>> = {
  capability: 'demo.wire',
  name: 'a-sink',
  secret: 'payments',
  revision: `sha256:${'0'.repeat(64)}`,
  activationId: 'pac_of_nobody',
  file: 'swagger-ui.css',
};

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly roles: readonly string[];
  readonly isOpen: boolean;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly body: unknown;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly examples?: readonly unknown[] }>> };
}

interface DocumentedOperation {
  readonly 'x-roles': readonly string[];
  readonly security: readonly unknown[];
  readonly parameters?: Operation['parameters'];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
  };
}

let stack: Stack;
let ids: Readonly<Record<string, string>>;
let operations: readonly Operation[];

beforeAll(async () => {
  const execution = {
    environmentId: 'demo',
    sandboxTrustLevel: 'high',
    networkPolicy: { allowHosts: ['127.0.0.1'] },
    dataAccessPolicy: { access: 'write', resources: ['demo'] },
  };
  const lent = {
    connector: { ...connector({ method: 'POST', path: '/wire', body: '{args}' }), credential: 'payments' },
  };
  stack = await Stack.start({
    capabilities: opaqueManifest(
      'demo.wire',
      { text: { type: 'string' } },
      { ...lent, lease: { scopes: ['demo:do'] }, execution },
    ),
    policies: permit('demo.wire'),
  });
  const harness = await stack.as(CAST.harness);
  const session = new SessionClient(harness, `${MARK}-session`);
  await session.open({ metadata: { note: MARK } });
  const orderId = await stack.provider.order();
  const proposed = await harness.propose(
    'refund.create',
    { orderId, amountMinor: 7_000 },
    { wait: 0, body: { reason: MARK } },
  );
  const wired = await harness.propose('demo.wire', { text: MARK });
  const { runId = '' } = (await harness.post<{ runId?: string }>('/v1/runs', { label: MARK, goalRef: MARK })).body;
  const turn = await harness.post<{ turnId: string }>(`/v1/runs/${runId}/turns`, { clientId: `${MARK}-turn` });
  const subagent = { clientId: `${MARK}-sub`, childSessionId: MARK, goalRef: MARK };
  const child = await harness.post<{ subagentId: string }>(`/v1/runs/${runId}/subagents`, subagent);
  await harness.post(`${session.path}/events`, {
    ownerEpoch: session.ownerEpoch,
    expectedSeq: session.nextSeq,
    events: [userMessage('m1', MARK)],
  });
  await harness.post(`${session.path}/flush`, {});
  const operator = await stack.as(CAST.operator);
  const pause = { type: 'pause', target: { principal: MARK }, reason: MARK, commandId: `${MARK}-command` };
  expect((await operator.control(pause)).status).toBe(202);
  const { body: leases } = await operator.get<LeasePage>(`/v1/leases?toolCallId=${wired.body.toolCallId}`);
  const lead = await stack.as(CAST.lena);
  const until = new Date(Date.now() + 600_000).toISOString();
  const grant = { capability: 'demo.wire', group: 'support-lead', until, reason: MARK };
  const granted = await lead.post<{ grantId: string }>('/v1/grants', grant);
  const lentOn = await lead.post<{ delegationId: string }>('/v1/delegations', {
    to: `${MARK}-deputy`,
    until,
    reason: MARK,
  });
  const review = await harness.post<{ planReviewId: string }>(`/v1/runs/${runId}/plan-reviews`, { plan: MARK });
  ids = {
    toolCallId: proposed.body.toolCallId,
    approvalId: approvalIdOf(proposed),
    runId,
    sessionId: `${MARK}-session`,
    turnId: turn.body.turnId,
    subagentId: child.body.subagentId,
    commandId: `${MARK}-command`,
    leaseId: leases.items[0]?.leaseId ?? '',
    grantId: granted.body.grantId,
    delegationId: lentOn.body.delegationId,
    planReviewId: review.body.planReviewId,
  };
  operations = operationsOf((await harness.get<Document>('/openapi.json')).body);
});
afterAll(() => stack.destroy());

function operationsOf({ paths, components }: Document): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const name = operation.requestBody?.content['application/json'].schema.$ref?.split('/').at(-1);
      return {
        method: method.toUpperCase(),
        path,
        roles: operation['x-roles'],
        isOpen: operation.security.length === 0 || operation['x-roles'].length === 0,
        parameters: operation.parameters ?? [],
        body: name === undefined ? undefined : components.schemas[name]?.examples?.[0],
      };
    }),
  );
}

const named = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** The path with the ids of the first tenant in it, and its run where the route can be asked for one. */
function pathOf({ path, parameters }: Operation): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(OF_INSTALLATION[name] ?? ids[name] ?? ''),
  );
  return parameters.some((one) => one.in === 'query' && one.name === 'runId')
    ? `${filled}?runId=${ids['runId']}`
    : filled;
}

let sent = 0;

/** With the example of the document as its body, under a new name each time. */
function send(client: Client, operation: Operation): Promise<Answer> {
  sent += 1;
  const { commandId: _, ...body } = (operation.body ?? {}) as { readonly commandId?: string };
  const headers = { 'idempotency-key': `walk-${sent}` };
  return client.send(operation.method, pathOf(operation), operation.method === 'GET' ? undefined : body, { headers });
}

describe('every route of the API document', () => {
  it('can be asked with an id of the other tenant: the walk knows one of every kind', () => {
    const unknown = operations
      .flatMap(({ path }) => named(path))
      .filter((name) => OF_INSTALLATION[name] === undefined && !ids[name]);
    expect(unknown).toEqual([]);
    expect(operations.length).toBeGreaterThan(40);
  });

  it.each([
    [
      'a person with every role',
      {
        sub: 'lena',
        roles: ['approver', 'operator', 'auditor', 'connector', 'feedback'],
        groups: ['support-lead'],
        tenant: 'umbrella',
      },
    ],
    ['the same agent for the same person', CAST.elsewhereHarness],
  ] as const)('answers %s of another tenant 404, a refusal or nothing, and never data [T11]', async (_, person) => {
    const client = await stack.as(person as never);
    const wrong: unknown[] = [];
    for (const operation of operations) {
      if (operation.isOpen) continue;
      const answer = await send(client, operation);
      const what = { route: `${operation.method} ${operation.path}`, status: answer.status };
      // A caller's own words may come back to it; what the first tenant wrote may not.
      if (answer.text.replaceAll(encodeURIComponent(pathOf(operation)), '').includes(MARK))
        wrong.push({ ...what, shows: answer.text });
      const namesTenants = named(operation.path).some((name) => ids[name] !== undefined);
      // A callback is refused before anybody looks for its call: it is not signed.
      const isRefused = [403, 404].includes(answer.status) || operation.path.endsWith('/callback');
      if (namesTenants && !isRefused) wrong.push({ ...what, text: answer.text });
      const known = Object.values(ids).filter((id) => answer.text.includes(id));
      if (!namesTenants && known.length > 0) wrong.push({ ...what, known });
      if (answer.status >= 500) wrong.push({ ...what, text: answer.text });
    }
    expect(wrong).toEqual([]);
  });

  it('answers nothing about ids of another tenant that stand in a body, and does nothing to them [T11, X26]', async () => {
    const roles = ['approver', 'operator', 'auditor', 'connector', 'feedback'];
    const client = await stack.as({ sub: 'lena', roles, groups: ['support-lead'], tenant: 'umbrella' } as never);
    const { toolCallId, approvalId } = ids;
    const before = (await (await stack.as(CAST.lena)).get(`/v1/approvals/${approvalId}`)).text;
    expectProblem(await client.post('/v1/policies/replay', { toolCallId }), 'policy_decision_not_found');
    const digest = `sha256:${'0'.repeat(64)}`;
    const decided = await client.post<DecisionsAnswer>('/v1/approvals/decisions', {
      decisions: [{ approvalId, digest, decision: 'allow' }],
    });
    expect(decided.body.items).toMatchObject([{ result: 'refused', code: 'approval_not_found' }]);
    expect((await (await stack.as(CAST.lena)).get(`/v1/approvals/${approvalId}`)).text).toBe(before);
  });

  it('shows what is there to its own tenant, so that the walk proves something', async () => {
    const auditor = await stack.as(CAST.auditor);
    const harness = await stack.as(CAST.harness);
    const seen = await Promise.all(
      operations
        .filter(({ method, path }) => method === 'GET' && named(path).some((name) => ids[name] !== undefined))
        .map(async (operation) => {
          const client = operation.roles.includes('auditor') ? auditor : harness;
          return `${operation.path} ${(await send(client, operation)).status}`;
        }),
    );
    expect(seen.filter((line) => line.endsWith(' 200')).length).toBeGreaterThan(7);
    expect((await auditor.get('/v1/events')).text).toContain(MARK);
  });

  it('is shut to nobody’s token, and to each role that it does not name', async () => {
    const wrong: unknown[] = [];
    for (const operation of operations) {
      if (operation.isOpen) continue;
      const what = `${operation.method} ${operation.path}`;
      const nobody = await send(stack.withToken(null), operation);
      if (nobody.status !== 401) wrong.push({ what, who: 'nobody', status: nobody.status });
      for (const role of ROLES.filter((one) => !operation.roles.includes(one))) {
        const person = role === 'harness' ? CAST.harness : { sub: `only-${role}`, roles: [role] };
        const answer = await send(await stack.as(person), operation);
        if (answer.status !== 403 || (answer.body as { code?: string }).code !== 'not_authorized') {
          wrong.push({ what, role, status: answer.status });
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('that is the installation’s is refused to an operator and an auditor of another tenant', async () => {
    const client = await stack.as({ sub: 'otto', roles: ['operator', 'auditor'], tenant: 'umbrella' });
    const files = [{ name: 'a.cedar', text: 'permit (principal, action, resource);' }];
    const decision = { decision: 'allow', revision: OF_INSTALLATION['revision'] };
    for (const [method, path, body] of [
      ['GET', '/v1/secrets', undefined],
      ['PUT', '/v1/secrets/payments', { value: 'x' }],
      ['POST', '/v1/secrets/payments/retire', { version: 1 }],
      ['POST', '/v1/keys/rewrap', undefined],
      ['POST', '/v1/tokens/revoke', { jti: 'a' }],
      ['POST', '/v1/tokens/revoke', { tenant: 'acme', sub: 'sam' }],
      ['GET', '/v1/tokens/revoked', undefined],
      ['POST', '/v1/backups', undefined],
      ['GET', '/v1/policies', undefined],
      ['GET', `/v1/policies/sets/${OF_INSTALLATION['revision']}`, undefined],
      ['GET', '/v1/policies/shadow', undefined],
      ['POST', '/v1/policies/shadow', { revision: OF_INSTALLATION['revision'] }],
      ['DELETE', '/v1/policies/shadow', undefined],
      ['POST', '/v1/policies/preview', { files }],
      ['POST', '/v1/policies/activate', { files, reason: 'x' }],
      ['POST', '/v1/policies/activations/pac_of_nobody/decision', decision],
      ['POST', '/v1/leases/keys/rotate', {}],
      ['POST', '/v1/leases/revoke', { by: 'epoch', value: '9' }],
      ['POST', '/v1/leases/revoke', { by: 'kid', value: 'k' }],
    ] as const) {
      expectProblem(await client.send(method, path, body), 'not_authorized');
    }
  });
});
