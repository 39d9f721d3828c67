import { describe, expect, it } from '@jest/globals';
import { governed, said } from '../../../test/builders/session-facts.js';
import { fullAgentState } from '../../../test/builders/session-snapshots.js';
import type { JsonObject } from '../json/json-value.js';
import { emptyAgentState, foldAgentState, snapshotAgentState } from './agent-state.js';
import { modelHistory } from './history/model-history.js';
import { toolCallsPaired } from './history/tool-pairing.js';
import type { SessionFact } from './session-row.js';
import type { AgentState } from './session-state.js';

const EMPTY = emptyAgentState('ses-1');
const TURN = { runId: 'run-1', turnId: 'turn-1', stepId: 'step-1' };
const text = (words: string): JsonObject[] => [{ type: 'text', text: words }];

/** The state after facts, numbered in order. */
function after(...makings: ((seq: number) => SessionFact)[]): AgentState {
  return foldAgentState(
    EMPTY,
    makings.map((making, seq) => making(seq)),
  );
}

const user = (messageId: string) => (seq: number) =>
  said(seq, 'user.message', { messageId, contents: text(`words of ${messageId}`) });
const asks =
  (messageId: string, callId: string, more: JsonObject = {}) =>
  (seq: number) =>
    said(
      seq,
      'assistant.message',
      { messageId, contents: [], toolCalls: [{ callId, name: 'pay', arguments: { amount: 5 } }], ...more },
      TURN,
    );
const answers =
  (messageId: string, callId: string, toolCallId = 'tool-1', disposition = 'completed') =>
  (seq: number) =>
    said(seq, 'tool.message', { messageId, callId, contents: text('paid'), disposition }, { ...TURN, toolCallId });
const fact =
  (type: string, payload: JsonObject | null = {}, refs = {}) =>
  (seq: number) =>
    governed(seq, type, payload, refs);
const chat =
  (type: string, payload: JsonObject, refs = {}) =>
  (seq: number) =>
    said(seq, type, payload, refs);

describe('a new state', () => {
  it('has both lists of its history, and the metadata it was given [A-18]', () => {
    expect(emptyAgentState('ses-1', { a: 1 })).toMatchObject({
      schemaVersion: 3,
      history: { messages: [], episodicMemories: [] },
      metadata: { a: 1 },
    });
  });
});

