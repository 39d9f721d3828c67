import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  fileOf,
  fullAgentState,
  fullRunState,
  fullSnapshot,
  KEY,
} from '../../../../test/builders/session-snapshots.js';
import type { AgentState, SessionSnapshot } from '../session-state.js';
import type { CodecProblem } from './codec-result.js';
import { NO_SECRETS } from './plain-json.js';
import { CURRENT_VERSIONS, decodeSnapshot, encodeSnapshot } from './snapshot-codec.js';

const LEGACY = { tenant: 'acme', sessionId: 'trip-plan' };

const fixture = (version: number): string =>
  readFileSync(new URL(`../../../../test/fixtures/session-state/v${version}.json`, import.meta.url), 'utf8');

function encoded(snapshot: SessionSnapshot, isSecret = NO_SECRETS): string {
  const result = encodeSnapshot(snapshot, isSecret);
  if (!result.ok) throw new Error(`${result.problem.code} ${result.problem.path}`);
  return result.value;
}

function decoded(text: string, key = KEY, versions = CURRENT_VERSIONS): SessionSnapshot {
  const result = decodeSnapshot(text, key, versions);
  if (!result.ok) throw new Error(`${result.problem.code} ${result.problem.path}`);
  return result.value;
}

function problemOf(result: { ok: true } | { ok: false; problem: CodecProblem }): CodecProblem {
  if (result.ok) throw new Error('nothing was refused');
  return result.problem;
}

const holding = (more: Record<string, unknown>): SessionSnapshot =>
  fullSnapshot(KEY, { agentState: { ...fullAgentState(), ...more } as unknown as AgentState });

const refused = (more: Record<string, unknown>, isSecret = NO_SECRETS): CodecProblem =>
  problemOf(encodeSnapshot(holding(more), isSecret));

/** A file with other fields in its agent state. */
const stored = (more: Record<string, unknown>): string => fileOf({ ...fullSnapshot(), ...holding(more) });

describe('the text of a snapshot', () => {
  it('gives back every field, each with a value of its own [A-14, A-11]', () => {
    const snapshot = fullSnapshot();
    expect(decoded(encoded(snapshot))).toEqual(snapshot);
    expect(Object.keys(JSON.parse(encoded(snapshot)).agentState as object).toSorted()).toEqual(
      Object.keys(fullAgentState()).toSorted(),
    );
  });

  it('gives the same text again', () => {
    const text = encoded(fullSnapshot());
    expect(encoded(decoded(text))).toBe(text);
  });

  it('holds no field that is not known, and does not write again what it does not know [A-67]', () => {
    const extra = { ...fullSnapshot(), agentState: { ...fullAgentState(), client: 'x' }, extra: 1 };
    expect(encoded(extra)).toBe(encoded(fullSnapshot()));
    expect(encoded(decoded(fileOf(extra)))).toBe(encoded(fullSnapshot()));
  });

  it('says the present versions, whatever the object says [A-17, A-68]', () => {
    const old = holding({ schemaVersion: 1 });
    const text = JSON.parse(encoded({ ...old, envelopeVersion: 0 as 1 })) as Record<string, never>;
    expect(text).toMatchObject({
      envelopeVersion: 1,
      agentState: { schemaVersion: 3, pendingApproval: { approvalBatchId: 'step-1' } },
      runState: { stateSchemaVersion: 2 },
    });
  });

  it('leaves out what is undefined, and reads its absence as undefined [A-69]', () => {
    const text = encoded(holding({ plan: undefined, lastError: undefined }));
    expect(text).not.toContain('"plan":{');
    expect(Object.keys(decoded(text).agentState)).not.toContain('plan');
    expect(Object.keys(decoded(text).agentState)).not.toContain('lastError');
  });

  it('keeps words of a newer version as they are [A-78]', () => {
    const [first, ...rest] = fullAgentState().history.messages;
    const messages = [{ ...first, role: 'observer2', disposition: 'postponed' }, ...rest];
    const text = encoded(holding({ history: { messages, episodicMemories: [] } }));
    expect(decoded(text).agentState.history.messages[0]).toMatchObject({ role: 'observer2', disposition: 'postponed' });
    expect(encoded(decoded(text))).toBe(text);
  });

  it('keeps a message that only calls tools without contents, and invents none [A-84, A-87, A-124]', () => {
    const { messages } = decoded(encoded(fullSnapshot())).agentState.history;
    expect(messages[1]).toEqual(fullAgentState().history.messages[1]);
    expect(messages[1]?.contents).toEqual([]);
  });

  it('freezes the messages it gives, through and through [A-21]', () => {
    const { history } = decoded(encoded(fullSnapshot())).agentState;
    const message = history.messages[1] as unknown as { toolCalls: [{ arguments: { to: string[] } }] };
    expect(() => message.toolCalls[0].arguments.to.push('eve')).toThrow();
    expect(Object.isFrozen(history.episodicMemories[0]?.messages[0]?.contents[0])).toBe(true);
  });

  it('is below 10 kB for an image of 1 MB, and tells its type and digest [A-70]', () => {
    const image = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(1_000_000)]);
    for (const data of [image.toString('base64'), new Uint8Array(image)]) {
      const message = { ...fullAgentState().history.messages[0], contents: [{ type: 'image', data }] };
      const text = encoded(holding({ history: { messages: [message], episodicMemories: [] } }));
      expect(text.length).toBeLessThan(10_000);
      expect(text).toMatch(/image\/png, 1000008 bytes, sha256:[0-9a-f]{64}/u);
    }
  });
});

