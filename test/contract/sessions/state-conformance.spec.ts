import { describe, expect, it } from '@jest/globals';
import { emptyAgentState, foldAgentState, snapshotAgentState } from '../../../src/domain/session/agent-state.js';
import { NO_SECRETS } from '../../../src/domain/session/codec/plain-json.js';
import { decodeSnapshot, encodeSnapshot } from '../../../src/domain/session/codec/snapshot-codec.js';
import { modelHistory } from '../../../src/domain/session/history/model-history.js';
import { SESSION_FOLD } from '../../../src/sessions/session-folding.js';
import { toolCallsPaired } from '../../../src/domain/session/history/tool-pairing.js';
import { truncateToPaired } from '../../../src/domain/session/history/truncate-to-paired.js';
import { encodeRow } from '../../../src/domain/session/row-codec.js';
import type { AgentState, HistoryMessage, SessionSnapshot } from '../../../src/domain/session/session-state.js';
import { FileStateStorage } from '../../../src/sessions/snapshots/file-state-storage.js';
import { governed, said } from '../../builders/session-facts.js';
import { fileOf, fullAgentState, fullSnapshot, KEY, savedAs } from '../../builders/session-snapshots.js';
import { MemoryFiles } from '../../support/memory-files.js';

/**
 * The rules of keeping a state, one test per rule, and the twelve ways in which others have broken them. The details of each are
 * tested beside the source; a failure here says in one line which promise is gone.
 */

const MAIN = '/root/acme/ses-1.json';
const BAK = `${MAIN}.bak`;
const text = [{ type: 'text', text: 'x' }];
const message = (messageId: string, role: string, more: Partial<HistoryMessage> = {}): HistoryMessage => ({
  messageId,
  role,
  contents: text,
  createdAt: '2031-01-01T00:00:00.000Z',
  ...more,
});
const asks = (callId: string): HistoryMessage =>
  message(`a-${callId}`, 'assistant', { contents: [], toolCalls: [{ callId, name: 'pay', arguments: {} }] });
const answers = (callId: string): HistoryMessage => message(`t-${callId}`, 'tool', { callId });

const on = (files: MemoryFiles): FileStateStorage => new FileStateStorage('/root', NO_SECRETS, files);
const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );

async function savedTwice(): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  await on(files).save(savedAs(1));
  await on(files).save(savedAs(2));
  return files;
}

function withState(more: object): SessionSnapshot {
  return fullSnapshot(KEY, { agentState: { ...fullAgentState(), ...more } as AgentState });
}

function refusalOf(more: object): string {
  const encoded = encodeSnapshot(withState(more), NO_SECRETS);
  return encoded.ok ? 'encoded' : encoded.problem.code;
}

const decodedCode = (content: string): string => {
  const decoded = decodeSnapshot(content, KEY);
  return decoded.ok ? 'decoded' : decoded.problem.code;
};

describe('the design of the state [A-115]', () => {
  it('1: is data only', () => {
    const handles = [() => 1, new AbortController(), new Map(), Symbol('x'), 1n, new (class Client {})()];
    for (const handle of handles) expect(refusalOf({ metadata: { handle } })).toBe('state_not_serializable');
  });

  it('2: has a version in every root that is kept [A-17]', () => {
    const encoded = encodeSnapshot(fullSnapshot(), NO_SECRETS);
    const { envelopeVersion, agentState, runState } = JSON.parse(encoded.ok ? encoded.value : '') as never;
    const row = JSON.parse(encodeRow(said(0, 'user.message', {}))) as { schemaVersion: number };
    const versions = [
      envelopeVersion,
      (agentState as AgentState).schemaVersion,
      (runState as { stateSchemaVersion: number }).stateSchemaVersion,
      row.schemaVersion,
    ];
    expect(versions.every(Number.isInteger)).toBe(true);
  });

  it('3: keeps known fields and no others', () => {
    const encoded = encodeSnapshot(withState({ extra: 'canary' }), NO_SECRETS);
    expect(encoded.ok && encoded.value).not.toContain('canary');
  });

  it('4: shares messages because nobody can change them', () => {
    const facts = [said(0, 'user.message', { messageId: 'm', contents: [{ type: 'text', text: 'x' }] })];
    const [first] = foldAgentState(emptyAgentState('s'), facts).history.messages;
    expect(() => Object.assign(first ?? {}, { role: 'assistant' })).toThrow();
  });

  it('5: is shown to others as a copy', () => {
    const state = fullAgentState();
    Object.assign(snapshotAgentState(state).metadata, { spoilt: true });
    expect(state.metadata).not.toHaveProperty('spoilt');
  });

  it('6: follows from the facts alone', () => {
    const facts = [said(0, 'plan.updated', { plan: 1, planDigest: 'd' }), governed(1, 'run.started', {})];
    expect(foldAgentState(foldAgentState(emptyAgentState('s'), facts.slice(0, 1)), facts.slice(1))).toEqual(
      foldAgentState(emptyAgentState('s'), facts),
    );
  });
});

