import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventsOf } from '../support/event-records.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

let stack: Stack;
let harness: Client;
let lena: Client;
let operator: Client;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', { amount: { type: 'integer' } }),
      ...opaqueManifest('demo.single', { amount: { type: 'integer' } }, { concurrency: 1, timeout: '5s' }),
    },
    policies: { ...ask('demo.pay'), ...permit('demo.single') },
    env: { TZ: 'Pacific/Auckland' },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  operator = await stack.as(CAST.operator);
});
afterAll(() => stack.destroy());

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString();

const propose = (executeBefore: unknown, capability = 'demo.pay') => {
  amount += 1;
  return harness.propose(capability, { amount }, { wait: 0, body: { executeBefore } });
};

describe('a question that nobody answers', () => {
  it('expires as an event near its deadline, without anybody reading anything', async () => {
    const proposed = await propose(soon(1_000));
    const approvalId = approvalIdOf(proposed);
    const deadline = Date.parse(proposed.body.approval?.decideBy ?? '');
    await pause(2_500);
    const events = eventsOf(stack.dataDir, 'approval_id', approvalId);
    const expired = events.find(({ event_type: type }) => type === 'approval.expired');
    expect(expired).toBeDefined();
    expect(Date.parse(expired?.occurred_at ?? '') - deadline).toBeGreaterThanOrEqual(0);
    expect(Date.parse(expired?.occurred_at ?? '') - deadline).toBeLessThan(1_500);
    expect(JSON.parse(expired?.actor ?? '{}')).toEqual({ sub: 'countersign' });
    const closed = eventsOf(stack.dataDir, 'tool_call_id', proposed.body.toolCallId).map(
      ({ event_type: type }) => type,
    );
    expect(closed).toContain('tool.call.not_executed');
  });

  it('is told as a timeout that names no person, unlike a refusal', async () => {
    const proposed = await propose(soon(500));
    const call = await harness.callWhen(proposed.body.toolCallId, ['not_executed']);
    expect(call).toMatchObject({
      error: { code: 'approval_expired', effect: 'none' },
      mayHaveHappened: false,
      approval: { status: 'expired' },
    });
    expect(call.guidance).toMatch(/expired and nobody refused it/);
    const approval = (await lena.approval(approvalIdOf(proposed))).body;
    expect(approval).toMatchObject({ status: 'expired', decidedBy: null, votes: [] });
    const refused = await propose(soon(60_000));
    await lena.decide(approvalIdOf(refused), 'deny', { reason: 'no' });
    const denied = (await harness.call(refused.body.toolCallId)).body;
    expect(denied).toMatchObject({ status: 'denied', error: { code: 'denied' } });
    expect(denied.guidance).toMatch(/people refused it/);
  });

  it('is never granted: a yes after the deadline is refused, and nothing ever runs', async () => {
    const proposed = await propose(soon(500));
    const approvalId = approvalIdOf(proposed);
    const { digest } = (await lena.approval(approvalId)).body;
    await pause(600);
    const late = await lena.post(`/v1/approvals/${approvalId}/decision`, { decision: 'allow', digest });
    expectProblem(late, 'approval_expired');
    const call = await harness.callWhen(proposed.body.toolCallId, ['not_executed']);
    expect(call.attempt).toBe(1);
    expectProblem(
      await lena.post(`/v1/approvals/${approvalId}/decision`, { decision: 'allow', digest }),
      'approval_expired',
    );
    expect(stack.tool.executions('/demo.pay')).toEqual([]);
  });

  it('wakes whoever waits for the call', async () => {
    const proposed = await propose(soon(700));
    const started = Date.now();
    const answer = await harness.call(proposed.body.toolCallId, 20);
    expect(answer.body.status).toBe('not_executed');
    expect(Date.now() - started).toBeLessThan(5_000);
  });

  it('stays in the lists with its outcome, beside those that were decided', async () => {
    const expired = await propose(soon(300));
    const denied = await propose(soon(60_000));
    await lena.decide(approvalIdOf(denied), 'deny');
    await harness.callWhen(expired.body.toolCallId, ['not_executed']);
    const list = async (status: string) =>
      (await lena.get<{ items: { approvalId: string }[] }>(`/v1/approvals?status=${status}`)).body.items.map(
        (item) => item.approvalId,
      );
    expect(await list('expired')).toContain(approvalIdOf(expired));
    expect(await list('denied')).toContain(approvalIdOf(denied));
    expect(await list('pending')).not.toContain(approvalIdOf(expired));
  });
});

