import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalRepresentation } from '../../src/client/contract/approvals.js';
import { eventsOf } from '../support/event-records.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { expectProblem } from '../support/http-client.js';
import { QuestionDesk } from '../support/question-desk.js';
import { until } from '../support/until.js';

let desk: QuestionDesk;

beforeAll(async () => {
  desk = await QuestionDesk.open();
});
afterAll(() => desk.stack.destroy());

describe('a decision that was made', () => {
  it('stands: the other word of another person is a conflict that names it', async () => {
    const [allowed, denied] = [await desk.pending(), await desk.pending()];
    await desk.lena.decide(allowed.approvalId, 'allow');
    await desk.lena.decide(denied.approvalId, 'deny');
    const late = expectProblem(await desk.omar.decide(allowed.approvalId, 'deny'), 'approval_already_decided');
    expect(JSON.stringify(late)).toMatch(/granted|allow/);
    const alsoLate = await desk.omar.decide(denied.approvalId, 'allow');
    expect(alsoLate.status).toBe(409);
    expect(alsoLate.text).toMatch(/denied|deny/);
    expect((await desk.harness.call(allowed.toolCallId, 10)).body.status).toBe('completed');
    expect((await desk.harness.call(denied.toolCallId)).body.status).toBe('denied');
    expect([desk.executionsOf(allowed.shown), desk.executionsOf(denied.shown)]).toEqual([1, 0]);
    expect(
      eventsOf(desk.stack.dataDir, 'approval_id', denied.approvalId).filter((e) => e.event_type === 'approval.granted'),
    ).toEqual([]);
  });

  it('repeated by the same person changes nothing and runs nothing again', async () => {
    const question = await desk.pending();
    await desk.lena.decide(question.approvalId, 'allow');
    await desk.harness.call(question.toolCallId, 10);
    const before = eventsOf(desk.stack.dataDir, 'approval_id', question.approvalId).length;
    expect((await desk.lena.decide(question.approvalId, 'allow')).status).toBe(200);
    expect(eventsOf(desk.stack.dataDir, 'approval_id', question.approvalId)).toHaveLength(before);
    expect(desk.executionsOf(question.shown)).toBe(1);
  });

  it('under one commandId is one command: the same answer again, another decision under it conflicts', async () => {
    const question = await desk.pending();
    const body = { decision: 'deny', digest: question.shown.digest, commandId: `decide-${question.approvalId}` };
    const first = await desk.lena.post<ApprovalRepresentation>(question.path, body);
    const again = await desk.lena.post<ApprovalRepresentation>(question.path, body);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expectProblem(await desk.lena.post(question.path, { ...body, decision: 'allow' }), 'command_id_conflict');
    expectProblem(await desk.omar.post(question.path, body), 'command_id_conflict');
    const command = (await desk.lena.command(body.commandId)).body;
    expect(command).toMatchObject({ status: 'accepted', type: 'resume', code: null });
    expect(command.eventIds).toHaveLength(4);
    expectProblem(await desk.omar.command(body.commandId), 'command_not_found');
  });

  it('delivered twice while the tool is slow is answered both times before the tool is done, and runs once', async () => {
    desk.stack.tool.behave('/demo.long', () => ({ ...jsonAnswer({ ok: true }), delayMs: 6_000 }));
    const question = await desk.pending('demo.long');
    const body = { decision: 'allow', digest: question.shown.digest, commandId: `callback-${question.approvalId}` };
    const first = await desk.lena.post<ApprovalRepresentation>(question.path, body);
    await until(
      'the tool has the request',
      () => desk.executionsOf(question.shown),
      (count) => count > 0,
    );
    const again = await desk.lena.post<ApprovalRepresentation>(question.path, body);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(['dispatching', 'dispatched']).toContain((await desk.harness.call(question.toolCallId)).body.status);
    expect((await desk.harness.callWhen(question.toolCallId, ['completed'])).attempt).toBe(1);
    expect(desk.executionsOf(question.shown)).toBe(1);
    const types = eventsOf(desk.stack.dataDir, 'approval_id', question.approvalId).map(({ event_type: type }) => type);
    expect(types.filter((type) => type === 'approval.granted' || type === 'approval.consumed')).toHaveLength(2);
  });

  it('that was refused repeats its refusal under the same commandId, even when it would pass now', async () => {
    const question = await desk.pending();
    const commandId = `refused-${question.approvalId}`;
    const wrong = { decision: 'allow', digest: `sha256:${'1'.repeat(64)}`, commandId };
    const first = expectProblem(await desk.lena.post(question.path, wrong), 'action_digest_mismatch');
    const again = expectProblem(await desk.lena.post(question.path, wrong), 'action_digest_mismatch');
    expect(again).toEqual(first);
    expect(first.commandId).toBe(commandId);
    await desk.expectUntouched(question);
  });

  it('takes its commandId from the Idempotency-Key where the body names none', async () => {
    const question = await desk.pending();
    const body = { decision: 'deny', digest: question.shown.digest };
    const answer = await desk.lena.post(question.path, body, {
      headers: { 'idempotency-key': `key-${question.approvalId}` },
    });
    expect(answer.headers.get('countersign-command')).toBe(`key-${question.approvalId}`);
    expect((await desk.lena.command(`key-${question.approvalId}`)).body.status).toBe('accepted');
  });
});

