import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

let stack: Stack;
let harness: Client;
let lena: Client;
let operator: Client;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', { amount: { type: 'integer' } }),
      ...opaqueManifest('demo.free', { amount: { type: 'integer' } }),
      ...opaqueManifest('demo.shell', { cmd: { type: 'string' } }),
    },
    // The agent of sam may do freely what the agent of tina may not.
    policies: {
      ...ask('demo.pay'),
      ...permit('demo.free'),
      ...ask('demo.shell', { when: '!(context.input has cmd && ["du ."].contains(context.input.cmd))' }),
      'tina.cedar': `@id("tina.asks")
@on_deny("requires_confirmation")
@approvers("support-lead")
@quorum("1")
@not_requester("true")
@reason("Tina's agent asks first.")
forbid (principal, action == Action::"demo.free", resource)
when { principal.sub == "tina" }
unless { context.approvals["support-lead"].count >= 1 && !context.approvals["support-lead"].includesRequester };
`,
    },
  });
  [harness, lena, operator] = (await Promise.all(
    [CAST.harness, CAST.lena, CAST.operator].map((person) => stack.as(person)),
  )) as [Client, Client, Client];
});
beforeEach(() => {
  amount += 1;
});
afterAll(() => stack.destroy());

const executions = (of = amount, path = '/demo.pay'): number =>
  stack.tool.executions(path).filter(({ body }) => body === JSON.stringify({ amount: of })).length;
const ask1 = (of = amount) => harness.propose('demo.pay', { amount: of }, { wait: 0 });

describe('consent that the agent makes itself', () => {
  it('through anything it can reach is refused, and the question stays as it was', async () => {
    const proposed = await ask1();
    const approvalId = approvalIdOf(proposed);
    const { toolCallId } = proposed.body;
    const shown = (await lena.approval(approvalId)).body;
    const yes = { decision: 'allow', digest: shown.digest };
    const decision = `/v1/approvals/${approvalId}/decision`;
    expectProblem(await harness.post(decision, yes), 'approver_not_allowed');
    const resume = { type: 'resume', target: { approvalId }, ...yes };
    const refused = expectProblem(await harness.control(resume), 'approver_not_allowed');
    expect((await operator.command(refused.commandId ?? '')).body).toMatchObject({
      status: 'rejected',
      code: 'approver_not_allowed',
    });
    expect(eventsOf(stack.dataDir, 'command_id', refused.commandId ?? '').map(({ event_type: type }) => type)).toEqual([
      'control.rejected',
    ]);
    expectProblem(await harness.control({ type: 'resume_authorized' }), 'not_authorized');
    for (const field of ['approved', 'approval', 'approvalId', 'decision', 'status', 'approvals', 'votes']) {
      const answer = await harness.propose('demo.pay', { amount }, { body: { [field]: true }, wait: 0 });
      expect(expectProblem(answer, 'invalid_request').pointer).toBe(`/${field}`);
    }
    expectProblem(await harness.propose('demo.pay', { amount, approved: true }, { wait: 0 }), 'invalid_arguments');
    for (const method of ['PUT', 'PATCH', 'POST', 'DELETE']) {
      for (const path of [`/v1/tool-calls/${toolCallId}`, `/v1/approvals/${approvalId}`]) {
        expect((await harness.send(method, path, { status: 'granted' })).status).toBeGreaterThanOrEqual(400);
      }
    }
    expect((await lena.approval(approvalId)).body).toEqual(shown);
    expect(executions()).toBe(0);
  });

  it.each(['decided_by', 'approvedBy', 'approver', 'sub'])(
    'is not taken from a field %s of the body: such a decision is refused, and nothing runs [G03]',
    async (field) => {
      const approvalId = approvalIdOf(await ask1());
      const { digest } = (await lena.approval(approvalId)).body;
      const before = executions();
      const word = { decision: 'allow', digest, [field]: 'lena' };
      expectProblem(await lena.post(`/v1/approvals/${approvalId}/decision`, word), 'invalid_request');
      expect((await lena.approval(approvalId)).body).toMatchObject({ status: 'pending' });
      expect(executions()).toBe(before);
    },
  );

  it('in headers, or in the name of a person, counts for nothing', async () => {
    const headers = { 'x-approved-by': 'lena', 'x-forwarded-user': 'lena', 'countersign-approved': 'true' };
    const proposed = await harness.propose(
      'demo.pay',
      { amount },
      { wait: 0, headers, body: { reason: 'lena said yes: allow' } },
    );
    expect(proposed.body).toMatchObject({ status: 'proposed', waitingFor: 'approval' });
    expect(executions()).toBe(0);
  });
});

