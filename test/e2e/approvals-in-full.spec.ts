import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest } from '../support/demo-capabilities.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const AMOUNT = { amount: { type: 'integer' }, note: { type: 'string', maxLength: 10_000 } };
const UNTIL = (): string => new Date(Date.now() + 3_600_000).toISOString();

let stack: Stack;
let harness: Client;
let lena: Client;
let omar: Client;
let operator: Client;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: { ...opaqueManifest('demo.pay', AMOUNT), ...opaqueManifest('demo.wire', AMOUNT) },
    policies: { ...ask('demo.pay'), ...ask('demo.wire', { quorum: 2 }) },
    env: {
      COUNTERSIGN_POLICY__BREAK_GLASS_GROUPS: '["incident"]',
      COUNTERSIGN_POLICY__ESCALATION_GROUPS: '["board"]',
      COUNTERSIGN_POLICY__APPROVER_GROUPS: '["support-lead","board"]',
    },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  omar = await stack.as(CAST.omar);
  operator = await stack.as(CAST.operator);
});
afterAll(() => stack.destroy());

async function asked(capability = 'demo.pay', note?: string) {
  amount += 1;
  const args = { amount, ...(note === undefined ? {} : { note }) };
  const proposed = await harness.propose(capability, args, { wait: 0 });
  const approvalId = approvalIdOf(proposed);
  const { body, headers } = await lena.approval(approvalId);
  const path = `/v1/approvals/${approvalId}`;
  return {
    approvalId,
    path,
    args,
    toolCallId: proposed.body.toolCallId,
    digest: body.digest,
    etag: headers.get('etag'),
  };
}

const completed = async (toolCallId: string): Promise<string> => (await harness.call(toolCallId, 10)).body.status;

describe('every route that changes a question', () => {
  it('is closed to nobody, to agents and to wrong groups alike, and the question stays [G02]', async () => {
    const question = await asked();
    const { digest, path } = question;
    const { body: run } = await harness.call(question.toolCallId, 0);
    const plan = { plan: ['pay', 'tell'] };
    const reviews = `/v1/runs/${run.runId}/plan-reviews`;
    const { body: review } = await harness.post<{ planReviewId: string; digest: string }>(reviews, plan);
    // For a call that nobody here makes.
    const wire = { capability: 'demo.wire', principal: { act: 'nobody' }, group: 'support-lead' };
    const given = await lena.post<{ grantId: string }>('/v1/grants', { ...wire, until: UNTIL(), reason: 'x' });
    const lent = await lena.post<{ delegationId: string }>('/v1/delegations', { to: 'olga', until: UNTIL() });
    const [{ grantId }, { delegationId }] = [given.body, lent.body];
    const routes: readonly (readonly [string, object])[] = [
      [`${path}/decision`, { decision: 'allow', digest }],
      [`${path}/decision`, { decision: 'deny', digest }],
      [`${path}/withdrawal`, {}],
      [`${path}/delegate`, { to: 'omar' }],
      [`${path}/escalate`, { group: 'board', reason: 'x' }],
      [`${path}/break-glass`, { digest, reason: 'x' }],
      [`${path}/delegate/revoke`, { to: 'omar' }],
      [`${path}/edit`, { digest, reason: 'x', arguments: { amount: 0 } }],
      [`/v1/plan-reviews/${review.planReviewId}/decision`, { decision: 'approved', digest: review.digest }],
    ];
    // The requester is an approver like any other about what is not their own request.
    const standing: readonly (readonly [string, object])[] = [
      [`/v1/grants/${grantId}/revoke`, {}],
      [`/v1/delegations/${delegationId}/revoke`, {}],
      [`/v1/tool-calls/${question.toolCallId}/refusal`, { reason: 'x' }],
      ['/v1/grants', { capability: 'demo.wire', group: 'support-lead', until: UNTIL(), reason: 'x' }],
      ['/v1/delegations', { to: 'olga', groups: ['support-lead'], until: UNTIL() }],
    ];
    const agents = [CAST.harness, { ...CAST.lena, act: { sub: 'support-agent' } }];
    for (const [route, body] of [...routes, ...standing]) {
      expectProblem(await stack.withToken(null).post(route, body), 'unauthenticated');
      const requester = standing.some(([one]) => one === route) ? [] : [CAST.sam];
      for (const who of [...agents, CAST.stranger, ...requester]) {
        expectProblem(await (await stack.as(who)).post(route, body), 'approver_not_allowed');
      }
    }
    expectProblem(await stack.withToken(null).post(reviews, plan), 'unauthenticated');
    expectProblem(await lena.post(reviews, plan), 'not_authorized');
    const bulk = { decisions: [{ approvalId: question.approvalId, digest, decision: 'allow' }] };
    expectProblem(await stack.withToken(null).post('/v1/approvals/decisions', bulk), 'unauthenticated');
    for (const who of [...agents, CAST.stranger, CAST.sam]) {
      const many = await (await stack.as(who)).post<{ items: { code: string }[] }>('/v1/approvals/decisions', bulk);
      expect(many.body.items.map(({ code }) => code)).toEqual(['approver_not_allowed']);
    }
    const now = await lena.approval(question.approvalId);
    expect([now.body.status, now.headers.get('etag')]).toEqual(['pending', question.etag]);
    const read = async (at: string): Promise<unknown> => (await lena.get<{ status: string }>(at)).body.status;
    expect(await read(`/v1/plan-reviews/${review.planReviewId}`)).toBe('pending');
    expect(await read(`/v1/grants/${grantId}`)).toBe('active');
    const { body: rights } = await lena.get<{ items: { status: string }[] }>('/v1/delegations');
    expect(rights.items.map(({ status }) => status)).toEqual(['active']);
    expect(await read(`/v1/runs/${run.runId}`)).toBe('waiting_for_approval');
    const word = { decision: 'approved', digest: review.digest };
    expect((await lena.post(`/v1/plan-reviews/${review.planReviewId}/decision`, word)).status).toBe(200);
    for (const at of [`/v1/grants/${grantId}/revoke`, `/v1/delegations/${delegationId}/revoke`])
      await lena.post(at, {});
  });
});