describe('messages', () => {
  it('come from what was said, in order, with what became of the call', () => {
    const { messages } = after(
      user('m1'),
      asks('m2', 'c1'),
      answers('m3', 'c1'),
      chat('notice.message', { messageId: 'm4', text: 'late', about: 'tool-0' }, { toolCallId: 'tool-0' }),
      asks('m5', 'c2', { incomplete: true }),
    ).history;
    expect(messages).toMatchObject([
      { messageId: 'm1', role: 'user', contents: text('words of m1'), createdAt: '2031-01-01T00:00:00.000Z' },
      { messageId: 'm2', role: 'assistant', contents: [], toolCalls: [{ callId: 'c1', arguments: { amount: 5 } }] },
      { messageId: 'm3', role: 'tool', callId: 'c1', toolCallId: 'tool-1', disposition: 'completed' },
      { messageId: 'm4', role: 'notice', toolCallId: 'tool-0', about: 'tool-0', contents: text('late') },
      { messageId: 'm5', role: 'assistant', incomplete: true },
    ]);
  });

  it('are frozen through and through [A-21]', () => {
    const [message] = after(asks('m1', 'c1')).history.messages as unknown as [
      { toolCalls: [{ arguments: JsonObject }] },
    ];
    expect(() => Object.assign(message.toolCalls[0].arguments, { amount: 900 })).toThrow();
  });

  it('that answer a call stand behind it, whatever was written meanwhile', () => {
    const state = after(asks('m1', 'c1'), user('m2'), answers('m3', 'c1'));
    expect(state.history.messages.map(({ messageId }) => messageId)).toEqual(['m1', 'm3', 'm2']);
    expect(modelHistory(state.history.messages).ok).toBe(true);
  });

  it('that answer a call a second time are a notice that names it; what was shown stays [U-41]', () => {
    const state = after(asks('m1', 'c1'), answers('m2', 'c1', 'tool-1', 'result_unknown'), answers('m3', 'c1'));
    expect(state.history.messages[1]).toMatchObject({ role: 'tool', disposition: 'result_unknown' });
    expect(state.history.messages[2]).toMatchObject({ role: 'notice', toolCallId: 'tool-1', contents: text('paid') });
    expect(toolCallsPaired(state.history.messages, false)).toBe(true);
  });

  it('that answer no call of the history are a notice', () => {
    const state = after(user('m1'), answers('m2', 'c9'), asks('m3', 'c1', { incomplete: true }), answers('m4', 'c1'));
    expect(state.history.messages.map(({ role }) => role)).toEqual(['user', 'notice', 'assistant', 'notice']);
  });

  it('of a tool that the harness ran say so', () => {
    const reported = chat('tool.reported', { messageId: 'm2', callId: 'c1', contents: text('4') }, TURN);
    expect(after(asks('m1', 'c1'), reported).history.messages[1]).toMatchObject({ disposition: 'reported' });
  });

  it('hold no media, so that a state from the log equals one from a snapshot [A-70]', () => {
    const data = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(5_000, 7)]).toString('base64');
    const state = after(chat('user.message', { messageId: 'm', contents: [{ type: 'image', data }] }));
    expect(state.history.messages[0]?.contents[0]).toMatchObject({
      type: 'text',
      text: expect.stringContaining('png'),
    });
  });

  it('that were dropped are gone, and calls that stay open are told to be unknown [U-03, A-99]', () => {
    const dropped = fact('session.history_truncated', { droppedMessageIds: ['m3', 'm4'], reason: 'suspended' });
    const { messages } = after(user('m1'), asks('m2', 'c1'), asks('m3', 'c2'), user('m4'), dropped).history;
    expect(messages.map(({ messageId }) => messageId)).toEqual(['m1', 'm2', 'm2:answer:c1']);
    expect(messages[2]).toMatchObject({ role: 'tool', callId: 'c1', disposition: 'result_unknown' });
  });

  it('hold no reminder [A-125]', () => {
    const state = after(
      user('m1'),
      chat('system.reminder_set', { key: 'tone', value: 'REMINDER' }),
      chat('system.reminder_set', { key: 'gone', value: 'x' }),
      chat('system.reminder_set', { key: 'gone', value: null }),
    );
    expect(state.systemReminders).toEqual({ tone: 'REMINDER' });
    expect(JSON.stringify(state.history)).not.toContain('REMINDER');
    expect(JSON.stringify(modelHistory(state.history.messages))).not.toContain('REMINDER');
  });

  it('of an episode are a copy of those named, which stays when they are dropped [A-18, U-31]', () => {
    const { history } = after(
      user('m1'),
      user('m2'),
      chat('episodic.recorded', { episodeId: 'e1', messageIds: ['m2', 'unknown'] }),
      fact('session.history_truncated', { droppedMessageIds: ['m2'], reason: 'suspended' }),
    );
    expect(history.episodicMemories).toMatchObject([{ episodeId: 'e1', messages: [{ messageId: 'm2' }] }]);
    expect(history.messages).toHaveLength(1);
  });
});

