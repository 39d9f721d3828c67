import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunRepresentation } from '../../src/client/contract/runs.js';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import type {
  ArtifactRepresentation,
  ReasoningRepresentation,
  RunPageRepresentation,
  SubagentEndRepresentation,
  SubagentRepresentation,
  TimelineRepresentation,
  TurnRepresentation,
} from '../../src/client/contract/run-chain.js';
import { opaqueManifest } from '../support/demo-capabilities.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const CANARY = 'canary-conclusion-5d21c0';
const OTHER_AGENT = { sub: 'sam', act: { sub: 'other-agent' }, roles: ['harness'] };

let stack: Stack;
let harness: Client;
let auditor: Client;
let labels = 0;

/** Allowed only to an agent that has said why. */
const REASONED = `@id("demo.wire.permit")
permit (principal, action == Action::"demo.wire", resource)
when { principal.roles.contains("harness") && context.reasoning.present };
`;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: opaqueManifest('demo.wire', { amount: { type: 'integer' } }),
    policies: { 'demo.wire-permit.cedar': REASONED },
  });
  harness = await stack.as(CAST.harness);
  auditor = await stack.as(CAST.auditor);
});
afterAll(() => stack.destroy());

async function openRun(client = harness): Promise<string> {
  labels += 1;
  const answer = await client.post<RunRepresentation>('/v1/runs', {
    label: `ticket-${labels}`,
    goalRef: 'ticket-goal',
  });
  expect(answer.status).toBe(201);
  return answer.body.runId;
}

async function openTurn(runId: string, clientId = 'turn-1'): Promise<string> {
  return (await harness.post<TurnRepresentation>(`/v1/runs/${runId}/turns`, { clientId })).body.turnId;
}

const judge = (turnId: string, more: object = {}, client = harness) =>
  client.post<ReasoningRepresentation>(`/v1/turns/${turnId}/reasoning`, {
    clientId: 'reason-1',
    goalRef: 'ticket-goal',
    conclusion: `eligible ${CANARY}`,
    knowledgeRefs: ['policy:refunds#4'],
    evidenceRefs: ['order:1'],
    risk: 'high',
    ...more,
  });

const view = async (runId: string, client = harness): Promise<RunPageRepresentation> =>
  (await client.get<RunPageRepresentation>(`/v1/runs/${runId}/view`)).body;

const timeline = async (runId: string, query = ''): Promise<TimelineRepresentation> =>
  (await auditor.get<TimelineRepresentation>(`/v1/runs/${runId}/timeline${query}`)).body;

describe('a policy that demands a judgement', () => {
  it('denies a call without one, refuses a made-up one, and allows one that is on record in the run', async () => {
    const runId = await openRun();
    const { body: without } = await harness.propose('demo.wire', { amount: 1 }, { body: { runId } });
    expect(without.status).toBe('denied');
    const madeUp = await harness.propose(
      'demo.wire',
      { amount: 2 },
      { body: { runId, reasoningObjectId: 'rsn_made_up' } },
    );
    expectProblem(madeUp, 'dangling_reference');
    const { body: reasoning } = await judge(await openTurn(runId));
    const { reasoningObjectId } = reasoning;
    const allowed = await harness.propose('demo.wire', { amount: 3 }, { body: { runId, reasoningObjectId } });
    expect(allowed.body.status).toBe('completed');
    const elsewhere = await harness.propose(
      'demo.wire',
      { amount: 4 },
      { body: { runId: await openRun(), reasoningObjectId } },
    );
    expectProblem(elsewhere, 'dangling_reference');
    expect(stack.tool.executions('/demo.wire')).toHaveLength(1);
  });
});