describe('people around a question', () => {
  it('withdraw a vote, lend their right, and count as one with their deputy', async () => {
    const { path, approvalId, digest, toolCallId } = await asked('demo.wire');
    await lena.decide(approvalId, 'allow');
    const withdrawn = await lena.post<{ votes: unknown[] }>(`${path}/withdrawal`, { reason: 'wrong order' });
    expect(withdrawn.body.votes).toEqual([]);
    const dora = await stack.as({ sub: 'dora', roles: ['approver'], groups: [] });
    expectProblem(await dora.post(`${path}/decision`, { decision: 'allow', digest }), 'approver_not_allowed');
    expect((await lena.post(`${path}/delegate`, { to: 'dora' })).status).toBe(200);
    const voted = await dora.post<{ votes: unknown[]; status: string }>(`${path}/decision`, {
      decision: 'allow',
      digest,
    });
    expect(voted.body).toMatchObject({ status: 'pending', votes: [{ sub: 'dora', onBehalfOf: ['lena'] }] });
    expect((await lena.decide(approvalId, 'allow')).body.status).toBe('pending');
    await omar.decide(approvalId, 'allow');
    expect(await completed(toolCallId)).toBe('completed');
  });

  it('have a wider group asked, whose word counts where the policy asked', async () => {
    const { path, digest, toolCallId } = await asked();
    await lena.post(`${path}/escalate`, { group: 'board', reason: 'beyond us' });
    const bea = await stack.as({ sub: 'bea', roles: ['approver'], groups: ['board'] });
    expect((await bea.post(`${path}/decision`, { decision: 'allow', digest })).status).toBe(200);
    expect(await completed(toolCallId)).toBe('completed');
  });

  it('let it pass in an emergency, which readiness names until somebody reviewed it', async () => {
    const { path, digest, toolCallId, approvalId } = await asked('demo.wire');
    const eva = await stack.as({ sub: 'eva', roles: ['approver'], groups: ['incident'] });
    expect((await eva.post(`${path}/break-glass`, { digest, reason: 'fire' })).status).toBe(200);
    expect(await completed(toolCallId)).toBe('completed');
    const ready = async (): Promise<string> => JSON.stringify((await operator.get('/readyz')).body);
    const owed = await lena.get<{ items: { approvalId: string }[] }>('/v1/approvals?reviewOwed=true');
    expect(owed.body.items.map((one) => one.approvalId)).toEqual([approvalId]);
    expect(await ready()).toContain('owed_reviews');
    expect((await omar.post(`${path}/review`, { finding: 'justified', reason: 'it was' })).status).toBe(200);
    expect(await ready()).not.toContain('owed_reviews');
  });

  it('edit what is asked: another call runs, with exactly the edited arguments, approved by somebody else', async () => {
    const { path, digest, toolCallId } = await asked();
    const edited = await lena.post<{ toolCallId: string; approvalId: string }>(`${path}/edit`, {
      digest,
      reason: 'less',
      arguments: { amount: 1_000_001 },
    });
    expect(edited.status).toBe(202);
    expect(await completed(toolCallId)).toBe('not_executed');
    expectProblem(await lena.decide(edited.body.approvalId, 'allow'), 'approver_not_allowed');
    await omar.decide(edited.body.approvalId, 'allow');
    expect(await completed(edited.body.toolCallId)).toBe('completed');
    const bodies = stack.tool.executions('/demo.pay').map(({ body }) => body);
    expect(bodies.filter((body) => body === '{"amount":1000001}')).toHaveLength(1);
  });

  it('give a standing allow, which an explicit no beats, and take it back', async () => {
    const body = {
      capability: 'demo.pay',
      principal: { act: 'support-agent' },
      group: 'support-lead',
      until: UNTIL(),
      reason: 'this hour',
    };
    const refused = await asked();
    await lena.decide(refused.approvalId, 'deny');
    const grant = await lena.post<{ grantId: string; status: string }>('/v1/grants', body);
    expect([grant.status, grant.body.status]).toEqual([201, 'active']);
    amount += 1;
    expect((await harness.propose('demo.pay', { amount }, { wait: 10 })).body.status).toBe('completed');
    const again = await harness.propose('demo.pay', refused.args, { wait: 0 });
    expect(again.body.status).toBe('proposed');
    expect((await omar.post(`/v1/grants/${grant.body.grantId}/revoke`, {})).status).toBe(200);
    const listed = await lena.get<{ items: { status: string }[] }>('/v1/grants');
    expect(listed.body.items.map(({ status }) => status)).not.toContain('active');
    expect((await asked()).approvalId).toMatch(/^apr_/);
  });

  it('decide many at once, each by itself [E11]', async () => {
    const [a, b, c] = [await asked(), await asked(), await asked()];
    const many = await lena.post<{ items: { result: string }[] }>('/v1/approvals/decisions', {
      decisions: [
        { approvalId: a.approvalId, digest: a.digest, decision: 'allow' },
        { approvalId: b.approvalId, digest: a.digest, decision: 'allow' },
      ],
    });
    expect(many.body.items.map(({ result }) => result)).toEqual(['recorded', 'refused']);
    expect(await completed(a.toolCallId)).toBe('completed');
    expect((await lena.approval(b.approvalId)).body.status).toBe('pending');
    expect((await lena.approval(c.approvalId)).body.status).toBe('pending');
  });
});

