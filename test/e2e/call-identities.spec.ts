import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, forbid, opaqueManifest, permit, readOnlyManifest } from '../support/demo-capabilities.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const AMOUNT = { amount: { type: 'integer' } };

let stack: Stack;
let harness: Client;
let lena: Client;
let operator: Client;
let turns = 0;

const turn = (): string => {
  turns += 1;
  return `turn-${turns}`;
};

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', AMOUNT),
      ...opaqueManifest('demo.edit', { file: { type: 'string' } }),
      ...opaqueManifest('demo.send', AMOUNT),
      ...readOnlyManifest('demo.read', { q: { type: 'string' } }),
    },
    policies: {
      ...ask('demo.pay'),
      ...ask('demo.edit'),
      ...permit('demo.send'),
      ...forbid('demo.send', 'context.allowDuplicateIntent && context.input has amount && context.input.amount == 13'),
      ...permit('demo.read'),
    },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  operator = await stack.as(CAST.operator);
  stack.tool.behave('/demo.read', ({ body }) => ({ text: body, headers: { 'content-type': 'application/json' } }));
});
afterAll(() => stack.destroy());

const executionsWith = (path: string, body: string): number =>
  stack.tool.executions(path).filter((request) => request.body === body).length;

describe("the model provider's call id", () => {
  it('names one call within a turn: a repeat with the same arguments is that call', async () => {
    const body = { turnId: turn(), callId: 'call_1' };
    const first = await harness.propose('demo.pay', { amount: 101 }, { wait: 0, body });
    const again = await harness.propose('demo.pay', { amount: 101 }, { wait: 0, body });
    expect(again.body.toolCallId).toBe(first.body.toolCallId);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toMatchObject({ turnId: body.turnId, callId: 'call_1' });
  });

  it('with other arguments in the same turn is a conflict, and the yes for one never covers the other', async () => {
    const body = { turnId: turn(), callId: 'x' };
    const first = await harness.propose('demo.pay', { amount: 1 }, { wait: 0, body });
    const problem = expectProblem(
      await harness.propose('demo.pay', { amount: 900 }, { wait: 0, body }),
      'call_id_conflict',
    );
    expect(problem.toolCallId).toBe(first.body.toolCallId);
    await lena.decide(approvalIdOf(first), 'allow');
    expect((await harness.call(first.body.toolCallId, 10)).body.status).toBe('completed');
    expect(executionsWith('/demo.pay', '{"amount":1}')).toBe(1);
    expect(executionsWith('/demo.pay', '{"amount":900}')).toBe(0);
  });

  it('repeated late without arguments is refused and leaves the stored arguments alone', async () => {
    const body = { turnId: turn(), callId: 'C1' };
    const first = await harness.propose('demo.pay', { amount: 5 }, { wait: 0, body });
    expectProblem(await harness.propose('demo.pay', '', { wait: 0, body }), 'invalid_request');
    expectProblem(await harness.propose('demo.pay', {}, { wait: 0, body }), 'call_id_conflict');
    expect((await harness.call(first.body.toolCallId)).body.arguments).toEqual({ amount: 5 });
    expect((await lena.approval(approvalIdOf(first))).body).toMatchObject({
      status: 'pending',
      arguments: { amount: 5 },
    });
  });

  it('means nothing across turns: both rounds run and keep their own answers', async () => {
    const first = await harness.propose(
      'demo.read',
      { q: 'a' },
      { key: null, body: { turnId: turn(), callId: 'lookup:0' } },
    );
    const second = await harness.propose(
      'demo.read',
      { q: 'b' },
      { key: null, body: { turnId: turn(), callId: 'lookup:0' } },
    );
    expect(second.body.toolCallId).not.toBe(first.body.toolCallId);
    expect([first.body.result, second.body.result]).toEqual([{ q: 'a' }, { q: 'b' }]);
  });
});

