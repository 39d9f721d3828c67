import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../support/event-records.js';
import { expectProblem } from '../support/http-client.js';
import { QuestionDesk } from '../support/question-desk.js';
import { CAST } from '../support/stack.js';

let desk: QuestionDesk;

beforeAll(async () => {
  desk = await QuestionDesk.open();
});
afterAll(() => desk.stack.destroy());

describe('the words of a decision', () => {
  it('are allow and deny: everything else is refused and leaves the question pending', async () => {
    const question = await desk.pending();
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
    for (const word of words) expectProblem(await desk.lena.post(question.path, word), 'invalid_request');
    await desk.expectUntouched(question);
  });

  it('come without a name: a decider in the body is refused', async () => {
    const question = await desk.pending();
    const body = { decision: 'allow', digest: question.shown.digest, decided_by: 'cfo' };
    expect(expectProblem(await desk.lena.post(question.path, body), 'invalid_request').pointer).toBe('/decided_by');
    await desk.expectUntouched(question);
  });

  it('count only with the digest of what was shown', async () => {
    const question = await desk.pending();
    const other = await desk.pending();
    for (const digest of [`sha256:${'0'.repeat(64)}`, other.shown.digest, question.shown.argsDigest]) {
      expectProblem(await desk.lena.post(question.path, { decision: 'allow', digest }), 'action_digest_mismatch');
    }
    expectProblem(await desk.lena.post(question.path, { decision: 'allow', digest: '' }), 'invalid_request');
    await desk.expectUntouched(question);
  });

  it('name the person of the token, are recorded as they were, and claim nothing about execution', async () => {
    const question = await desk.pending();
    const decided = await desk.lena.decide(question.approvalId, 'allow', { reason: 'checked the invoice' });
    expect(decided.status).toBe(200);
    expect(['granted', 'consumed']).toContain(decided.body.status);
    expect(decided.body).toMatchObject({
      decidedBy: ['lena'],
      needed: [{ group: 'support-lead', count: 1, have: 1, notRequester: true }],
      votes: [{ sub: 'lena', decision: 'allow', reason: 'checked the invoice' }],
    });
    expect(JSON.stringify(decided.body)).not.toMatch(/completed|executed/);
    expect(decided.headers.get('countersign-command')).toMatch(/^cmd_/);
    expect((await desk.harness.call(question.toolCallId, 10)).body.status).toBe('completed');
    expect((await desk.lena.approval(question.approvalId)).body.status).toBe('consumed');
  });
});

describe('who may decide', () => {
  it('is never the agent, nor anybody without a place among those asked; each attempt is recorded as refused', async () => {
    const question = await desk.pending();
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
        const answer = await (await desk.stack.as(person)).post(question.path, { decision, digest });
        const { commandId } = expectProblem(answer, 'approver_not_allowed');
        const command = (await desk.operator.command(commandId ?? '')).body;
        expect({ who, ...command }).toMatchObject({
          who,
          type: 'resume',
          status: 'rejected',
          code: 'approver_not_allowed',
        });
        expect(eventsOf(desk.stack.dataDir, 'command_id', commandId ?? '').map(({ event_type: type }) => type)).toEqual(
          ['control.rejected'],
        );
      }
    }
    await desk.expectUntouched(question);
  });

  it('is refused without a token, to wrong roles and in other tenants, and the question stays', async () => {
    const question = await desk.pending();
    const body = { decision: 'deny', digest: question.shown.digest };
    expectProblem(await desk.stack.withToken(null).post(question.path, body), 'unauthenticated');
    const connector = await desk.stack.as({ sub: 'conn', roles: ['connector'] });
    expectProblem(await connector.post(question.path, body), 'approver_not_allowed');
    expectProblem(await (await desk.stack.as(CAST.elsewhereLead)).post(question.path, body), 'approval_not_found');
    await desk.expectUntouched(question);
  });

  it('counts people, not words: one person twice is one vote of a quorum of two', async () => {
    const question = await desk.pending('demo.wire');
    expect((await desk.lena.decide(question.approvalId, 'allow')).body).toMatchObject({
      status: 'pending',
      decidedBy: null,
    });
    const again = await desk.lena.decide(question.approvalId, 'allow');
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ status: 'pending', needed: [{ count: 2, have: 1 }] });
    expect(again.body.votes).toHaveLength(1);
    expect((await desk.harness.call(question.toolCallId)).body.status).toBe('proposed');
    await desk.omar.decide(question.approvalId, 'allow');
    expect((await desk.harness.call(question.toolCallId, 10)).body.status).toBe('completed');
    expect((await desk.lena.approval(question.approvalId)).body.decidedBy).toEqual(['lena', 'omar']);
    expect(desk.executionsOf(question.shown)).toBe(1);
  });

  it('cannot change their own word', async () => {
    const question = await desk.pending('demo.wire');
    await desk.lena.decide(question.approvalId, 'allow');
    expectProblem(await desk.lena.decide(question.approvalId, 'deny'), 'approval_already_decided');
    expect((await desk.lena.approval(question.approvalId)).body).toMatchObject({
      status: 'pending',
      needed: [{ have: 1 }],
    });
  });

  it('can deny alone: one eligible no ends a question for two', async () => {
    const question = await desk.pending('demo.wire');
    await desk.lena.decide(question.approvalId, 'allow');
    expect((await desk.omar.decide(question.approvalId, 'deny')).body.status).toBe('denied');
    expect((await desk.harness.call(question.toolCallId)).body.status).toBe('denied');
    expect(desk.executionsOf(question.shown)).toBe(0);
  });
});