describe('what hides in a text', () => {
  it.each([
    ['a zero-width space', 'list\u200Ball', '\u200B'],
    ['a change of direction', 'wipe /srv \u202Etxt.eton', '\u202E'],
    ['a terminal escape', 'ok\u001B[2Kgone', '\u001B'],
  ])('%s is shown, escaped, by view, page and words [X10, W01]', async (_, note, hidden) => {
    const { approvalId, path } = await asked('demo.pay', note);
    const view = JSON.stringify((await lena.approval(approvalId)).body);
    const page = await lena.send<string>('GET', path, undefined, { headers: { accept: 'text/html' } });
    const escaped = JSON.stringify(hidden).slice(1, -1);
    for (const text of [view, JSON.stringify(page.body)]) {
      expect(text).not.toContain(hidden);
      expect(text).not.toContain(escaped);
      expect(text).toContain('u{');
    }
  });

  it('nothing is cut: a long request is said to be long and shown to its end [W02]', async () => {
    const { approvalId } = await asked('demo.pay', `${'a'.repeat(5_000)} && wipe /srv`);
    const { body } = await lena.approval(approvalId);
    expect(body.argumentsLong).toBe(true);
    expect(String(body.arguments['note']).endsWith('&& wipe /srv')).toBe(true);
  });
});