describe('the way to disk [A-115]', () => {
  it('7: begins after everything has been checked', async () => {
    const files = new MemoryFiles();
    await codeOf(on(files).save(withState({ metadata: { run: () => 1 } })));
    expect(files.calls).toEqual([]);
  });

  it('8: leads beside main, and is durable before main is touched', async () => {
    const { calls } = await savedTwice();
    expect(calls.lastIndexOf('sync ses-1.json.tmp')).toBeLessThan(calls.lastIndexOf('rename ses-1.json'));
    expect(calls.filter((call) => call === 'write ses-1.json')).toEqual([]);
  });

  it('9: keeps the state before', async () => {
    expect((await savedTwice()).content.get(BAK)).toBe(fileOf(savedAs(1)));
  });

  it('10: leaves both states as they were when it fails', async () => {
    const files = await savedTwice();
    const before = new Map(files.content);
    files.failing.add('write');
    expect(await codeOf(on(files).save(savedAs(3)))).toBe('state_save_failed');
    expect(new Map(files.content)).toEqual(before);
  });

  it('11: never reads what was half written', async () => {
    const files = new MemoryFiles();
    files.content.set(`${MAIN}.tmp`, fileOf(savedAs(1)));
    expect(await codeOf(on(files).load(KEY))).toBe('session_not_found');
  });

  it('12: marks an end that cannot be saved, and overwrites nothing for it', async () => {
    const files = await savedTwice();
    const main = files.content.get(MAIN);
    await on(files).markNotResumable(KEY);
    expect(files.content.get(MAIN)).toBe(main);
    expect(await on(files).load(KEY)).toMatchObject({ notResumable: true });
  });
});

describe('versions and safety [A-115]', () => {
  const legacy = (version: string): string => `{${version}"history":{"messages":[]}}`;

  it('13: nothing said is the time before versions', () => {
    expect(decodedCode(legacy(''))).toBe('decoded');
  });

  it('14: what is older is read with defaults', () => {
    for (const version of [0, 1, 2, 3]) expect(decodedCode(legacy(`"schemaVersion":${version},`))).toBe('decoded');
  });

  it('15: what is newer is refused', () => {
    expect(decodedCode(legacy('"schemaVersion":4,'))).toBe('schema_version_unsupported');
  });

  it('16: what is no version is refused as such', () => {
    for (const version of ['-1', '"3"', 'null']) {
      expect(decodedCode(legacy(`"schemaVersion":${version},`))).toBe('schema_version_invalid');
    }
  });

  it('17: an id is no path', async () => {
    const files = new MemoryFiles();
    const key = { tenant: 'acme', sessionId: '../other' };
    expect(await codeOf(on(files).load(key))).toBe('invalid_session_id');
    expect(await codeOf(on(files).markNotResumable(key))).toBe('invalid_session_id');
    expect(files.calls).toEqual([]);
  });

  it('18: a field of the wrong type is never its default', () => {
    expect(refusalOf({ pendingPlanReview: 5 })).toBe('pending_plan_review_type');
    expect(decodedCode(fileOf(withState({ pendingPlanReview: 5 })))).toBe('pending_plan_review_type');
  });
});

describe('pairs and pauses [A-115]', () => {
  const open = [message('u', 'user'), asks('1')];

  it('19: a model sees whole pairs only', () => {
    expect(modelHistory(open).ok).toBe(false);
    expect(modelHistory([...open, answers('1')]).ok).toBe(true);
  });

  it('20: the last batch may be open on disk while it waits', () => {
    expect(toolCallsPaired(open, true)).toBe(true);
    expect(toolCallsPaired(open, false)).toBe(false);
  });

  it('21: an answer without its call is never right', () => {
    expect(toolCallsPaired([answers('1')], true)).toBe(false);
  });

  it('22: half a batch is dropped rather than kept broken', () => {
    expect(truncateToPaired(open, () => false).messages).toEqual([message('u', 'user')]);
  });

  it('23: a call that was sent is not forgotten', () => {
    expect(truncateToPaired(open, () => true).messages.at(-1)).toMatchObject({ disposition: 'result_unknown' });
  });

  it('24: running means that it may be resumed, and a stop that was asked for ends that', () => {
    const started = foldAgentState(emptyAgentState('s'), [
      governed(0, 'run.started', {}),
      governed(1, 'run.interrupted', {}),
    ]);
    expect(started.isRunning).toBe(true);
    expect(foldAgentState(started, [governed(2, 'stop.requested', {})]).isRunning).toBe(false);
  });
});

