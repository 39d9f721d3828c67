import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, forbid, opaqueManifest, permit } from '../support/demo-capabilities.js';
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
    // A busy machine is no finding: nothing here is about a tool that takes long.
    capabilities: opaqueManifest('demo.pay', { amount: { type: 'integer' } }, { timeout: '10s' }),
    policies: ask('demo.pay'),
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  operator = await stack.as(CAST.operator);
});
afterEach(async () => {
  stack.replacePolicies(ask('demo.pay'));
  await reload();
  await operator.control({ type: 'unpause', target: 'all' });
});
afterAll(() => stack.destroy());

const reload = (client = operator) => client.control({ type: 'reload', target: 'policies' });

const propose = () => {
  amount += 1;
  return harness.propose('demo.pay', { amount }, { wait: 0 });
};

const ran = (body: { readonly arguments: unknown }): number =>
  stack.tool.executions('/demo.pay').filter((request) => request.body === JSON.stringify(body.arguments)).length;

describe('a policy set that is broken', () => {
  it.each([
    ['is no Cedar', { 'broken.cedar': '{' }],
    [
      'has an unknown annotation',
      { 'broken.cedar': '@id("x")\n@on_denial("x")\nforbid (principal, action, resource);' },
    ],
    ['has no id', { 'broken.cedar': 'permit (principal, action, resource);' }],
    ['repeats an id', { 'broken.cedar': '@id("demo.pay.permit")\nforbid (principal, action, resource);' }],
    ['asks nobody who exists', ask('demo.pay', { group: 'nobody' })],
    [
      'reads a field that is not there',
      {
        'broken.cedar':
          '@id("x")\nforbid (principal, action == Action::"demo.pay", resource) when { context.input.sum > 1 };',
      },
    ],
    [
      'names a capability that is not there',
      { 'broken.cedar': '@id("x")\nforbid (principal, action == Action::"demo.pya", resource);' },
    ],
  ])('because it %s is refused with its problems, and the one in force stays', async (_, files) => {
    const before = await propose();
    stack.writePolicies(files);
    const refused = expectProblem(await reload(), 'policy_set_refused');
    expect(refused.problems?.length).toBeGreaterThan(0);
    expect((await operator.command(refused.commandId ?? '')).body).toMatchObject({
      type: 'reload',
      status: 'rejected',
      code: 'policy_set_refused',
    });
    const after = await propose();
    expect(after.body.decision).toEqual(before.body.decision);
    await lena.decide(approvalIdOf(before), 'allow');
    expect((await harness.call(before.body.toolCallId, 10)).body.status).toBe('completed');
  });

  it('because it cannot be read is refused, and what was denied stays denied', async () => {
    stack.writePolicies(forbid('demo.pay'));
    expect((await reload()).status).toBe(202);
    expect((await propose()).body.status).toBe('denied');
    stack.writePolicies({ 'demo.pay-forbid.cedar': '{' });
    expectProblem(await reload(), 'policy_set_refused');
    expect((await propose()).body.status).toBe('denied');
    stack.removePolicies();
    expectProblem(await reload(), 'policy_set_refused');
    expect((await propose()).body.status).toBe('denied');
  });
});

describe('a folder of policies', () => {
  it('that may not be read is refused, and the set in force stays', async () => {
    const folder = join(stack.dir, 'policies');
    chmodSync(folder, 0o000);
    try {
      const refused = await reload();
      // The superuser may read everything: then nothing has changed, which is as good.
      if (process.getuid?.() !== 0) expectProblem(refused, 'policy_set_refused');
      expect((await propose()).body.status).toBe('proposed');
    } finally {
      chmodSync(folder, 0o700);
    }
  });

  it('is not watched: a change counts when it is reloaded', async () => {
    stack.writePolicies(forbid('demo.pay'));
    expect((await propose()).body.status).toBe('proposed');
    await reload();
    expect((await propose()).body.status).toBe('denied');
  });

  it('is reloaded by operators alone', async () => {
    stack.writePolicies(forbid('demo.pay'));
    for (const client of [harness, lena]) {
      const refused = expectProblem(await reload(client), 'not_authorized');
      expect((await operator.command(refused.commandId ?? '')).body).toMatchObject({ status: 'rejected' });
    }
    expect((await propose()).body.status).toBe('proposed');
  });
});

describe('what the server knows besides the call', () => {
  const spend = (sum: number) => harness.propose('demo.pay', { amount: sum }, { wait: 0 });

  it('is a budget: what does not fit is a denied call with its reasons, and a denial makes it whole again', async () => {
    // What earlier tests left open is asked about anew under this policy, and takes its small amounts too.
    const budget = '@limit("counter=spend.month;by=capability;add=input.amount;max=5000000")\n';
    stack.writePolicies({ 'demo.pay-permit.cedar': budget + (permit('demo.pay')['demo.pay-permit.cedar'] ?? '') });
    expect((await reload()).status).toBe(202);
    const asked = await spend(3_000_000);
    expect(asked.body.status).toBe('proposed');
    const refused = (await spend(3_000_001)).body;
    expect(refused).toMatchObject({ status: 'denied', decision: { outcome: 'deny' } });
    expect(refused.decision?.reasons[0]).toBe('budget_exceeded');
    expect(refused.decision?.reasons[1]).toContain('The budget spend.month does not allow this call before');
    await lena.decide(approvalIdOf(asked), 'deny');
    expect((await spend(4_000_000)).body.status).toBe('proposed');
    expect((await spend(1_001_001)).body.status).toBe('denied');
  });

  it('is that an operator has suspended the agent: the policy that reads it decides', async () => {
    stack.writePolicies(forbid('demo.pay', 'context.agentSuspended'));
    expect((await reload()).status).toBe(202);
    expect((await propose()).body.status).toBe('proposed');
    const target = { agent: 'support-agent' };
    await operator.control({ type: 'pause', target });
    const { decision, status } = (await propose()).body;
    await operator.control({ type: 'unpause', target });
    expect(status).toBe('denied');
    expect(decision?.determining).toContain('demo.pay.forbid');
    expect(decision?.reasons).toEqual(['demo.pay is switched off.']);
    expect((await propose()).body.status).toBe('proposed');
  });
});