describe('counts', () => {
  const call = (total: number, current: number): ((seq: number) => SessionFact)[] => [
    chat('usage.recorded', { model: 'model-1', tokens: { in: total, out: 1 } }, TURN),
    chat('loop.advanced', { totalLoopCount: total, currentLoopCount: current }, TURN),
  ];
  const turn = chat('turn.started', {}, TURN);

  it('are kept for the session and for the current loop, which begins with a turn [A-127]', () => {
    const state = after(turn, ...call(1, 1), ...call(2, 2), turn, ...call(3, 1), ...call(4, 2), ...call(5, 3));
    expect(state).toMatchObject({ totalLoopCount: 5, currentLoopCount: 3 });
    expect(state.usages).toHaveLength(5);
    expect(state.currentLoopUsages.map(({ tokens }) => (tokens as JsonObject)['in'])).toEqual([3, 4, 5]);
  });

  it('begin anew at the start of a loop, before any call of it [A-127]', () => {
    expect(after(turn, ...call(1, 1), turn)).toMatchObject({
      totalLoopCount: 1,
      currentLoopCount: 0,
      currentLoopUsages: [],
    });
    const told = after(...call(1, 1), chat('loop.advanced', { totalLoopCount: 1, currentLoopCount: 0 }, TURN));
    expect(told).toMatchObject({ currentLoopCount: 0, currentLoopUsages: [] });
  });
});

describe('prompts and tools', () => {
  it('are noted when they change, and not when they are said again [A-126]', () => {
    const prompt = (promptDigest: string): ((seq: number) => SessionFact) =>
      chat('system.prompt_changed', { promptDigest, promptTemplateVersion: '1' });
    const tools = (toolsDigest: string): ((seq: number) => SessionFact) =>
      chat('tools.changed', { toolsDigest, tools: [{ name: 'pay' }] });
    const state = after(...['a', 'a', 'a', 'b'].map(prompt), ...['x', 'x', 'y', 'x'].map(tools));
    expect(state.systemPromptHistory.map(({ promptDigest }) => promptDigest)).toEqual(['a', 'b']);
    expect(state.toolsHistory.map(({ toolsDigest }) => toolsDigest)).toEqual(['x', 'y', 'x']);
  });
});

describe('metadata, plan and skills', () => {
  it('are what was said last; a patch merges, and null takes away', () => {
    const state = after(
      chat('session.created', { metadata: { a: 1, b: { c: 1, d: 2 } }, formatVersion: 1 }),
      chat('metadata.updated', { patch: { a: null, b: { d: null, e: [1] }, f: 'x' } }),
      chat('plan.updated', { plan: ['one'], planDigest: 'd' }, TURN),
      chat('skills.activated', { skills: ['s1'] }),
      chat('skills.activated', { skills: ['s2'] }),
    );
    expect(state.metadata).toEqual({ b: { c: 1, e: [1] }, f: 'x' });
    expect(state.plan).toEqual(['one']);
    expect(state.activeSkills).toEqual(['s2']);
  });

  it('take no name of an object for its prototype', () => {
    const patch = JSON.parse('{"__proto__":{"polluted":true}}') as JsonObject;
    const state = after(chat('metadata.updated', { patch }));
    expect(Object.keys(state.metadata)).toEqual(['__proto__']);
    expect(({} as JsonObject)['polluted']).toBeUndefined();
  });
});