describe('If-Match', () => {
  it('refuses a decision on a version that has moved on, and takes the current one', async () => {
    const question = await desk.pending('demo.wire');
    await desk.lena.decide(question.approvalId, 'allow');
    const body = { decision: 'allow', digest: question.shown.digest };
    const stale = await desk.omar.post(question.path, body, { headers: { 'if-match': question.etag } });
    expectProblem(stale, 'version_stale');
    expectProblem(
      await desk.omar.post(question.path, body, { headers: { 'if-match': '"something-else"' } }),
      'version_stale',
    );
    expect((await desk.omar.approval(question.approvalId)).body.status).toBe('pending');
    const current = (await desk.omar.approval(question.approvalId)).headers.get('etag') ?? '';
    expect((await desk.omar.post(question.path, body, { headers: { 'if-match': current } })).status).toBe(200);
  });

  it('of another approval never matches, whatever its version', async () => {
    const [question, other] = [await desk.pending(), await desk.pending()];
    const body = { decision: 'allow', digest: question.shown.digest };
    expectProblem(await desk.lena.post(question.path, body, { headers: { 'if-match': other.etag } }), 'version_stale');
    await desk.expectUntouched(question);
  });
});

describe('two people at the same moment', () => {
  it('with opposite words: one decision wins, the other is told so, and state and record agree', async () => {
    for (let round = 0; round < 10; round += 1) {
      const question = await desk.pending();
      const body = (decision: string): object => ({ decision, digest: question.shown.digest });
      const answers = await Promise.all([
        desk.lena.post(question.path, body('allow')),
        desk.omar.post(question.path, body('deny')),
      ]);
      expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 409]);
      const allowed = answers[0].status === 200;
      expect((await desk.harness.call(question.toolCallId, 10)).body.status).toBe(allowed ? 'completed' : 'denied');
      expect(desk.executionsOf(question.shown)).toBe(allowed ? 1 : 0);
      const types = eventsOf(desk.stack.dataDir, 'approval_id', question.approvalId).map(
        ({ event_type: type }) => type,
      );
      expect(types.filter((type) => type === 'approval.granted' || type === 'approval.denied')).toHaveLength(1);
    }
  });

  it('with the same yes: it is consumed once and runs once', async () => {
    const question = await desk.pending();
    const body = { decision: 'allow', digest: question.shown.digest };
    const answers = await Promise.all(Array.from({ length: 20 }, () => desk.lena.post(question.path, body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await desk.harness.call(question.toolCallId, 10)).body.status).toBe('completed');
    expect(desk.executionsOf(question.shown)).toBe(1);
    const types = eventsOf(desk.stack.dataDir, 'approval_id', question.approvalId).map(({ event_type: type }) => type);
    expect(types.filter((type) => type === 'approval.consumed')).toHaveLength(1);
  });
});