describe('a known mistake is not made here [A-116]', () => {
  it('a handle in the state', () => {
    expect(refusalOf({ plan: { client: new AbortController() } })).toBe('state_not_serializable');
  });

  it('writing main directly', async () => {
    expect((await savedTwice()).calls.filter((call) => call.startsWith('write'))).toEqual([
      'write ses-1.json.tmp',
      'write ses-1.json.tmp',
    ]);
  });

  it('deleting main when a save fails', async () => {
    const files = await savedTwice();
    files.failing.add('sync');
    await codeOf(on(files).save(savedAs(3)));
    expect(files.calls).not.toContain('remove ses-1.json');
    expect(files.content.has(MAIN)).toBe(true);
  });

  it('reading bak in place of a newer version', async () => {
    const files = await savedTwice();
    files.content.set(MAIN, fileOf({ ...savedAs(9), envelopeVersion: 2 }));
    expect(await codeOf(on(files).load(KEY))).toBe('schema_version_unsupported');
  });

  it('an id as it comes in a path', async () => {
    const files = new MemoryFiles();
    await on(files).save(savedAs(1, { tenant: 'Acme/../x', sessionId: 'a b:c' }));
    expect([...files.content.keys()]).toEqual([expect.stringMatching(/^\/root\/~[0-9a-f]{32}\/a_b_c\.json$/u)]);
  });

  it('refusing every message without contents', () => {
    expect(refusalOf({ history: { messages: [asks('1')], episodicMemories: [] } })).toBe('encoded');
    const empty = message('m', 'user', { contents: [] });
    expect(refusalOf({ history: { messages: [empty], episodicMemories: [] } })).toBe('message_empty_contents');
  });

  it('pausing inside a tool: a state in the middle of one may not be kept', () => {
    const state = {
      ...emptyAgentState('s'),
      isRunning: true,
      history: { messages: [asks('1')], episodicMemories: [] },
    };
    expect(SESSION_FOLD.pairingProblem(state, false)).not.toBeNull();
    expect(SESSION_FOLD.pairingProblem(state, true)).toBeNull();
  });

  it('using a connection again: nothing of one is in a state that was loaded', () => {
    const decoded = decodeSnapshot(fileOf(fullSnapshot()), KEY);
    expect(decoded.ok && structuredClone(decoded.value)).toEqual(fullSnapshot());
  });

  it('passing over a failed save of the end', async () => {
    const files = await savedTwice();
    files.failing.add('write ses-1.json.tmp');
    expect(await codeOf(on(files).save(savedAs(3)))).toBe('state_save_failed');
    await on(files).markNotResumable(KEY);
    expect((await on(files).load(KEY)).snapshot.agentState.isRunning).toBe(false);
  });

  it('writing what cannot be read again', () => {
    const encoded = encodeSnapshot(fullSnapshot(), NO_SECRETS);
    expect(encoded.ok && decodedCode(encoded.value)).toBe('decoded');
    for (const more of [{ isRunning: 1 }, { usages: 1 }, { history: {} }]) {
      expect(refusalOf(more)).toBe(decodedCode(fileOf(withState(more))));
    }
  });

  it('a whole id in a message', async () => {
    const key = { tenant: 'acme', sessionId: 'a-session-id-of-32-characters-xy' };
    const error = await on(new MemoryFiles())
      .load(key)
      .catch((caught: Error) => caught);
    expect((error as Error).message).not.toContain(key.sessionId);
  });

  it('a small store of keys and values for the history: a state of 5 MB is one write [A-52]', async () => {
    const files = new MemoryFiles();
    const messages = Array.from({ length: 500 }, (_, n) =>
      message(`m${n}`, 'user', { contents: [{ type: 'text', text: 'x y '.repeat(2_500) }] }),
    );
    const agentState = { ...emptyAgentState(KEY.sessionId), history: { messages, episodicMemories: [] } };
    await on(files).save(fullSnapshot(KEY, { agentState, runState: null }));
    expect(files.calls.filter((call) => call.startsWith('write'))).toHaveLength(1);
    expect((await on(files).load(KEY)).snapshot.agentState).toEqual(agentState);
  });
});
