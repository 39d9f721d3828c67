import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  PolicyOverview,
  PolicyPreviewReport,
  PolicyReplayReport,
  PolicyShadowReport,
  ProposedActivation,
  StoredPolicySet,
} from '../../src/client/contract/policies.js';
import { ask, forbid, opaqueManifest, permit, type Files } from '../support/demo-capabilities.js';
import { countersign } from '../support/command-line.js';
import { eventsOfType } from '../support/event-records.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const EXAMPLE = new URL('../../examples/refunds/policies/', import.meta.url);
const BASE = Object.fromEntries(
  readdirSync(EXAMPLE)
    .filter((name) => name.endsWith('.cedar'))
    .map((name) => [name, readFileSync(new URL(name, EXAMPLE), 'utf8')]),
);
const given = (files: Files) => Object.entries({ ...BASE, ...files }).map(([name, text]) => ({ name, text }));

const permitted = permit('demo.pay');

let stack: Stack;
let harness: Client;
let operator: Client;
let second: Client;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    // A busy machine is no finding: nothing here is about a tool that takes long.
    capabilities: opaqueManifest('demo.pay', { amount: { type: 'integer' } }, { timeout: '10s' }),
    policies: ask('demo.pay'),
  });
  harness = await stack.as(CAST.harness);
  operator = await stack.as(CAST.operator);
  second = await stack.as({ ...CAST.operator, sub: 'olivia' });
});
afterAll(() => stack.destroy());

const propose = () => {
  amount += 1;
  return harness.propose('demo.pay', { amount }, { wait: 0 });
};
const overview = async () => (await operator.get<PolicyOverview>('/v1/policies')).body;

describe('a decision that was recorded', () => {
  it('is decided the same when the set that made it is asked again, by call and by its own id', async () => {
    const proposed = await propose();
    const { toolCallId } = proposed.body;
    const whole = await operator.post<PolicyReplayReport>('/v1/policies/replay', { toolCallId });
    expect(whole.body.items).toMatchObject([
      { toolCallId, answer: 'same', decided: { phase: 'propose', outcome: 'requires_confirmation' } },
    ]);
    const policyDecisionId = whole.body.items[0]?.policyDecisionId ?? '';
    const auditor = await stack.as(CAST.auditor);
    const one = await auditor.post<PolicyReplayReport>('/v1/policies/replay', { policyDecisionId });
    expect(one.body).toEqual(whole.body);
  });

  it('is no other tenant’s business', async () => {
    const { toolCallId } = (await propose()).body;
    const elsewhere = await stack.as(CAST.elsewhereOperator);
    expectProblem(await elsewhere.post('/v1/policies/replay', { toolCallId }), 'policy_decision_not_found');
    expectProblem(await elsewhere.get('/v1/policies'), 'not_authorized');
    expectProblem(await elsewhere.post('/v1/policies/preview', { files: given(permit('demo.pay')) }), 'not_authorized');
    expectProblem(await harness.post('/v1/policies/replay', { toolCallId }), 'not_authorized');
  });
});

describe('a candidate', () => {
  it('shows which decisions it turns and which questions it ends, and changes nothing', async () => {
    const proposed = await propose();
    const before = await overview();
    const files = given({ ...permit('demo.pay'), ...forbid('demo.pay') });
    const { body } = await operator.post<PolicyPreviewReport>('/v1/policies/preview', { files, limit: 5000 });
    expect(body).toMatchObject({ accepted: true, problems: [], decisions: { end: 'all' } });
    const { toolCallId } = proposed.body;
    expect(body.decisions.flips.find((flip) => flip.toolCallId === toolCallId)).toMatchObject({
      capability: 'demo.pay',
      from: { outcome: 'requires_confirmation', determining: ['demo.pay.ask'] },
      to: { outcome: 'deny', determining: ['demo.pay.forbid'] },
    });
    expect(body.approvals.stale).toContainEqual(
      expect.objectContaining({ approvalId: approvalIdOf(proposed), becomes: 'denied' }),
    );
    expect(await overview()).toEqual(before);
    expect((await harness.call(toolCallId)).body.status).toBe('proposed');
  });

  it('with problems is answered with every one of them', async () => {
    const files = [{ name: 'x.cedar', text: '{' }, ...given({ 'y.cedar': 'permit (principal, action, resource);' })];
    const { body } = await operator.post<PolicyPreviewReport>('/v1/policies/preview', { files });
    expect(body.accepted).toBe(false);
    expect(new Set(body.problems.map(({ file }) => file))).toEqual(new Set(['x.cedar', 'y.cedar']));
  });
});

describe('the command line', () => {
  it('replays a call, previews the folder, and runs golden cases that fail with what came', async () => {
    const tokenFile = join(stack.dir, 'operator-token');
    writeFileSync(tokenFile, await stack.token({ ...CAST.operator }));
    const server = ['--url', stack.proxy.url, '--token-file', tokenFile];
    const { toolCallId } = (await propose()).body;
    const folder = join(stack.dir, 'policies');
    const wrong =
      '[{ name: x, capability: demo.pay, request: { sub: s, input: { amount: 1 } }, expect: { outcome: allow } }]';
    writeFileSync(join(stack.dir, 'wrong.cases.yaml'), wrong);
    const [replayed, previewed, passed, failed] = await Promise.all([
      countersign(['policy', 'replay', toolCallId, ...server], stack.environment),
      countersign(['policy', 'preview', '--dir', folder, ...server], stack.environment),
      countersign(['policy', 'test'], stack.environment),
      countersign(['policy', 'test', join(stack.dir, 'wrong.cases.yaml')], stack.environment),
    ]);
    expect(replayed).toMatchObject({ code: 0, out: expect.stringContaining('requires_confirmation  same') });
    expect(previewed).toMatchObject({ code: 0, out: expect.stringContaining(': 0 of ') });
    expect(passed).toMatchObject({ code: 0, out: '6 passed, 0 failed\n' });
    expect(failed.code).toBe(1);
    expect(failed.out).toContain('  outcome: expected "allow", got "requires_confirmation"');
    expect(failed.out).toContain('0 passed, 1 failed');
  });
});