describe('several calls of one turn', () => {
  it('are answered by the id of their approval, whatever the order', async () => {
    const body = { turnId: turn() };
    const first = await harness.propose('demo.pay', { amount: 201 }, { wait: 0, body: { ...body, callId: 'C1' } });
    const second = await harness.propose('demo.pay', { amount: 202 }, { wait: 0, body: { ...body, callId: 'C2' } });
    expect((await lena.decide(approvalIdOf(second), 'allow')).status).toBe(200);
    expect((await lena.decide(approvalIdOf(first), 'deny', { reason: 'not this one' })).status).toBe(200);
    expect((await harness.call(second.body.toolCallId, 10)).body.status).toBe('completed');
    const denied = (await harness.call(first.body.toolCallId)).body;
    expect(denied).toMatchObject({ status: 'denied', waitingFor: null, error: { code: 'denied', effect: 'none' } });
    expect(denied.error?.message).toContain('not this one');
    expect(executionsWith('/demo.pay', '{"amount":201}')).toBe(0);
    expect(executionsWith('/demo.pay', '{"amount":202}')).toBe(1);
  });

  it('keep the result of a free one while a gated one waits, and nothing runs twice', async () => {
    const body = { turnId: turn() };
    const gated = await harness.propose('demo.pay', { amount: 203 }, { wait: 0, body: { ...body, callId: 'C1' } });
    const free = await harness.propose('demo.read', { q: 'sibling' }, { key: null, body: { ...body, callId: 'C2' } });
    expect(free.body.status).toBe('completed');
    await lena.decide(approvalIdOf(gated), 'allow');
    expect((await harness.call(gated.body.toolCallId, 10)).body.status).toBe('completed');
    expect((await harness.call(free.body.toolCallId)).body).toEqual(free.body);
    expect(executionsWith('/demo.read', '{"q":"sibling"}')).toBe(1);
    expect(executionsWith('/demo.pay', '{"amount":203}')).toBe(1);
  });
});

describe('an identical intent', () => {
  it('under another key is answered with the call that carries it, as long as that is open', async () => {
    const first = await harness.propose('demo.pay', { amount: 301 }, { wait: 0 });
    const problem = expectProblem(
      await harness.propose('demo.pay', { amount: 301 }, { wait: 0 }),
      'outstanding_identical_intent',
    );
    expect(problem.toolCallId).toBe(first.body.toolCallId);
  });

  it('that the caller means twice gets an approval of its own; one yes runs one', async () => {
    const first = await harness.propose('demo.pay', { amount: 302 }, { wait: 0 });
    const second = await harness.propose(
      'demo.pay',
      { amount: 302 },
      { wait: 0, body: { allowDuplicateIntent: true } },
    );
    expect(second.status).toBe(202);
    expect(approvalIdOf(second)).not.toBe(approvalIdOf(first));
    await lena.decide(approvalIdOf(first), 'allow');
    await harness.call(first.body.toolCallId, 10);
    expect((await harness.call(second.body.toolCallId)).body).toMatchObject({
      status: 'proposed',
      waitingFor: 'approval',
    });
    expect(executionsWith('/demo.pay', '{"amount":302}')).toBe(1);
    await lena.decide(approvalIdOf(second), 'deny');
    expect((await harness.call(second.body.toolCallId, 10)).body.status).toBe('denied');
    expect(executionsWith('/demo.pay', '{"amount":302}')).toBe(1);
  });

  it('may be doubled only where policy agrees', async () => {
    const body = { allowDuplicateIntent: true };
    expect((await harness.propose('demo.send', { amount: 13 }, { body })).body.status).toBe('denied');
    expect((await harness.propose('demo.send', { amount: 14 }, { body })).body.status).toBe('completed');
  });

  it('is a new intent under a new key once the first has ended', async () => {
    const first = await harness.propose('demo.send', { amount: 303 });
    const second = await harness.propose('demo.send', { amount: 303 });
    expect([first.body.status, second.body.status]).toEqual(['completed', 'completed']);
    expect(executionsWith('/demo.send', '{"amount":303}')).toBe(2);
  });

  it('that was refused by a person needs a person again', async () => {
    const refused = await harness.propose('demo.pay', { amount: 304 }, { wait: 0 });
    await lena.decide(approvalIdOf(refused), 'deny');
    const again = await harness.propose('demo.pay', { amount: 304 }, { wait: 0 });
    expect(again.body).toMatchObject({ status: 'proposed', waitingFor: 'approval' });
    expect(approvalIdOf(again)).not.toBe(approvalIdOf(refused));
    expect(executionsWith('/demo.pay', '{"amount":304}')).toBe(0);
  });

  it('in spirit is not identical: a yes for one file leaves the other waiting', async () => {
    const draft = await harness.propose('demo.edit', { file: 'draft.md' }, { wait: 0 });
    await lena.decide(approvalIdOf(draft), 'allow');
    expect((await harness.call(draft.body.toolCallId, 10)).body.status).toBe('completed');
    const other = await harness.propose('demo.edit', { file: '../prod.env' }, { wait: 0 });
    expect(other.body).toMatchObject({ status: 'proposed', waitingFor: 'approval' });
    expect(executionsWith('/demo.edit', '{"file":"../prod.env"}')).toBe(0);
  });
});