describe('a run', () => {
  const started = fact('run.started', { implicit: false, principal: { sub: 'a' } });
  const checkpoint = (checkpointId: string): ((seq: number) => SessionFact) =>
    fact('checkpoint.created', { checkpointId, kind: 'suspended', seq: 1 }, { turnId: 'turn-1' });

  it('is running while it may be resumed, through every wait [U-14, A-106]', () => {
    for (const type of ['run.suspend_requested', 'run.suspended', 'run.interrupted', 'run.resumed']) {
      expect(after(started, fact(type)).isRunning).toBe(true);
    }
  });

  it.each(['stop.requested', 'run.completed', 'run.stopped', 'run.handed_off', 'run.marked_not_resumable'])(
    'is not after %s, also when its payload is erased [U-14, A-100]',
    (type) => {
      expect(after(started, fact(type, null)).isRunning).toBe(false);
    },
  );

  it('that failed leaves its error, without what looks like a credential [A-110]', () => {
    const lastError = {
      layer: 'provider',
      code: 'unauthorized',
      message: 'Bearer abcdef123456 refused',
      retryability: 'never',
    };
    const state = after(started, checkpoint('cp1'), fact('run.failed', { lastError }));
    expect(state).toMatchObject({ isRunning: false, lastError: { code: 'unauthorized', layer: 'provider' } });
    expect(state.lastError?.message).not.toContain('abcdef123456');
    expect(state.pendingRunCheckpoint).toBeUndefined();
    expect(after(started, fact('run.failed', { lastError }), started).lastError).toBeUndefined();
  });

  it('can go on from its latest checkpoint until it ends or that is archived [A-83]', () => {
    const waiting = after(started, checkpoint('cp1'), checkpoint('cp2'));
    expect(waiting.pendingRunCheckpoint).toEqual({
      checkpointId: 'cp2',
      runId: 'run-1',
      turnId: 'turn-1',
      kind: 'suspended',
      seq: 1,
      createdAt: '2031-01-01T00:00:02.000Z',
      reason: 'suspended',
    });
    const gone = [fact('checkpoint.archived', { checkpointId: 'cp1' }), fact('run.completed')];
    expect(after(started, checkpoint('cp1'), gone[0] as never).pendingRunCheckpoint).toBeUndefined();
    expect(after(started, checkpoint('cp1'), gone[1] as never).pendingRunCheckpoint).toBeUndefined();
    expect(after(started, fact('run.completed'), checkpoint('cp3')).pendingRunCheckpoint).toBeUndefined();
  });

  it('notes an error without ending', () => {
    const payload = { layer: 'provider', code: 'rate_limited', message: 'slow down', retryability: 'always' };
    const state = after(started, chat('error.recorded', payload));
    expect(state).toMatchObject({ isRunning: true, lastError: payload });
  });
});

describe('a frozen batch of approvals', () => {
  const asked = (n: number, more: JsonObject = {}) =>
    fact(
      'approval.required',
      {
        risk: 'high',
        expiresAt: '2031-01-01T01:00:00.000Z',
        argsDigest: `d${n}`,
        capabilityVersion: '1',
        shown: { arguments: { amount: n }, agentReason: 'because' },
        reasons: ['large', 'new payee'],
        ...more,
      },
      {
        approvalId: `apr-${n}`,
        toolCallId: `tool-${n}`,
        policyDecisionId: `pd-${n}`,
        capabilityId: 'pay@1',
        turnId: 'turn-1',
        stepId: 'step-1',
      },
    );
  const decided = (type: string, n: number, payload: JsonObject = {}) =>
    fact(type, payload, { approvalId: `apr-${n}`, streamKind: 'approval' });

  it('holds what each question was about [A-82, K-74, U-18]', () => {
    expect(after(asked(1), asked(2)).pendingApproval).toEqual({
      approvalBatchId: 'step-1',
      runId: 'run-1',
      turnId: 'turn-1',
      stepId: 'step-1',
      frozenAt: '2031-01-01T00:00:00.000Z',
      items: [1, 2].map((n) => ({
        approvalId: `apr-${n}`,
        toolCallId: `tool-${n}`,
        capabilityId: 'pay@1',
        capabilityVersion: '1',
        argsDigest: `d${n}`,
        frozenArgs: { amount: n },
        policyDecisionId: `pd-${n}`,
        risk: 'high',
        reason: 'large; new payee',
        status: 'pending',
        expiresAt: '2031-01-01T01:00:00.000Z',
      })),
    });
  });

  it('is decided item by item and gone when none can have an effect any more [U-18]', () => {
    const granted = after(
      asked(1),
      asked(2),
      decided('approval.granted', 1, { executeBy: '2031-01-01T02:00:00.000Z' }),
    );
    expect(granted.pendingApproval?.items).toMatchObject([
      { status: 'granted', expiresAt: '2031-01-01T02:00:00.000Z' },
      { status: 'pending' },
    ]);
    const one = after(asked(1), asked(2), decided('approval.denied', 1));
    expect(one.pendingApproval?.items.map(({ status }) => status)).toEqual(['denied', 'pending']);
    for (const type of ['denied', 'expired', 'invalidated', 'consumed', 'closed']) {
      const none = after(asked(1), decided('approval.granted', 1), decided(`approval.${type}`, 1));
      expect(none.pendingApproval).toBeUndefined();
    }
  });

  it('is there though what was asked is erased, and shows none of it', () => {
    const erased = fact('approval.required', null, { approvalId: 'apr-1', toolCallId: 'tool-1' });
    expect(after(erased).pendingApproval?.items[0]).toMatchObject({
      approvalId: 'apr-1',
      frozenArgs: null,
      status: 'pending',
    });
  });
});