describe('encoding refuses', () => {
  class Client {
    readonly token = 'x';
  }
  const cycle: Record<string, unknown> = {};
  cycle['self'] = { again: cycle };

  it.each<[string, unknown]>([
    ['a function', () => 1],
    ['an instance of a class', new Client()],
    ['a cancellation handle', new AbortController()],
    ['a map', new Map()],
    ['a date', new Date(0)],
    ['a symbol', Symbol('x')],
    ['a symbol as a name', { [Symbol('x')]: 1 }],
    ['a big integer', 10n],
    ['a number that is not finite', NaN],
    ['a hole in a list', [undefined]],
    ['bytes', new Uint8Array(3)],
  ])('%s in open data, by its place [A-10, A-07, A-12]', (_, handle) => {
    const place = { inner: [0, { 'a/b': handle }] };
    for (const field of ['metadata', 'plan']) {
      expect(refused({ [field]: place })).toMatchObject({
        code: 'state_not_serializable',
        path: expect.stringContaining(`/agentState/${field}/inner/1`),
      });
    }
    const { pendingApproval } = fullAgentState();
    const items = [{ ...pendingApproval?.items[0], frozenArgs: place }];
    expect(refused({ pendingApproval: { ...pendingApproval, items } }).path).toMatch(/pendingApproval\/items\/0/u);
  });

  it('what contains itself, also inside a message', () => {
    expect(refused({ metadata: cycle })).toMatchObject({
      code: 'state_not_serializable',
      path: '/agentState/metadata/self/again',
    });
    const message = { ...fullAgentState().history.messages[0], contents: [{ type: 'json', value: cycle }] };
    const problem = refused({ history: { messages: [message], episodicMemories: [] } });
    expect(problem.code).toBe('state_not_serializable');
  });

  it('what is nested too deeply, and decoding does as well [A-86]', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(refused({ plan: nested(400) }).code).toBe('state_not_serializable');
    expect(problemOf(decodeSnapshot(stored({ plan: nested(400) }), KEY)).code).toBe('state_not_serializable');
    const text = `{"history":{"messages":[]},"plan":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(decodeSnapshot(text, KEY).ok).toBe(false);
  });

  it('a registered secret, as a value and as a name, without telling it [A-10, A-07]', () => {
    const isSecret = (text: string): boolean => text.includes('canary');
    for (const metadata of [{ auth: ['x', 'my canary token'] }, { auth: { 'canary-key': 1 } }]) {
      const problem = refused({ metadata }, isSecret);
      expect(problem.code).toBe('secret_in_payload');
      expect(problem.path).toMatch(/^\/agentState\/metadata\/auth/u);
      expect(JSON.stringify(problem)).not.toContain('canary');
    }
  });

  it('a getter that throws', () => {
    const trap = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('trap');
      },
    });
    expect(refused({ metadata: trap }).code).toBe('state_not_serializable');
  });

  it.each(['user', 'assistant', 'tool', 'notice', 'observer2'])(
    'a message of role %s with neither contents nor calls, as decoding does [A-85, A-86]',
    (role) => {
      const empty = { messageId: 'm', role, contents: [], toolCalls: [], createdAt: '' };
      const history = { messages: [empty], episodicMemories: [] };
      expect(refused({ history })).toMatchObject({
        code: 'message_empty_contents',
        path: '/agentState/history/messages/0',
      });
      expect(problemOf(decodeSnapshot(stored({ history }), KEY)).code).toBe('message_empty_contents');
    },
  );

  it('states of two sessions in one snapshot', () => {
    const problem = problemOf(encodeSnapshot(fullSnapshot(KEY, { runState: fullRunState('another') }), NO_SECRETS));
    expect(problem.code).toBe('session_identity_mismatch');
  });
});

describe('a field of the wrong type is refused by its own code, read or written [A-80, A-86]:', () => {
  const checkpoint = fullAgentState().pendingRunCheckpoint;
  const review = fullAgentState().pendingPlanReview;

  it.each<[string, Record<string, unknown>]>([
    ['pending_plan_review_type', { pendingPlanReview: 5 }],
    ['plan_digest_type', { pendingPlanReview: { ...review, planDigest: 7 } }],
    ['expires_at_type', { pendingPlanReview: { ...review, expiresAt: null } }],
    ['pending_approval_type', { pendingApproval: [] }],
    ['items_type', { pendingApproval: { ...fullAgentState().pendingApproval, items: [1] } }],
    ['pending_run_checkpoint_type', { pendingRunCheckpoint: 'cp' }],
    ['seq_type', { pendingRunCheckpoint: { ...checkpoint, seq: -1 } }],
    ['history_type', { history: null }],
    ['messages_type', { history: { messages: {}, episodicMemories: [] } }],
    ['episodic_memories_type', { history: { messages: [], episodicMemories: 1 } }],
    ['contents_type', { history: { messages: [{ messageId: 'm', role: 'user', contents: ['x'] }] } }],
    ['type_type', { history: { messages: [{ messageId: 'm', role: 'user', contents: [{ type: 1 }] }] } }],
    ['is_running_type', { isRunning: 'yes' }],
    ['total_loop_count_type', { totalLoopCount: 1.5 }],
    ['total_loop_count_type', { totalLoopCount: null }],
    ['usages_type', { usages: {} }],
    ['metadata_type', { metadata: [] }],
    ['active_skills_type', { activeSkills: {} }],
    ['last_error_type', { lastError: 'boom' }],
    ['system_reminders_type', { systemReminders: { a: 1 } }],
    ['plan_review_approved_type', { planReviewApproved: null }],
    ['session_id_type', { sessionId: 1 }],
  ])('%s', (code, more) => {
    expect(problemOf(decodeSnapshot(stored(more), KEY)).code).toBe(code);
    expect(refused(more).code).toBe(code);
  });

  it('in a run state too', () => {
    const run = { ...fullRunState(), toolCalls: [{ ...fullRunState().toolCalls[0], status: 1 }] };
    expect(problemOf(decodeSnapshot(fileOf({ ...fullSnapshot(), runState: run }), KEY))).toMatchObject({
      code: 'status_type',
      path: '/runState/toolCalls/0/status',
    });
    expect(problemOf(decodeSnapshot(fileOf({ ...fullSnapshot(), position: 1 }), KEY)).code).toBe('position_type');
  });
});

describe('versions', () => {
  it.each([1, 2, 3])('%i is read with what came later at its default [A-16, A-75, A-79, A-119, A-05]', (version) => {
    const { agentState, position, runState } = decoded(fixture(version), LEGACY);
    expect({ position, runState }).toEqual({ position: null, runState: null });
    expect(agentState).toMatchObject({ schemaVersion: 3, sessionId: 'trip-plan', planReviewApproved: false });
    expect(agentState.history.messages).toHaveLength(4);
    expect(agentState.pendingApproval?.approvalBatchId).toBe(version >= 2 ? 'b1' : undefined);
    expect(agentState.pendingPlanReview?.planReviewId).toBe(version >= 3 ? 'pr1' : undefined);
  });

  it('a field that a version did not have is at its default there, whatever the file says [A-75]', () => {
    const later = { ...(JSON.parse(fixture(3)) as object), schemaVersion: 1, planReviewApproved: true };
    const { agentState } = decoded(JSON.stringify(later), LEGACY);
    expect(agentState.pendingApproval).toBeUndefined();
    expect(agentState.pendingPlanReview).toBeUndefined();
    expect(agentState.planReviewApproved).toBe(false);
  });

  it('none at all is the time before versions: the present layout and its defaults [A-73, A-119]', () => {
    const { agentState, sessionId, versionSetId } = decoded(fixture(0), LEGACY);
    expect(sessionId).toBe('trip-plan');
    expect(versionSetId).toBe('legacy schema/0');
    expect(agentState).toMatchObject({
      schemaVersion: 3,
      metadata: { title: 'Lake' },
      usages: [],
      currentLoopCount: 0,
    });
    expect(agentState.history.messages).toHaveLength(4);
    expect(JSON.parse(encoded(decoded(fixture(0), LEGACY)))).toMatchObject({ agentState: { schemaVersion: 3 } });
  });

  it('the next one is refused, with both numbers, before any field is looked at [A-72, A-76, A-119, A-05]', () => {
    expect(problemOf(decodeSnapshot(fixture(4), LEGACY))).toMatchObject({
      code: 'schema_version_unsupported',
      found: 4,
      current: 3,
      message: expect.stringMatching(/4.*3/u),
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['the envelope', { envelopeVersion: 2, agentState: 1 }],
    ['the agent state', { envelopeVersion: 1, agentState: { schemaVersion: 1e300 } }],
    ['the run state', { envelopeVersion: 1, agentState: {}, runState: { stateSchemaVersion: 3 } }],
    ['the run state, when another is no version', { envelopeVersion: -1, runState: { stateSchemaVersion: 3 } }],
  ])('of a newer program in %s is refused, also without a digest that fits [U-09, A-72]', (_, fields) => {
    const text = JSON.stringify({ agentState: null, ...fields });
    expect(problemOf(decodeSnapshot(text, KEY)).code).toBe('schema_version_unsupported');
  });

  it.each(['-1', '1.5', '"3"', 'null', '1e400', 'true', '[]'])('%s is none [A-74, A-119]', (version) => {
    const legacy = `{"schemaVersion":${version},"history":{"messages":[]}}`;
    expect(problemOf(decodeSnapshot(legacy, KEY)).code).toBe('schema_version_invalid');
    const envelope = `{"envelopeVersion":${version},"agentState":{}}`;
    expect(problemOf(decodeSnapshot(envelope, KEY)).code).toBe('schema_version_invalid');
    const inner = `{"envelopeVersion":1,"agentState":{"schemaVersion":${version}}}`;
    expect(problemOf(decodeSnapshot(inner, KEY)).code).toBe('schema_version_invalid');
  });

  it('an older program refuses what this one wrote, and this one still reads it [A-91]', () => {
    const text = fixture(3);
    const older = { ...CURRENT_VERSIONS, agentState: 2 };
    expect(problemOf(decodeSnapshot(text, LEGACY, older))).toMatchObject({ found: 3, current: 2 });
    expect(decoded(text, LEGACY).agentState.pendingPlanReview?.planReviewId).toBe('pr1');
  });

  it('stay readable: every field of a version that was released is read from its fixture [A-77]', () => {
    const { agentState } = decoded(fixture(3), LEGACY);
    expect(agentState).toEqual(JSON.parse(fixture(3)));
  });
});