describe('what a harness states about its run', () => {
  it('is recorded once per client id, and another meaning of that id is refused', async () => {
    const runId = await openRun();
    const turnId = await openTurn(runId);
    const first = await judge(turnId);
    const again = await judge(turnId);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual({ ...first.body, replayed: true });
    expectProblem(await judge(turnId, { conclusion: 'something else' }), 'duplicate_id');
    expect((await timeline(runId)).items.filter(({ link }) => link === 'reasoning')).toHaveLength(1);
  });

  it('is bounded', async () => {
    const turnId = await openTurn(await openRun());
    expectProblem(await judge(turnId, { conclusion: 'x'.repeat(4001) }), 'invalid_request');
    expectProblem(await judge(turnId, { knowledgeRefs: Array(65).fill('k') }), 'invalid_request');
    expectProblem(await judge(turnId, { approved: true }), 'invalid_request');
  });

  it('is about no run of another principal or tenant, which do not exist for it', async () => {
    const runId = await openRun();
    const turnId = await openTurn(runId);
    for (const person of [OTHER_AGENT, CAST.elsewhereHarness, CAST.otherHarness]) {
      const foreign = await stack.as(person);
      expectProblem(await foreign.post(`/v1/runs/${runId}/turns`, { clientId: 'x' }), 'run_not_found');
      expectProblem(await foreign.get(`/v1/runs/${runId}/view`), 'run_not_found');
      expectProblem(await foreign.post(`/v1/runs/${runId}/complete`, {}), 'run_not_found');
      const answer = await judge(turnId, { clientId: 'x' }, foreign);
      expect(answer.status).toBe(404);
      expectProblem(await foreign.get(`/v1/runs/${runId}/timeline`), 'not_authorized');
    }
    const elsewhere = await stack.as({ sub: 'aida', roles: ['auditor'], tenant: 'umbrella' });
    expectProblem(await elsewhere.get(`/v1/runs/${runId}/timeline`), 'run_not_found');
  });

  it('is kept when the process is killed', async () => {
    const runId = await openRun();
    const { body: judged } = await judge(await openTurn(runId));
    await stack.restart('SIGKILL');
    expect((await judge(judged.turnId ?? '')).body).toEqual({ ...judged, replayed: true });
  });

  it('never gets a word into the log', () => {
    expect(stack.output).not.toContain(CANARY);
  });
});

describe('the timeline of a run', () => {
  it('joins why and what in the order in which they became true, page by page', async () => {
    const runId = await openRun();
    const turnId = await openTurn(runId);
    const { reasoningObjectId } = (await judge(turnId)).body;
    const { body: call } = await harness.propose(
      'demo.wire',
      { amount: 10 },
      { body: { runId, turnId, reasoningObjectId } },
    );
    const { body: artifact } = await harness.post<ArtifactRepresentation>(`/v1/runs/${runId}/artifacts`, {
      clientId: 'receipt',
      goalRef: 'ticket-goal',
      mediaType: 'application/pdf',
      digest: `sha256:${'d'.repeat(64)}`,
      location: 's3://receipts/1',
      toolCallId: call.toolCallId,
      reasoningObjectId,
    });
    const whole = await timeline(runId);
    expect(whole.items.map(({ link }) => link)).toEqual([
      'goal',
      'reasoning',
      'proposal',
      'policy',
      'policy',
      'attempt',
      'attempt',
      'attempt',
      'result',
      'artifact',
    ]);
    const positions = whole.items.map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((left, right) => left - right));
    const [, reasoning, proposal] = whole.items;
    expect(proposal).toMatchObject({
      causationId: reasoning?.eventId,
      correlationId: reasoning?.correlationId,
      reasoningObjectId,
      turnId,
    });
    expect(whole.items.at(-1)).toMatchObject({ artifactId: artifact.artifactId, toolCallId: call.toolCallId });
    const paged: string[] = [];
    for (let after: number | null = -1; after !== null;) {
      const page: TimelineRepresentation = await timeline(runId, `?limit=2&after=${after}`);
      expect(page.items.length).toBeLessThanOrEqual(2);
      paged.push(...page.items.map(({ eventId }) => eventId));
      after = page.nextAfter;
    }
    expect(paged).toEqual(whole.items.map(({ eventId }) => eventId));
  });

  it('tells the story of one call with its approval, and names what it lacks', async () => {
    const runId = await openRun();
    const orderId = await stack.provider.order();
    const asked = await harness.propose('refund.create', { orderId, amountMinor: 7_000 }, { wait: 0, body: { runId } });
    const { toolCallId } = asked.body;
    await harness.propose('order.read', { orderId }, { body: { runId } });
    const story = await timeline(runId, `?toolCallId=${toolCallId}`);
    expect(story.items.map(({ eventType }) => eventType)).toEqual([
      'run.started',
      'tool.call.proposed',
      'policy.decided',
      'approval.required',
    ]);
    expect(story.items.at(-1)?.approvalId).toBe(approvalIdOf(asked));
    expect(story.missing).toEqual(['reasoning', 'attempt', 'result', 'feedback']);
    expectProblem(
      await auditor.get(`/v1/runs/${await openRun()}/timeline?toolCallId=${toolCallId}`),
      'tool_call_not_found',
    );
  });
});

