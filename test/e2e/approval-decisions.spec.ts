import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalRepresentation } from '../../src/client/contract.js';
import { ask, opaqueManifest } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

let stack: Stack;
let harness: Client;
let lena: Client;
let omar: Client;
let operator: Client;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', { amount: { type: 'integer' } }),
      ...opaqueManifest('demo.wire', { amount: { type: 'integer' } }),
    },
    policies: { ...ask('demo.pay'), ...ask('demo.wire', { quorum: 2 }) },
  });
  [harness, lena, omar, operator] = (await Promise.all(
    [CAST.harness, CAST.lena, CAST.omar, CAST.operator].map((person) => stack.as(person)),
  )) as [Client, Client, Client, Client];
});
afterAll(() => stack.destroy());

interface Pending {
  readonly toolCallId: string;
  readonly approvalId: string;
  readonly path: string;
  readonly shown: ApprovalRepresentation;
  readonly etag: string;
}

async function pending(capability = 'demo.pay'): Promise<Pending> {
  amount += 1;
  const proposed = await harness.propose(capability, { amount }, { wait: 0 });
  const approvalId = approvalIdOf(proposed);
  const shown = await lena.approval(approvalId);
  return {
    toolCallId: proposed.body.toolCallId,
    approvalId,
    path: `/v1/approvals/${approvalId}/decision`,
    shown: shown.body,
    etag: shown.headers.get('etag') ?? '',
  };
}

/** Nothing about the question has moved, and nothing ran. */
async function expectUntouched({ approvalId, toolCallId, shown, etag }: Pending): Promise<void> {
  const now = await lena.approval(approvalId);
  expect(now.body).toEqual(shown);
  expect(now.headers.get('etag')).toBe(etag);
  expect((await harness.call(toolCallId)).body.status).toBe('proposed');
  expect(executionsOf(shown)).toBe(0);
}

const executionsOf = (shown: ApprovalRepresentation): number =>
  stack.tool.executions(`/${shown.capability}`).filter(({ body }) => body === JSON.stringify(shown.arguments)).length;

describe('the words of a decision', () => {
  it('are allow and deny: everything else is refused and leaves the question pending', async () => {
    const question = await pending();
    const { digest } = question.shown;
    const words = [
      {},
      { digest },
      { decision: null, digest },
      { decision: 'Approve ', digest },
      { decision: 'approve', digest },
      { decision: 'ALLOW', digest },
      { decision: ' allow', digest },
      { decision: true, digest },
      { decision: 1, digest },
      { decision: ['allow'], digest },
      { approved: 'false', digest },
      { approved: true },
      { decision: 'allow' },
      [],
      [{ decision: 'allow', digest }],
      'allow',
      null,
      1,
    ];
    for (const word of words) expectProblem(await lena.post(question.path, word), 'invalid_request');
    await expectUntouched(question);
  });

  it('come without a name: a decider in the body is refused', async () => {
    const question = await pending();
    const body = { decision: 'allow', digest: question.shown.digest, decided_by: 'cfo' };
    expect(expectProblem(await lena.post(question.path, body), 'invalid_request').pointer).toBe('/decided_by');
    await expectUntouched(question);
  });

  it('count only with the digest of what was shown', async () => {
    const question = await pending();
    const other = await pending();
    for (const digest of [`sha256:${'0'.repeat(64)}`, other.shown.digest, question.shown.argsDigest]) {
      expectProblem(await lena.post(question.path, { decision: 'allow', digest }), 'action_digest_mismatch');
    }
    expectProblem(await lena.post(question.path, { decision: 'allow', digest: '' }), 'invalid_request');
    await expectUntouched(question);
  });

  it('name the person of the token, are recorded as they were, and claim nothing about execution', async () => {
    const question = await pending();
    const decided = await lena.decide(question.approvalId, 'allow', { reason: 'checked the invoice' });
    expect(decided.status).toBe(200);
    expect(['granted', 'consumed']).toContain(decided.body.status);
    expect(decided.body).toMatchObject({
      decidedBy: ['lena'],
      needed: [{ group: 'support-lead', count: 1, have: 1, notRequester: true }],
      votes: [{ sub: 'lena', decision: 'allow', reason: 'checked the invoice' }],
    });
    expect(JSON.stringify(decided.body)).not.toMatch(/completed|executed/);
    expect(decided.headers.get('countersign-command')).toMatch(/^cmd_/);
    expect((await harness.call(question.toolCallId, 10)).body.status).toBe('completed');
    expect((await lena.approval(question.approvalId)).body.status).toBe('consumed');
  });
});