describe('a policy that changes while people are asked', () => {
  it('ends the question: a yes that comes then is told so, and nothing runs', async () => {
    const proposed = await propose();
    const { digest } = (await lena.approval(approvalIdOf(proposed))).body;
    stack.writePolicies(forbid('demo.pay'));
    await reload();
    const yes = await lena.post(`/v1/approvals/${approvalIdOf(proposed)}/decision`, { decision: 'allow', digest });
    expectProblem(yes, 'policy_version_changed');
    await pause(700);
    const call = (await harness.call(proposed.body.toolCallId)).body;
    expect(['denied', 'proposed']).toContain(call.status);
    expect(ran(proposed.body)).toBe(0);
  });

  it('asks anew where it still wants people: the old question is invalidated and another one takes its place', async () => {
    const proposed = await propose();
    stack.writePolicies({
      'more.cedar':
        '@id("more")\nforbid (principal, action == Action::"refund.create", resource) when { context.input.amountMinor == 77 };',
    });
    await reload();
    const { digest } = (await lena.approval(approvalIdOf(proposed))).body;
    await lena.post(`/v1/approvals/${approvalIdOf(proposed)}/decision`, { decision: 'allow', digest });
    await pause(700);
    const call = await harness.call(proposed.body.toolCallId);
    expect(call.body).toMatchObject({ status: 'proposed', waitingFor: 'approval' });
    expect(approvalIdOf(call)).not.toBe(approvalIdOf(proposed));
    expect((await lena.approval(approvalIdOf(proposed))).body.status).toBe('invalidated');
    expect((await lena.approval(approvalIdOf(call))).body.policyRevision).toBe(call.body.decision?.policyRevision);
    await lena.decide(approvalIdOf(call), 'allow');
    expect((await harness.call(proposed.body.toolCallId, 10)).body.status).toBe('completed');
    expect(ran(proposed.body)).toBe(1);
  });

  it('still takes a no', async () => {
    const proposed = await propose();
    const { digest } = (await lena.approval(approvalIdOf(proposed))).body;
    stack.writePolicies({
      'more.cedar':
        '@id("more")\nforbid (principal, action == Action::"refund.create", resource) when { context.input.amountMinor == 78 };',
    });
    await reload();
    const no = await lena.post(`/v1/approvals/${approvalIdOf(proposed)}/decision`, { decision: 'deny', digest });
    expect([200, 409]).toContain(no.status);
    await pause(500);
    expect(ran(proposed.body)).toBe(0);
  });
});

describe('a policy that changes after the yes', () => {
  it('refuses at dispatch what it forbids, with the versions in the record, and nothing runs', async () => {
    const proposed = await propose();
    const approvalId = approvalIdOf(proposed);
    await operator.control({ type: 'pause', target: 'all' });
    await lena.decide(approvalId, 'allow');
    stack.writePolicies(forbid('demo.pay'));
    await reload();
    await operator.control({ type: 'unpause', target: 'all' });
    const call = await harness.callWhen(proposed.body.toolCallId, ['denied']);
    expect(call.decision).toMatchObject({ outcome: 'deny' });
    expect(call.decision?.determining).toContain('demo.pay.forbid');
    expect(call.decision?.policyRevision).not.toBe(proposed.body.decision?.policyRevision);
    expect((await lena.approval(approvalId)).body).toMatchObject({
      status: 'invalidated',
      policyRevision: proposed.body.decision?.policyRevision,
    });
    expect(eventsOf(stack.dataDir, 'approval_id', approvalId).map(({ event_type: type }) => type)).toContain(
      'approval.invalidated',
    );
    const path = `/v1/events?runId=${proposed.body.runId}&types=approval.invalidated&limit=1000`;
    const events = await operator.get<{ items: { payload: unknown }[] }>(path);
    expect(events.body.items.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({
        reason: 'policy_changed',
        oldVersion: proposed.body.decision?.policyRevision,
        newVersion: call.decision?.policyRevision,
      }),
    );
    expect(ran(proposed.body)).toBe(0);
  });

  it('asks again at dispatch what it now wants more people for', async () => {
    const proposed = await propose();
    await operator.control({ type: 'pause', target: 'all' });
    await lena.decide(approvalIdOf(proposed), 'allow');
    stack.writePolicies(ask('demo.pay', { quorum: 2 }));
    await reload();
    await operator.control({ type: 'unpause', target: 'all' });
    const call = await harness.callWhen(proposed.body.toolCallId, ['proposed']);
    expect(call.approval).toMatchObject({ status: 'pending', needed: [{ group: 'support-lead', count: 2, have: 0 }] });
    expect(ran(proposed.body)).toBe(0);
  });

  it('that still agrees with the people who were asked lets the call run once', async () => {
    const proposed = await propose();
    await operator.control({ type: 'pause', target: 'all' });
    await lena.decide(approvalIdOf(proposed), 'allow');
    stack.writePolicies(permit('demo.pay'));
    stack.writePolicies({
      'more.cedar':
        '@id("more")\nforbid (principal, action == Action::"refund.create", resource) when { context.input.amountMinor == 79 };',
    });
    await reload();
    await operator.control({ type: 'unpause', target: 'all' });
    expect((await harness.call(proposed.body.toolCallId, 10)).body.status).toBe('completed');
    expect(ran(proposed.body)).toBe(1);
  });
});
