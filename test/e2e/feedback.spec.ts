import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import type { FeedbackRepresentation } from '../../src/client/contract/feedback.js';
import { opaqueManifest, permit, probeableManifest } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { expectProblem, type Answer, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const CANARY = 'canary-note-7f3a9b';
const BANK = { sub: 'bank', roles: ['feedback'] };
const PSP = { sub: 'psp', roles: ['feedback'] };

const success = (within: string) => ({
  success: {
    criteria: 'money_arrived',
    within,
    needs: ['statement_line'],
    sources: [
      { subject: 'bank', evidence: ['statement_line'], authoritative: true },
      { subject: 'psp', evidence: ['provider_status'] },
    ],
  },
});

let stack: Stack;
let harness: Client;
let bank: Client;
let amount = 0;

beforeAll(async () => {
  const amounts = { amount: { type: 'integer' } };
  const { 'demo.unsure.yaml': unsure } = probeableManifest('demo.unsure', amounts, success('1h'));
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.wire', amounts, { ...success('1h'), risk: 'high' }),
      ...opaqueManifest('demo.quick', amounts, success('1s')),
      // Its look-ups find nothing, which is proof.
      'demo.unsure.yaml': (unsure ?? '').replace('"/effects"', '"/none"'),
    },
    policies: { ...permit('demo.wire'), ...permit('demo.quick'), ...permit('demo.unsure'), ...unattended('demo.wire') },
  });
  harness = await stack.as(CAST.harness);
  bank = await stack.as(BANK);
});
afterAll(() => stack.destroy());

/** People are not asked here, and that is said. */
function unattended(name: string) {
  return {
    [`${name}-permit.cedar`]: `@id("${name}.permit")
@unattended("a test of feedback")
permit (principal, action == Action::"${name}", resource)
when { principal.roles.contains("harness") };
`,
  };
}

async function wired(capability = 'demo.wire'): Promise<ToolCallRepresentation> {
  amount += 1;
  return (await harness.propose(capability, { amount })).body;
}

function give(toolCallId: string, more: object = {}, client: Client = bank): Promise<Answer<FeedbackRepresentation>> {
  return client.post(`/v1/tool-calls/${toolCallId}/feedback`, {
    feedbackId: 'line-1',
    verdict: 'met',
    criteriaId: 'money_arrived',
    criteriaVersion: '1',
    verifiedAt: new Date().toISOString(),
    evidenceRefs: [{ kind: 'statement_line', ref: 'statement-2031-01#7', digest: `sha256:${'c'.repeat(64)}` }],
    ...more,
  });
}

const read = async (toolCallId: string): Promise<ToolCallRepresentation> =>
  (await harness.get<ToolCallRepresentation>(`/v1/tool-calls/${toolCallId}`)).body;

describe("a tool's own 200", () => {
  it('ends the execution and leaves the outcome pending', async () => {
    const call = await wired();
    expect(call).toMatchObject({ status: 'completed', outcome: { status: 'pending', evidenceRefs: [] } });
  });

  it('says nothing of an outcome where the manifest has no success criteria', async () => {
    const orderId = await stack.provider.order();
    const { body } = await harness.propose('order.read', { orderId });
    expect(body.outcome).toEqual({ status: 'not_observed', evidenceRefs: [] });
  });
});

describe('feedback from the source that may give it', () => {
  it('confirms the outcome with its evidence, and the execution stays as it was, also after a restart', async () => {
    const call = await wired();
    const answer = await give(call.toolCallId, { note: CANARY });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      status: 'received',
      replayed: false,
      outcome: { status: 'confirmed_success' },
    });
    const confirmed = await read(call.toolCallId);
    expect(confirmed.outcome).toEqual({ status: 'confirmed_success', evidenceRefs: ['statement-2031-01#7'] });
    expect({ ...confirmed, outcome: null }).toEqual({ ...call, outcome: null });
    await stack.restart('SIGKILL');
    expect((await read(call.toolCallId)).outcome).toEqual(confirmed.outcome);
    expect((await give(call.toolCallId, { note: CANARY, verifiedAt: '2031-01-01T00:00:00Z' })).status).toBe(409);
  });

  it('is recorded once, however often it is sent', async () => {
    const call = await wired();
    const verifiedAt = new Date().toISOString();
    const answers = await Promise.all(Array.from({ length: 8 }, () => give(call.toolCallId, { verifiedAt })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const types = eventsOf(stack.dataDir, 'tool_call_id', call.toolCallId).map(({ event_type: type }) => type);
    expect(types.filter((type) => type.startsWith('feedback.'))).toEqual([
      'feedback.received',
      'feedback.success_criteria_met',
    ]);
    expectProblem(await give(call.toolCallId, { verifiedAt, verdict: 'failed' }), 'feedback_id_conflict');
  });

  it('that contradicts what was confirmed opens the question again', async () => {
    const call = await wired();
    await give(call.toolCallId);
    const answer = await give(call.toolCallId, { feedbackId: 'line-2', verdict: 'failed' });
    expect(answer.body.outcome.status).toBe('pending');
    const types = eventsOf(stack.dataDir, 'tool_call_id', call.toolCallId).map(({ event_type: type }) => type);
    expect(types.at(-1)).toBe('feedback.contradiction_recorded');
  });

  it('lands after the run has ended, which stays ended', async () => {
    const call = await wired();
    const ended = await harness.post<{ status: string }>(`/v1/runs/${call.runId}/complete`, {});
    expect(ended.body.status).toBe('completed');
    expect((await give(call.toolCallId)).body.outcome.status).toBe('confirmed_success');
    expect((await harness.get<{ status: string }>(`/v1/runs/${call.runId}`)).body.status).toBe('completed');
  });
});