describe('a policy folder that breaks while the server runs', () => {
  it('leaves the last good set in force, as an event and a readiness reason, until it is whole again [T03]', async () => {
    const { revision } = (await overview()).inForce ?? {};
    stack.writePolicies({ 'broken.cedar': '{' });
    const refused = await operator.control({ type: 'reload', target: 'policies' });
    expectProblem(refused, 'policy_set_refused');
    const now = await overview();
    expect(now.inForce?.revision).toBe(revision);
    expect(now.lastRefusal?.problems).toMatchObject([{ file: 'broken.cedar', code: 'syntax' }]);
    const ready = await operator.get<{ reasons: { name: string; severity: string }[] }>('/readyz');
    expect(ready.body.reasons).toContainEqual(
      expect.objectContaining({ name: 'policy_refused', severity: 'degraded' }),
    );
    expect(eventsOfType(stack.dataDir, 'policy.activation_refused')).toHaveLength(1);
    expect((await propose()).body.status).toBe('proposed');
    stack.replacePolicies(ask('demo.pay'));
    expect((await operator.control({ type: 'reload', target: 'policies' })).status).toBe(202);
    expect((await overview()).lastRefusal).toBeNull();
  });
});

describe('a shadow, and activation as an approved action', () => {
  const files = given({ ...permit('demo.pay'), ...forbid('demo.pay') });
  const differences = () => operator.get<PolicyShadowReport>('/v1/policies/shadow');

  it('the shadow says what it would have said', async () => {
    expectProblem(await operator.post('/v1/policies/activate', { files, reason: 'x' }), 'policy_activation_by_folder');
    const set = await operator.post('/v1/policies/shadow', { files: given(permitted) });
    expect(set.status).toBe(202);
    const first = await propose();
    const seen = await until('a difference', differences, ({ body }) => body.differences.length > 0);
    expect(seen.body.differences[0]).toMatchObject({
      toolCallId: first.body.toolCallId,
      from: { outcome: 'requires_confirmation' },
      to: { outcome: 'allow', determining: ['demo.pay.permit'] },
    });
  });

  it('goes on after a kill, and ends when it is told', async () => {
    const { revision } = (await overview()).shadow ?? {};
    stack.set({ COUNTERSIGN_POLICY__ACTIVATION: 'approved' });
    await stack.restart('SIGKILL');
    await until('the shadow is back', overview, ({ shadow }) => shadow?.state === 'asking');
    expect((await overview()).shadow?.revision).toBe(revision);
    const again = await propose();
    const later = await until('the next one', differences, ({ body }) => body.differences.length > 1);
    expect(later.body.differences.map(({ toolCallId }) => toolCallId)).toContain(again.body.toolCallId);
    expect((await operator.send('DELETE', '/v1/policies/shadow')).status).toBe(202);
    expect((await differences()).body).toEqual({ shadow: null, flips: [], differences: [] });
    expectProblem(await operator.send('DELETE', '/v1/policies/shadow'), 'policy_shadow_not_set');
  });

  it('one operator proposes, another one allows, and the folder decides nothing, restarts included', async () => {
    const start = await overview();
    expect(start).toMatchObject({ activation: 'approved', folderDiffers: false });
    expectProblem(await operator.control({ type: 'reload', target: 'policies' }), 'policy_activation_needs_approval');
    const asked = await operator.post<ProposedActivation>('/v1/policies/activate', { files, reason: 'demo is over' });
    const [proposal] = (await overview()).activations;
    expect(proposal).toMatchObject({ activationId: asked.body.activationId, author: 'otto', reason: 'demo is over' });
    const revision = proposal?.revision ?? '';
    const shown = await second.get<StoredPolicySet>(`/v1/policies/sets/${revision}`);
    expect(shown.body.files.map(({ name }) => name)).toContain('demo.pay-forbid.cedar');
    const decide = (client: Client) =>
      client.post(`/v1/policies/activations/${asked.body.activationId}/decision`, { decision: 'allow', revision });
    expectProblem(await decide(operator), 'approver_not_allowed');
    expectProblem(await decide(await stack.as(CAST.lena)), 'not_authorized');
    expectProblem(await decide(harness), 'not_authorized');
    expect((await propose()).body.status).toBe('proposed');
    expect((await decide(second)).status).toBe(202);
    expect((await propose()).body.status).toBe('denied');
    expectProblem(await decide(second), 'policy_activation_closed');
    await stack.restart('SIGKILL');
    expect(await overview()).toMatchObject({ inForce: { revision }, folderDiffers: true, activations: [] });
    expect((await propose()).body.status).toBe('denied');
    const ready = await operator.get<{ information: { name: string }[] }>('/readyz');
    expect(ready.body.information.map(({ name }) => name)).toContain('policy_folder_differs');
  });
});