describe('a plan review', () => {
  const required = fact('plan_review.required', { planReviewId: 'pr1', plan: ['x'], planDigest: 'd', expiresAt: 't' });
  const decided = (decision: string, planReviewId = 'pr1'): ((seq: number) => SessionFact) =>
    fact('plan_review.decided', { planReviewId, decision, decidedBy: 'bob' });
  const plan = (step: string): ((seq: number) => SessionFact) =>
    chat('plan.updated', { plan: [step], planDigest: step }, TURN);

  it('is pending until it is decided, and approval is what was decided [U-17]', () => {
    expect(after(required)).toMatchObject({
      pendingPlanReview: { planReviewId: 'pr1', plan: ['x'], planDigest: 'd', status: 'pending', expiresAt: 't' },
      planReviewApproved: false,
    });
    expect(after(required, decided('allow'))).toMatchObject({ planReviewApproved: true });
    expect(after(required, decided('allow')).pendingPlanReview).toBeUndefined();
    expect(after(required, decided('deny')).planReviewApproved).toBe(false);
    expect(after(required, decided('allow', 'another')).pendingPlanReview?.planReviewId).toBe('pr1');
    expect(after(required, fact('plan_review.closed', { planReviewId: 'pr1' })).pendingPlanReview).toBeUndefined();
  });

  it('approves the plan that was reviewed and no other', () => {
    expect(after(plan('x'), required, decided('allow'), plan('x')).planReviewApproved).toBe(true);
    expect(after(plan('x'), required, decided('allow'), plan('y')).planReviewApproved).toBe(false);
  });
});

describe('an imported state', () => {
  it('is taken over whole, and has no run of ours [P-34, U-14]', () => {
    const imported = {
      sourceDigest: 'd',
      sourceSchemaVersion: 2,
      agentState: fullAgentState('old') as unknown as JsonObject,
    };
    const state = foldAgentState(EMPTY, [governed(0, 'session.imported', imported)]);
    const { pendingRunCheckpoint: _, ...rest } = fullAgentState('ses-1');
    expect(state).toEqual({ ...rest, isRunning: false });
    const next = foldAgentState(state, [governed(1, 'run.started', {})]);
    expect(next.pendingApproval).toBeUndefined();
    expect(next.history).toEqual(rest.history);
  });

  it('that is erased leaves nothing', () => {
    expect(foldAgentState(EMPTY, [governed(0, 'session.imported', null)])).toEqual(EMPTY);
  });
});

describe('a copy for somebody outside', () => {
  it('shares messages and nothing else [A-19, A-20, A-22]', () => {
    const state = fullAgentState();
    const copy = snapshotAgentState(state);
    expect(copy).toEqual(state);
    expect(copy.history.messages[0]).toBe(state.history.messages[0]);
    const before = JSON.stringify(state);
    const open = copy as unknown as Record<string, never> & {
      history: { messages: unknown[]; episodicMemories: [{ messages: unknown[] }] };
    };
    open.history.messages.push(1);
    open.history.episodicMemories[0].messages.push(1);
    (open.history.episodicMemories as unknown[]).push(1);
    for (const [name, value] of Object.entries(open)) if (name !== 'history') spoil(value);
    expect(JSON.stringify(state)).toBe(before);
    expect(JSON.stringify(copy)).not.toBe(before);
  });

  it('has no field that the state does not have', () => {
    expect(Object.keys(snapshotAgentState(EMPTY))).toEqual(Object.keys(EMPTY));
  });
});

/** Changes everything below a value. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) spoil(inner);
  if (Array.isArray(value)) value.push('spoilt');
  else Object.assign(value, { spoilt: true });
}