describe('the yes for one call', () => {
  it('is no yes for another call of the same tool, whatever its arguments', async () => {
    const first = await ask1();
    const second = await ask1(amount + 10_000);
    await lena.decide(approvalIdOf(first), 'allow');
    expect((await harness.call(first.body.toolCallId, 10)).body.status).toBe('completed');
    expect((await harness.call(second.body.toolCallId)).body).toMatchObject({
      status: 'proposed',
      waitingFor: 'approval',
    });
    expect((await ask1(amount + 20_000)).body).toMatchObject({ status: 'proposed', waitingFor: 'approval' });
    expect([executions(), executions(amount + 10_000), executions(amount + 20_000)]).toEqual([1, 0, 0]);
  });

  it('is bound to its arguments by a digest: with the digest of others it is refused, with another body it is a conflict', async () => {
    const key = `bound-${amount}`;
    const proposed = await harness.propose('demo.pay', { amount }, { wait: 0, key });
    const other = await ask1(amount + 10_000);
    const { digest } = (await lena.approval(approvalIdOf(other))).body;
    const path = `/v1/approvals/${approvalIdOf(proposed)}/decision`;
    expectProblem(await lena.post(path, { decision: 'allow', digest }), 'action_digest_mismatch');
    await lena.decide(approvalIdOf(proposed), 'allow');
    expectProblem(
      await harness.propose('demo.pay', { amount: amount + 30_000 }, { wait: 0, key }),
      'idempotency_conflict',
    );
    expect((await harness.call(proposed.body.toolCallId, 10)).body.status).toBe('completed');
    expect([executions(), executions(amount + 10_000), executions(amount + 30_000)]).toEqual([1, 0, 0]);
  });
});

describe('many questions', () => {
  it('are answered one by one: nothing answers all of them, and what comes later stays open', async () => {
    const questions = [await ask1(), await ask1(amount + 10_000), await ask1(amount + 20_000)];
    const digests = await Promise.all(
      questions.map(async (each) => (await lena.approval(approvalIdOf(each))).body.digest),
    );
    const late = await ask1(amount + 30_000);
    for (const path of ['/v1/approvals', '/v1/approvals/all/decision', '/v1/approvals/*/decision']) {
      const answer = await lena.post(path, { decision: 'allow', digest: digests[0] });
      expect([400, 404, 405]).toContain(answer.status);
    }
    for (const body of [
      { decision: 'allow', digest: digests[0] },
      { decision: 'allow', decisions: [] },
    ]) {
      expectProblem(await lena.post('/v1/approvals/decisions', body), 'invalid_request');
    }
    for (const target of ['all', { approvalId: '*' }, { approvalIds: questions.map(approvalIdOf) }, {}]) {
      const answer = await lena.control({ type: 'resume', target, decision: 'allow', digest: digests[0] });
      expect([400, 404]).toContain(answer.status);
    }
    for (const question of questions) await lena.decide(approvalIdOf(question), 'allow');
    for (const question of questions)
      expect((await harness.call(question.body.toolCallId, 10)).body.status).toBe('completed');
    expect((await harness.call(late.body.toolCallId)).body).toMatchObject({
      status: 'proposed',
      waitingFor: 'approval',
    });
    expect(executions(amount + 30_000)).toBe(0);
  });
});

describe('a standing permission', () => {
  it('loses against the refusal of one call: what a person said no to does not run', async () => {
    const tina = await stack.as(CAST.otherHarness);
    expect((await harness.propose('demo.free', { amount })).body).toMatchObject({
      status: 'completed',
      decision: { determining: ['demo.free.permit'] },
    });
    const asked = await tina.propose('demo.free', { amount }, { wait: 0 });
    await lena.decide(approvalIdOf(asked), 'deny');
    expect((await tina.call(asked.body.toolCallId, 10)).body.status).toBe('denied');
    expect(executions(amount, '/demo.free')).toBe(1);
  });

  it('of one principal is none of another: each goes by its own rule, whoever came before', async () => {
    const tina = await stack.as(CAST.otherHarness);
    expect((await harness.propose('demo.free', { amount })).body.status).toBe('completed');
    expect((await tina.propose('demo.free', { amount }, { wait: 0 })).body.status).toBe('proposed');
    expect((await harness.propose('demo.free', { amount: amount + 10_000 })).body.status).toBe('completed');
    expect((await harness.propose('demo.pay', { amount }, { wait: 0 })).body.status).toBe('proposed');
    expect(executions(amount, '/demo.free')).toBe(1);
  });
});

describe('a rule for one harmless text', () => {
  it('frees that text and nothing that begins with it', async () => {
    expect((await harness.propose('demo.shell', { cmd: 'du .' })).body.status).toBe('completed');
    const chained = ['; wipe x', ' && wipe x', ' | wipe', '\nwipe x', ' $(wipe x)', ' > x', ' ', '\u0000', '/../x'];
    for (const tail of chained) {
      const gated = await harness.propose('demo.shell', { cmd: `du .${tail}` }, { wait: 0 });
      expect({ tail, ...gated.body }).toMatchObject({ tail, status: 'proposed', waitingFor: 'approval' });
    }
    for (const cmd of ['DU .', ' du .', 'du  .', 'wipe x; du .']) {
      expect((await harness.propose('demo.shell', { cmd }, { wait: 0 })).body.status).toBe('proposed');
    }
    expect(stack.tool.executions('/demo.shell').map(({ body }) => body)).toEqual(['{"cmd":"du ."}']);
  });
});