describe('the run of a call', () => {
  it("is the principal's anonymous run of the day when nothing is said", async () => {
    const first = await harness.propose('demo.read', { q: 'r1' }, { key: null });
    const second = await harness.propose('demo.read', { q: 'r2' }, { key: null });
    expect(second.body.runId).toBe(first.body.runId);
    const run = await harness.get(`/v1/runs/${first.body.runId}`);
    expect(run.body).toMatchObject({ implicit: true, label: null, principal: { sub: 'sam', act: 'support-agent' } });
    const other = await stack.as(CAST.otherHarness);
    const theirs = await other.propose('demo.read', { q: 'r1' }, { key: null });
    expect(theirs.body.runId).not.toBe(first.body.runId);
    expectProblem(await other.get(`/v1/runs/${first.body.runId}`), 'run_not_found');
  });

  it('is the one of its label, for each principal its own', async () => {
    const headers = { 'run-id': 'nightly:batch/7' };
    const first = await harness.propose('demo.read', { q: 'l1' }, { key: null, headers });
    const second = await harness.propose('demo.read', { q: 'l2' }, { key: null, headers });
    expect(second.body.runId).toBe(first.body.runId);
    expect((await harness.get(`/v1/runs/${first.body.runId}`)).body).toMatchObject({
      label: 'nightly:batch/7',
      implicit: true,
    });
    const other = await stack.as(CAST.otherHarness);
    expect((await other.propose('demo.read', { q: 'l1' }, { key: null, headers })).body.runId).not.toBe(
      first.body.runId,
    );
  });

  it('can be named by its id, by its own principal alone', async () => {
    const { runId } = (await harness.propose('demo.read', { q: 'n1' }, { key: null, headers: { 'run-id': 'named' } }))
      .body;
    expect((await harness.propose('demo.read', { q: 'n2' }, { key: null, body: { runId } })).body.runId).toBe(runId);
    const other = await stack.as(CAST.otherHarness);
    const refused = expectProblem(
      await other.propose('demo.read', { q: 'n2' }, { key: null, body: { runId } }),
      'run_not_found',
    );
    expect(refused.pointer).toBe('/runId');
    const elsewhere = await stack.as(CAST.elsewhereHarness);
    expectProblem(await elsewhere.propose('demo.read', { q: 'n2' }, { key: null, body: { runId } }), 'run_not_found');
    expectProblem(
      await harness.propose('demo.read', { q: 'n3' }, { key: null, body: { runId: 'run_never' } }),
      'run_not_found',
    );
  });

  it('shows that it waits for people, and how many calls are open', async () => {
    const headers = { 'run-id': 'waiting-run' };
    const gated = await harness.propose('demo.pay', { amount: 401 }, { wait: 0, headers });
    const path = `/v1/runs/${gated.body.runId}`;
    expect((await operator.get(path)).body).toMatchObject({ status: 'waiting_for_approval', openCalls: 1 });
    await lena.decide(approvalIdOf(gated), 'deny');
    expect((await operator.get(path)).body).toMatchObject({ status: 'running', openCalls: 0 });
  });

  it('labels that differ stay different runs, and labels that cannot be told apart are refused', async () => {
    const labels = ['a:b', 'a/b', 'a-b', '..', '../x', '%2e%2e%2fx', 'D:sub', '/etc/x', 'x'.repeat(128)];
    const runIds: string[] = [];
    for (const label of labels) {
      const answer = await harness.propose('demo.read', { q: label }, { key: null, headers: { 'run-id': label } });
      expect(answer.body.status).toBe('completed');
      runIds.push(answer.body.runId);
    }
    expect(new Set(runIds).size).toBe(labels.length);
    for (const label of ['x'.repeat(129), 'two words', 'tab\tbed']) {
      expectProblem(
        await harness.propose('demo.read', { q: 'x' }, { key: null, headers: { 'run-id': label } }),
        'invalid_run_label',
      );
    }
  });
});
