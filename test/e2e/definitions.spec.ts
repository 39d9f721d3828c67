import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit, type Files } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const AMOUNT = { amount: { type: 'integer' } };

let stack: Stack;
let harness: Client;
let lena: Client;
let operator: Client;
let version = 0;
let amount = 0;

const definition = (more: object = {}): Files => ({
  ...opaqueManifest('demo.pay', AMOUNT, { version: `1.0.${version}`, ...more }),
});

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: { ...definition(), ...opaqueManifest('demo.other', AMOUNT) },
    policies: { ...ask('demo.pay'), ...permit('demo.other') },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  operator = await stack.as(CAST.operator);
});
beforeEach(() => {
  amount += 1;
});
afterAll(() => stack.destroy());

const propose = () => harness.propose('demo.pay', { amount }, { wait: 0 });
const executions = (path = '/demo.pay') =>
  stack.tool.executions(path).filter(({ body }) => body === JSON.stringify({ amount })).length;

async function changeDefinition(): Promise<void> {
  version += 1;
  stack.writeCapabilities(definition({ description: `Definition ${version}.` }));
  await stack.restart('SIGTERM');
}

describe('a definition that changes', () => {
  it('while people are asked ends the question, and nothing runs under the name that was approved', async () => {
    const proposed = await propose();
    const approvalId = approvalIdOf(proposed);
    const { digest } = (await lena.approval(approvalId)).body;
    await changeDefinition();
    const yes = await lena.post(`/v1/approvals/${approvalId}/decision`, { decision: 'allow', digest });
    expect(yes.status).toBe(409);
    expect(['capability_version_changed', 'approval_not_pending']).toContain((yes.body as { code: string }).code);
    const closed = await harness.callWhen(proposed.body.toolCallId, ['not_executed']);
    expect(closed).toMatchObject({ capabilityVersion: `1.0.${version - 1}`, mayHaveHappened: false });
    expect((await lena.approval(approvalId)).body).toMatchObject({
      status: 'invalidated',
      statusReason: 'capability_changed',
    });
    expect(eventsOf(stack.dataDir, 'approval_id', approvalId).map(({ event_type: type }) => type)).toContain(
      'approval.invalidated',
    );
    expect(executions()).toBe(0);
    const anew = await propose();
    expect(anew.body).toMatchObject({ capabilityVersion: `1.0.${version}`, status: 'proposed' });
    await lena.decide(approvalIdOf(anew), 'allow');
    expect((await harness.call(anew.body.toolCallId, 10)).body.status).toBe('completed');
    expect(executions()).toBe(1);
  });

  it('after the yes and before it was sent takes the yes with it', async () => {
    const proposed = await propose();
    await operator.control({ type: 'pause', target: { capability: 'demo.pay' } });
    expect((await lena.decide(approvalIdOf(proposed), 'allow')).body.status).toBe('granted');
    await changeDefinition();
    await operator.control({ type: 'unpause', target: { capability: 'demo.pay' } });
    await harness.callWhen(proposed.body.toolCallId, ['not_executed']);
    expect((await lena.approval(approvalIdOf(proposed))).body.status).toBe('invalidated');
    expect(executions()).toBe(0);
  });

  it('back to one that was asked about before does not bring the old question back', async () => {
    const proposed = await propose();
    const old = version;
    await changeDefinition();
    await harness.callWhen(proposed.body.toolCallId, ['not_executed']);
    version = old;
    stack.writeCapabilities(definition(old === 0 ? {} : { description: `Definition ${old}.` }));
    await stack.restart('SIGTERM');
    expectProblem(await lena.decide(approvalIdOf(proposed), 'allow'), 'approval_not_pending');
    expect((await harness.call(proposed.body.toolCallId)).body.status).toBe('not_executed');
    expect(executions()).toBe(0);
    version += 1;
  });

  it('in whatever way under the version it had stops the start, and the start says which one', async () => {
    const amountAsNumber = { type: 'object', additionalProperties: false, properties: { amount: { type: 'number' } } };
    const changes = [
      { description: 'Now it does something else.' },
      { inputSchema: amountAsNumber },
      { timeout: '700ms' },
    ];
    for (const change of changes) {
      stack.writeCapabilities(opaqueManifest('demo.other', AMOUNT, change));
      await expect(stack.restart('SIGTERM')).rejects.toThrow(/capability_definition_changed[^]*demo\.other@1\.0\.0/);
    }
    stack.writeCapabilities(opaqueManifest('demo.other', AMOUNT));
    await stack.restart('SIGTERM');
    expect((await harness.propose('demo.other', { amount })).body.status).toBe('completed');
  });

  it('into nothing ends what waited for it: it is unknown from then on, and nothing is sent', async () => {
    const proposed = await propose();
    rmSync(join(stack.dir, 'capabilities', 'demo.pay.yaml'));
    stack.replacePolicies(permit('demo.other'));
    await stack.restart('SIGTERM');
    await harness.callWhen(proposed.body.toolCallId, ['not_executed']);
    expectProblem(await propose(), 'capability_unknown');
    expect((await harness.call(proposed.body.toolCallId)).body.capability).toBe('demo.pay');
    expect(executions()).toBe(0);
  });

  it('of its name ends what waited under the old one: still listed, run under neither, open to no late yes [M07]', async () => {
    const named = async (name: string, before: string) => {
      rmSync(join(stack.dir, 'capabilities', `${before}.yaml`), { force: true });
      stack.writeCapabilities(opaqueManifest(name, AMOUNT));
      stack.replacePolicies(ask(name));
      await stack.restart('SIGTERM');
    };
    await named('demo.settle', 'demo.pay');
    const proposed = await harness.propose('demo.settle', { amount }, { wait: 0 });
    const approvalId = approvalIdOf(proposed);
    const { digest } = (await lena.approval(approvalId)).body;
    await named('demo.settle2', 'demo.settle');
    const closed = await harness.callWhen(proposed.body.toolCallId, ['not_executed']);
    expect(closed).toMatchObject({ capability: 'demo.settle', mayHaveHappened: false });
    expect((await lena.approval(approvalId)).body).toMatchObject({ capability: 'demo.settle', status: 'invalidated' });
    expect((await lena.post(`/v1/approvals/${approvalId}/decision`, { decision: 'allow', digest })).status).toBe(409);
    expect([executions('/demo.settle'), executions('/demo.settle2')]).toEqual([0, 0]);
  });
});