describe('the view of a run', () => {
  it('has a banner for a question that is on record and for nothing that an agent writes', async () => {
    const runId = await openRun();
    expect(await view(runId)).toMatchObject({ isBusy: false, canStop: true, canResume: false, approvalBanner: null });
    await judge(await openTurn(runId), { conclusion: 'please confirm: approval required' });
    expect((await view(runId)).approvalBanner).toBeNull();
    const orderId = await stack.provider.order();
    const asked = await harness.propose('refund.create', { orderId, amountMinor: 7_000 }, { wait: 0, body: { runId } });
    const waiting = await view(runId);
    expect(waiting.approvalBanner).toMatchObject({
      pending: 1,
      approvals: [{ approvalId: approvalIdOf(asked), toolCallId: asked.body.toolCallId, risk: 'high' }],
    });
    expect(waiting.toolBadges).toMatchObject([{ badge: 'awaiting approval', waitingFor: 'approval' }]);
    expect(waiting.positions.durable).toBe(waiting.positions.head);
    expect(await view(runId, auditor)).toMatchObject({ approvalBanner: { pending: 1 } });
  });

  it('shows artefacts and helpers, and a helper that comes after the end changes nothing', async () => {
    const runId = await openRun();
    const path = `/v1/runs/${runId}/subagents`;
    const body = { clientId: 'helper', childSessionId: 'ses_child', goalRef: 'ticket-goal' };
    const { body: helper } = await harness.post<SubagentRepresentation>(path, body);
    expect(await view(runId)).toMatchObject({
      isBusy: true,
      subagentProgress: [{ subagentId: helper.subagentId, state: 'running' }],
    });
    const ended = await harness.post<RunRepresentation>(`/v1/runs/${runId}/complete`, {});
    expect(ended.body.status).toBe('completed');
    const late = await harness.post<SubagentEndRepresentation>(`${path}/${helper.subagentId}/end`, {
      status: 'completed',
      resultRef: 'result-1',
    });
    expect(late.body).toMatchObject({ late: true });
    expect(await view(runId)).toMatchObject({ isBusy: false, canStop: false, canResume: false });
    expect((await harness.get<RunRepresentation>(`/v1/runs/${runId}`)).body.status).toBe('completed');
    expectProblem(await harness.post(`${path}/${helper.subagentId}/end`, { status: 'failed' }), 'duplicate_id');
  });
});

describe('a run that its harness ends', () => {
  it('is not complete while people are asked; failed, it gives the question up and nothing runs', async () => {
    const runId = await openRun();
    const orderId = await stack.provider.order();
    const asked = await harness.propose('refund.create', { orderId, amountMinor: 7_000 }, { wait: 0, body: { runId } });
    expectProblem(await harness.post(`/v1/runs/${runId}/complete`, {}), 'run_has_open_work');
    const failed = await harness.post<RunRepresentation>(`/v1/runs/${runId}/fail`, {
      code: 'model_failed',
      message: CANARY,
    });
    expect(failed.body.status).toBe('failed');
    const call = await harness.get<ToolCallRepresentation>(`/v1/tool-calls/${asked.body.toolCallId}`);
    expect(call.body).toMatchObject({ status: 'not_executed', approval: { status: 'closed' } });
    expectProblem(await harness.post(`/v1/runs/${runId}/turns`, { clientId: 'late' }), 'run_already_ended');
    expect(stack.output).not.toContain(CANARY);
  });
});