describe('feedback from anybody else', () => {
  it('is refused and on record, and nothing is confirmed', async () => {
    const call = await wired();
    const { toolCallId } = call;
    expectProblem(await give(toolCallId, {}, await stack.as(PSP)), 'feedback_source_missing');
    expectProblem(
      await give(toolCallId, {}, await stack.as({ sub: 'mallory', roles: ['feedback'] })),
      'feedback_source_missing',
    );
    const agent = await stack.as({ sub: 'bank', act: { sub: 'support-agent' }, roles: ['feedback'] });
    expectProblem(await give(toolCallId, {}, agent), 'feedback_source_missing');
    expectProblem(await give(toolCallId, {}, harness), 'not_authorized');
    expectProblem(await give(toolCallId, {}, await stack.as({ ...BANK, tenant: 'umbrella' })), 'tool_call_not_found');
    expect((await read(toolCallId)).outcome.status).toBe('pending');
    const types = eventsOf(stack.dataDir, 'tool_call_id', toolCallId).map(({ event_type: type }) => type);
    expect(types.filter((type) => type === 'feedback.rejected')).toHaveLength(3);
  });

  it.each([
    ['without evidence', { evidenceRefs: [] }, 'feedback_evidence_missing'],
    ['for other criteria', { criteriaVersion: '2' }, 'feedback_criteria_unknown'],
    ['seen in the future', { verifiedAt: '2101-01-01T00:00:00Z' }, 'invalid_timestamp'],
    ['seen before the call', { verifiedAt: '2001-01-01T00:00:00Z' }, 'invalid_timestamp'],
    ['with a field that nobody knows', { confirmed: true }, 'invalid_request'],
    [
      'with too much evidence',
      { evidenceRefs: Array.from({ length: 17 }, () => ({ kind: 'x', ref: 'y' })) },
      'invalid_request',
    ],
  ] as const)('%s is refused', async (_what, body, code) => {
    const call = await wired();
    expectProblem(await give(call.toolCallId, body), code);
    expect((await read(call.toolCallId)).outcome.status).toBe('pending');
  });
});

describe('an outcome that nobody verifies in time', () => {
  it('becomes inconclusive by itself, and a later answer still counts', async () => {
    const call = await wired('demo.quick');
    await until(
      'the verification to end',
      async () => (await read(call.toolCallId)).outcome.status,
      (status) => status === 'inconclusive',
    );
    expect((await read(call.toolCallId)).status).toBe('completed');
    expect((await give(call.toolCallId)).body.outcome.status).toBe('confirmed_success');
  });
});

describe('a call of unknown result', () => {
  it('fails its criteria when its effect is proven absent, and is verified anew when it is tried again', async () => {
    stack.tool.behave('/none', () => jsonAnswer({ data: [] }));
    stack.tool.behave('/demo.unsure', () => ({ reset: true }));
    amount += 1;
    const sent = await harness.propose('demo.unsure', { amount }, { wait: 0 });
    const call = await harness.callWhen(sent.body.toolCallId, ['failed', 'completed', 'manual_handoff']);
    expect(call).toMatchObject({
      status: 'failed',
      error: { effect: 'none' },
      outcome: { status: 'confirmed_failure' },
    });
    const types = eventsOf(stack.dataDir, 'tool_call_id', call.toolCallId).map(({ event_type: type }) => type);
    expect(types.filter((type) => /^(?:outcome|feedback)/.test(type))).toEqual([
      'outcome.verification_opened',
      'feedback.success_criteria_failed',
    ]);
    stack.tool.behave('/demo.unsure', () => jsonAnswer({ ok: true }));
    await harness.control({ type: 'retry', target: { toolCallId: call.toolCallId } });
    const again = await harness.callWhen(call.toolCallId, ['completed']);
    expect(again).toMatchObject({ attempt: 2, outcome: { status: 'pending', evidenceRefs: [] } });
  });
});

describe('what feedback says', () => {
  it('is in no log', () => {
    expect(stack.output).not.toContain(CANARY);
    expect(stack.output).not.toContain('statement-2031-01#7');
  });
});