describe('the deadlines of a question', () => {
  it('are shown before and after the grant, and never later than executeBefore', async () => {
    const executeBefore = soon(30_000);
    const proposed = await propose(executeBefore);
    const shown = (await lena.approval(approvalIdOf(proposed))).body;
    expect(shown).toMatchObject({ decideBy: executeBefore, executeByLatest: executeBefore, executeBy: null });
    const granted = (await lena.decide(approvalIdOf(proposed), 'allow')).body;
    expect(granted.executeBy).toBe(executeBefore);
  });

  it('also bound a call that policy alone allows: past its time it is closed unsent', async () => {
    stack.tool.behave('/demo.single', () => ({ text: 'null', delayMs: 1_500 }));
    const running = await propose(soon(60_000), 'demo.single');
    const queued = await propose(soon(500), 'demo.single');
    expect(queued.body).toMatchObject({ status: 'authorized', waitingFor: 'execution' });
    const closed = await harness.callWhen(queued.body.toolCallId, ['not_executed']);
    expect(closed).toMatchObject({ error: { code: 'authorization_expired', effect: 'none' }, mayHaveHappened: false });
    expect((await harness.call(running.body.toolCallId, 10)).body.status).toBe('completed');
    await pause(500);
    expect(stack.tool.executions('/demo.single')).toHaveLength(1);
  });

  it('close a granted call that could not be sent in time, with an event and without a send', async () => {
    const proposed = await propose(soon(1_500));
    await operator.control({ type: 'pause', target: { capability: 'demo.pay' } });
    const before = stack.tool.executions('/demo.pay').length;
    expect((await lena.decide(approvalIdOf(proposed), 'allow')).body.status).toBe('granted');
    const call = await harness.callWhen(proposed.body.toolCallId, ['not_executed']);
    expect(call.error?.code).toBe('approval_expired');
    await operator.control({ type: 'unpause', target: { capability: 'demo.pay' } });
    await pause(700);
    expect(stack.tool.executions('/demo.pay')).toHaveLength(before);
    expect((await lena.approval(approvalIdOf(proposed))).body.status).toBe('expired');
  });
});

describe('a time', () => {
  it('has one accepted format, independent of the time zone of the host', async () => {
    const wrong = [
      '2031-01-01T00:00:00',
      '2031-01-01 00:00:00+02:00',
      1_924_992_000,
      'tomorrow',
      '2031-01-01T24:00:00Z',
      '2031-01-01T00:00:00+0200',
      '2031-01-01',
      '',
      null,
    ];
    for (const executeBefore of wrong) {
      expect(expectProblem(await propose(executeBefore), 'invalid_request').pointer).toBe('/executeBefore');
    }
  });

  it('on a day that does not exist is refused, not moved to another day', async () => {
    for (const executeBefore of [
      '2031-02-30T00:00:00Z',
      '2031-02-29T00:00:00Z',
      '2031-04-31T00:00:00Z',
      '2031-06-31T12:00:00+02:00',
    ]) {
      expect(expectProblem(await propose(executeBefore), 'invalid_request').pointer).toBe('/executeBefore');
    }
    expect((await propose('2032-02-29T00:00:00Z')).status).toBe(202);
  });

  it('with an offset is the same moment as in UTC', async () => {
    const proposed = await propose('2031-01-01T02:00:00+02:00');
    const shown = (await lena.approval(approvalIdOf(proposed))).body;
    expect(shown.executeByLatest <= '2031-01-01T00:00:00.000Z').toBe(true);
    const near = new Date(Date.now() + 20_000);
    const local = new Date(near.getTime() + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30');
    const other = await propose(local);
    expect(other.body.approval?.decideBy).toBe(near.toISOString());
  });

  it('that has passed is refused before anything is recorded', async () => {
    expect(expectProblem(await propose(soon(-1_000)), 'invalid_timestamp').pointer).toBe('/executeBefore');
  });
});

describe('the default', () => {
  it('is an hour to decide, and a pending question outlives its readers', async () => {
    const proposed = await propose(undefined);
    const shown = (await lena.approval(approvalIdOf(proposed))).body;
    expect(Date.parse(shown.decideBy) - Date.parse(shown.createdAt)).toBe(3_600_000);
    await until(
      'two sweeps',
      () => Date.now(),
      (now) => now > Date.parse(shown.createdAt) + 700,
    );
    expect((await lena.approval(approvalIdOf(proposed))).body).toEqual(shown);
  });
});
