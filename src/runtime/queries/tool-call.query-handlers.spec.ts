import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AGENT, APPROVER, callerWith, Installation, OPERATOR, TENANT } from '../../../test/builders/installation.js';
import { completion } from '../../../test/builders/tool-call-examples.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { Caller } from '../../identity/caller.js';
import { CallWatch } from '../call-watch.js';
import { ToolCallViews, type ToolCallView } from '../views/tool-call.view.js';
import { GetToolCallHandler, ListToolCallsHandler } from './tool-call.query-handlers.js';
import { GetToolCall, ListToolCalls, type ToolCallFilter } from './tool-call.queries.js';

const TIMES = { acceptedAt: '2031-01-01T10:00:02.000Z', sentAt: '2031-01-01T10:00:01.000Z' };
const COMPLETE: ToolCallCommand = { kind: 'complete', completion: completion('direct'), ...TIMES };
const SENT: ToolCallCommand = { kind: 'record_sent', sent: { dispatchedAt: TIMES.sentAt } };
const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null };

const AUDITOR = callerWith({ actor: { sub: 'ada' }, roles: ['auditor'], isAgent: false });

/** Everything that waits for nothing but promises has run. */
async function settled(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

class Bench {
  readonly installation = new Installation();
  readonly watch = new CallWatch(this.installation.store.feed);
  readonly gone = new AbortController();
  /** The answer, once it is there. */
  answer: ToolCallView | null = null;

  get(id: string, waitMs: number, caller: Caller = AGENT, gone = this.gone.signal): Promise<ToolCallView> {
    const { store } = this.installation;
    return new GetToolCallHandler(store, this.watch, new ToolCallViews(store)).execute(
      new GetToolCall(caller, id, waitMs, gone),
    );
  }

  async waits(id: string, waitMs: number): Promise<void> {
    void this.get(id, waitMs).then((view) => (this.answer = view));
    await settled();
  }

  async passes(ms: number): Promise<void> {
    jest.advanceTimersByTime(ms);
    await settled();
  }
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'found',
    (error: { code?: string }) => error.code ?? error,
  );

let bench: Bench;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
  bench = new Bench();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('waiting for the end of a call', () => {
  afterEach(() => {
    // Whatever ended the wait, nothing of it is left.
    expect(bench.watch.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is not done by whoever does not ask for it', async () => {
    const id = await bench.installation.propose();
    expect((await bench.get(id, 0)).status).toBe('dispatching');
  });

  it('answers at once when the call has ended', async () => {
    const id = await bench.installation.propose();
    await bench.installation.record(id, COMPLETE);
    expect((await bench.get(id, 60_000)).status).toBe('completed');
  });

  it('answers as soon as the call ends, and not at the changes before', async () => {
    const id = await bench.installation.propose();
    await bench.waits(id, 60_000);
    await bench.installation.record(id, SENT);
    await settled();
    expect(bench.answer).toBeNull();
    await bench.installation.record(id, COMPLETE);
    await settled();
    expect(bench.answer).toMatchObject({ toolCallId: id, status: 'completed', result: { refundId: 'r-1' } });
  });

  it('is not disturbed by other calls', async () => {
    const id = await bench.installation.propose();
    const other = await bench.installation.propose({ arguments: { orderId: 'o-2', amountMinor: 1 } });
    await bench.waits(id, 1_000);
    const reads = jest.spyOn(bench.installation.store.read, 'toolCall');
    await bench.installation.record(other, COMPLETE);
    reads.mockClear();
    await settled();
    expect(reads).not.toHaveBeenCalled();
    expect(bench.answer).toBeNull();
    await bench.passes(1_000);
  });

  it('misses no end that comes between the reading and the waiting', async () => {
    const id = await bench.installation.propose();
    const { read } = bench.installation.store;
    const toolCall = read.toolCall.bind(read);
    jest.spyOn(read, 'toolCall').mockImplementationOnce(async (tenant, toolCallId) => {
      const before = await toolCall(tenant, toolCallId);
      await bench.installation.record(id, COMPLETE);
      return before;
    });
    await bench.waits(id, 60_000);
    expect(bench.answer?.status).toBe('completed');
  });

  it('answers with the call as it stands when the time is over, however often it changed', async () => {
    const id = await bench.installation.propose();
    await bench.waits(id, 1_000);
    await bench.passes(600);
    await bench.installation.record(id, SENT);
    await settled();
    await bench.passes(399);
    expect(bench.answer).toBeNull();
    await bench.passes(1);
    expect(bench.answer?.status).toBe('dispatched');
  });

  it('goes on over a result that is unknown: that is no end', async () => {
    const id = await bench.installation.propose();
    await bench.waits(id, 1_000);
    await bench.installation.record(id, UNKNOWN);
    await settled();
    expect(bench.answer).toBeNull();
    await bench.passes(1_000);
    expect(bench.answer).toMatchObject({ status: 'result_unknown', mayHaveHappened: true });
  });

  it('ends when the client has gone, and the call goes on', async () => {
    const id = await bench.installation.propose();
    await bench.waits(id, 60_000);
    bench.gone.abort();
    await settled();
    expect(bench.answer?.status).toBe('dispatching');
    expect((await bench.installation.call(id)).state.status).toBe('dispatching');
  });

  it('does not begin for a client that has gone already', async () => {
    const id = await bench.installation.propose();
    bench.gone.abort();
    await bench.waits(id, 60_000);
    expect(bench.answer?.status).toBe('dispatching');
  });

  it('ends when the process stops, and does not begin any more', async () => {
    const id = await bench.installation.propose();
    await bench.waits(id, 60_000);
    bench.watch.close();
    await settled();
    expect(bench.answer?.status).toBe('dispatching');
    expect((await bench.get(id, 60_000)).status).toBe('dispatching');
  });

  it('serves many at once', async () => {
    const id = await bench.installation.propose();
    const answers = Array.from({ length: 20 }, () => bench.get(id, 60_000, AGENT, new AbortController().signal));
    await settled();
    await bench.installation.record(id, COMPLETE);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(20).fill('completed'));
  });

  it('leaves nothing behind where there is no such call', async () => {
    expect(await codeOf(bench.get('call_0', 60_000))).toBe('tool_call_not_found');
  });
});

describe('a call', () => {
  it.each([
    ['the agent that proposed it', AGENT, 'found'],
    ['an operator', OPERATOR, 'found'],
    ['an auditor', AUDITOR, 'found'],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' }), 'tool_call_not_found'],
    ['the same agent in another tenant', callerWith({ tenant: 'globex' }), 'tool_call_not_found'],
    [
      'another agent of the same person',
      callerWith({ actor: { sub: 'alice', act: { sub: 'agent-8' } } }),
      'tool_call_not_found',
    ],
    [
      'the same agent for another person',
      callerWith({ actor: { sub: 'bob', act: { sub: 'agent-7' } } }),
      'tool_call_not_found',
    ],
    ['the person without the agent', callerWith({ actor: { sub: 'alice' } }), 'tool_call_not_found'],
    ['an approver', APPROVER, 'tool_call_not_found'],
    [
      'another agent, though its token has every role',
      callerWith({ actor: { sub: 'eve', act: { sub: 'agent-9' } }, roles: ['harness', 'operator', 'auditor'] }),
      'tool_call_not_found',
    ],
    ['its own agent with the role of an operator', callerWith({ roles: ['operator'] }), 'found'],
  ])('for %s', async (_, caller, code) => {
    const id = await bench.installation.propose();
    expect(await codeOf(bench.get(id, 0, caller))).toBe(code);
  });
});

describe('the list of calls', () => {
  const ALL: ToolCallFilter = {
    statuses: null,
    unresolvedOnly: false,
    runId: null,
    capability: null,
    principal: null,
    from: null,
    to: null,
    limit: 50,
    cursor: null,
  };

  const list = (filter: Partial<ToolCallFilter> = {}, caller: Caller = OPERATOR) => {
    const { store } = bench.installation;
    return new ListToolCallsHandler(store, new ToolCallViews(store)).execute(
      new ListToolCalls(caller, { ...ALL, ...filter }),
    );
  };

  const proposeTwo = async (): Promise<readonly [string, string]> => [
    await bench.installation.propose({ runLabel: 'one' }),
    await bench.installation.propose({ arguments: { orderId: 'o-2', amountMinor: 1 }, runLabel: 'two' }),
  ];

  it('shows each as it is shown alone', async () => {
    const ids = await proposeTwo();
    await bench.installation.record(ids[1], COMPLETE);
    const page = await list();
    expect(page.items).toEqual([await bench.get(ids[0], 0), await bench.get(ids[1], 0)]);
    expect(page.nextCursor).toBeNull();
  });

  it('holds only what the filter lets through', async () => {
    const [one, two] = await proposeTwo();
    await bench.installation.record(two, COMPLETE);
    const { run_id: runId } = (await bench.installation.call(one)).row;
    const idsOf = async (filter: Partial<ToolCallFilter>) => (await list(filter)).items.map((item) => item.toolCallId);
    expect(await idsOf({ statuses: ['completed'] })).toEqual([two]);
    expect(await idsOf({ statuses: ['completed', 'dispatching'] })).toEqual([one, two]);
    expect(await idsOf({ statuses: ['failed'] })).toEqual([]);
    expect(await idsOf({ runId })).toEqual([one]);
    expect(await idsOf({ limit: 1 })).toHaveLength(1);
  });

  it('asks the store for every filter that is set, and for none that is not', async () => {
    const asked = jest.spyOn(bench.installation.store.read, 'toolCalls');
    await list();
    const filter = {
      statuses: ['denied'],
      unresolvedOnly: true,
      runId: 'run_1',
      capability: 'refund.create',
      principal: '["alice"]',
      from: '2031-01-01T00:00:00.000Z',
      to: '2031-01-02T00:00:00.000Z',
      limit: 7,
      cursor: 'c-1',
    } as const;
    await list(filter);
    expect(asked.mock.calls).toEqual([
      [{ tenant: TENANT, limit: 50, cursor: null, unresolvedOnly: false }],
      [{ tenant: TENANT, ...filter }],
    ]);
  });

  it('goes on where its page ended', async () => {
    const [one] = await proposeTwo();
    const { row } = await bench.installation.call(one);
    jest.spyOn(bench.installation.store.read, 'toolCalls').mockResolvedValue({ rows: [row], nextCursor: 'c-2' });
    expect(await list()).toMatchObject({ items: [{ toolCallId: one }], nextCursor: 'c-2' });
  });

  it('of another tenant holds nothing of this one', async () => {
    await proposeTwo();
    expect((await list({}, callerWith({ ...OPERATOR, tenant: 'globex' }))).items).toEqual([]);
  });
});