describe('who may decide', () => {
  it('is never the agent, nor anybody without a place among those asked; each attempt is recorded as refused', async () => {
    const question = await pending();
    const { digest } = question.shown;
    const refused = {
      'the harness itself': CAST.harness,
      'a token with an act claim': { ...CAST.lena, act: { sub: 'support-agent' } },
      'a harness with the role of an approver': { ...CAST.lena, roles: ['harness', 'approver'] },
      'the person the agent acts for': CAST.sam,
      'an approver of another group': CAST.stranger,
      'an approver of no group': { ...CAST.lena, sub: 'zoe', groups: [] },
      'an operator': { ...CAST.operator, groups: ['support-lead'] },
      'an auditor': { ...CAST.auditor, groups: ['support-lead'] },
    };
    for (const [who, person] of Object.entries(refused)) {
      for (const decision of ['allow', 'deny'] as const) {
        const answer = await (await stack.as(person)).post(question.path, { decision, digest });
        const { commandId } = expectProblem(answer, 'approver_not_allowed');
        const command = (await operator.command(commandId ?? '')).body;
        expect({ who, ...command }).toMatchObject({
          who,
          type: 'resume',
          status: 'rejected',
          code: 'approver_not_allowed',
        });
        expect(eventsOf(stack.dataDir, 'command_id', commandId ?? '').map(({ event_type: type }) => type)).toEqual([
          'control.rejected',
        ]);
      }
    }
    await expectUntouched(question);
  });

  it('is refused without a token, to wrong roles and in other tenants, and the question stays', async () => {
    const question = await pending();
    const body = { decision: 'deny', digest: question.shown.digest };
    expectProblem(await stack.withToken(null).post(question.path, body), 'unauthenticated');
    const connector = await stack.as({ sub: 'conn', roles: ['connector'] });
    expectProblem(await connector.post(question.path, body), 'approver_not_allowed');
    expectProblem(await (await stack.as(CAST.elsewhereLead)).post(question.path, body), 'approval_not_found');
    await expectUntouched(question);
  });

  it('counts people, not words: one person twice is one vote of a quorum of two', async () => {
    const question = await pending('demo.wire');
    expect((await lena.decide(question.approvalId, 'allow')).body).toMatchObject({
      status: 'pending',
      decidedBy: null,
    });
    const again = await lena.decide(question.approvalId, 'allow');
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ status: 'pending', needed: [{ count: 2, have: 1 }] });
    expect(again.body.votes).toHaveLength(1);
    expect((await harness.call(question.toolCallId)).body.status).toBe('proposed');
    await omar.decide(question.approvalId, 'allow');
    expect((await harness.call(question.toolCallId, 10)).body.status).toBe('completed');
    expect((await lena.approval(question.approvalId)).body.decidedBy).toEqual(['lena', 'omar']);
    expect(executionsOf(question.shown)).toBe(1);
  });

  it('cannot change their own word', async () => {
    const question = await pending('demo.wire');
    await lena.decide(question.approvalId, 'allow');
    expectProblem(await lena.decide(question.approvalId, 'deny'), 'approval_already_decided');
    expect((await lena.approval(question.approvalId)).body).toMatchObject({ status: 'pending', needed: [{ have: 1 }] });
  });

  it('can deny alone: one eligible no ends a question for two', async () => {
    const question = await pending('demo.wire');
    await lena.decide(question.approvalId, 'allow');
    expect((await omar.decide(question.approvalId, 'deny')).body.status).toBe('denied');
    expect((await harness.call(question.toolCallId)).body.status).toBe('denied');
    expect(executionsOf(question.shown)).toBe(0);
  });
});

describe('a decision that was made', () => {
  it('stands: the other word of another person is a conflict that names it', async () => {
    const [allowed, denied] = [await pending(), await pending()];
    await lena.decide(allowed.approvalId, 'allow');
    await lena.decide(denied.approvalId, 'deny');
    const late = expectProblem(await omar.decide(allowed.approvalId, 'deny'), 'approval_already_decided');
    expect(JSON.stringify(late)).toMatch(/granted|allow/);
    const alsoLate = await omar.decide(denied.approvalId, 'allow');
    expect(alsoLate.status).toBe(409);
    expect(alsoLate.text).toMatch(/denied|deny/);
    expect((await harness.call(allowed.toolCallId, 10)).body.status).toBe('completed');
    expect((await harness.call(denied.toolCallId)).body.status).toBe('denied');
    expect([executionsOf(allowed.shown), executionsOf(denied.shown)]).toEqual([1, 0]);
    expect(
      eventsOf(stack.dataDir, 'approval_id', denied.approvalId).filter((e) => e.event_type === 'approval.granted'),
    ).toEqual([]);
  });

  it('repeated by the same person changes nothing and runs nothing again', async () => {
    const question = await pending();
    await lena.decide(question.approvalId, 'allow');
    await harness.call(question.toolCallId, 10);
    const before = eventsOf(stack.dataDir, 'approval_id', question.approvalId).length;
    expect((await lena.decide(question.approvalId, 'allow')).status).toBe(200);
    expect(eventsOf(stack.dataDir, 'approval_id', question.approvalId)).toHaveLength(before);
    expect(executionsOf(question.shown)).toBe(1);
  });

  it('under one commandId is one command: the same answer again, another decision under it conflicts', async () => {
    const question = await pending();
    const body = { decision: 'deny', digest: question.shown.digest, commandId: `decide-${question.approvalId}` };
    const first = await lena.post<ApprovalRepresentation>(question.path, body);
    const again = await lena.post<ApprovalRepresentation>(question.path, body);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expectProblem(await lena.post(question.path, { ...body, decision: 'allow' }), 'command_id_conflict');
    expectProblem(await omar.post(question.path, body), 'command_id_conflict');
    const command = (await lena.command(body.commandId)).body;
    expect(command).toMatchObject({ status: 'accepted', type: 'resume', code: null });
    expect(command.eventIds).toHaveLength(4);
    expectProblem(await omar.command(body.commandId), 'command_not_found');
  });

  it('that was refused repeats its refusal under the same commandId, even when it would pass now', async () => {
    const question = await pending();
    const commandId = `refused-${question.approvalId}`;
    const wrong = { decision: 'allow', digest: `sha256:${'1'.repeat(64)}`, commandId };
    const first = expectProblem(await lena.post(question.path, wrong), 'action_digest_mismatch');
    const again = expectProblem(await lena.post(question.path, wrong), 'action_digest_mismatch');
    expect(again).toEqual(first);
    expect(first.commandId).toBe(commandId);
    await expectUntouched(question);
  });

  it('takes its commandId from the Idempotency-Key where the body names none', async () => {
    const question = await pending();
    const body = { decision: 'deny', digest: question.shown.digest };
    const answer = await lena.post(question.path, body, {
      headers: { 'idempotency-key': `key-${question.approvalId}` },
    });
    expect(answer.headers.get('countersign-command')).toBe(`key-${question.approvalId}`);
    expect((await lena.command(`key-${question.approvalId}`)).body.status).toBe('accepted');
  });
});

describe('If-Match', () => {
  it('refuses a decision on a version that has moved on, and takes the current one', async () => {
    const question = await pending('demo.wire');
    await lena.decide(question.approvalId, 'allow');
    const body = { decision: 'allow', digest: question.shown.digest };
    const stale = await omar.post(question.path, body, { headers: { 'if-match': question.etag } });
    expectProblem(stale, 'version_stale');
    expectProblem(
      await omar.post(question.path, body, { headers: { 'if-match': '"something-else"' } }),
      'version_stale',
    );
    expect((await omar.approval(question.approvalId)).body.status).toBe('pending');
    const current = (await omar.approval(question.approvalId)).headers.get('etag') ?? '';
    expect((await omar.post(question.path, body, { headers: { 'if-match': current } })).status).toBe(200);
  });

  it('of another approval never matches, whatever its version', async () => {
    const [question, other] = [await pending(), await pending()];
    const body = { decision: 'allow', digest: question.shown.digest };
    expectProblem(await lena.post(question.path, body, { headers: { 'if-match': other.etag } }), 'version_stale');
    await expectUntouched(question);
  });
});

describe('two people at the same moment', () => {
  it('with opposite words: one decision wins, the other is told so, and state and record agree', async () => {
    for (let round = 0; round < 10; round += 1) {
      const question = await pending();
      const body = (decision: string): object => ({ decision, digest: question.shown.digest });
      const answers = await Promise.all([
        lena.post(question.path, body('allow')),
        omar.post(question.path, body('deny')),
      ]);
      expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 409]);
      const allowed = answers[0].status === 200;
      expect((await harness.call(question.toolCallId, 10)).body.status).toBe(allowed ? 'completed' : 'denied');
      expect(executionsOf(question.shown)).toBe(allowed ? 1 : 0);
      const types = eventsOf(stack.dataDir, 'approval_id', question.approvalId).map(({ event_type: type }) => type);
      expect(types.filter((type) => type === 'approval.granted' || type === 'approval.denied')).toHaveLength(1);
    }
  });

  it('with the same yes: it is consumed once and runs once', async () => {
    const question = await pending();
    const body = { decision: 'allow', digest: question.shown.digest };
    const answers = await Promise.all(Array.from({ length: 20 }, () => lena.post(question.path, body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await harness.call(question.toolCallId, 10)).body.status).toBe('completed');
    expect(executionsOf(question.shown)).toBe(1);
    const types = eventsOf(stack.dataDir, 'approval_id', question.approvalId).map(({ event_type: type }) => type);
    expect(types.filter((type) => type === 'approval.consumed')).toHaveLength(1);
  });
});
