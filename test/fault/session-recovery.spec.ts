import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import type { ErrorCode } from '../../src/domain/errors/error-codes.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { SessionClient, userMessage } from '../support/session-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

let stack: Stack;
let harness: Client;
let operator: Client;

beforeAll(async () => {
  stack = await Stack.start({ env: { COUNTERSIGN_SESSIONS__WRITE_BATCH_MAX_DELAY_MS: '60000' } });
  [harness, operator] = await Promise.all([stack.as(CAST.harness), stack.as(CAST.operator)]);
});
afterAll(() => stack.destroy());

const fileOf = (name: string, ending = 'jsonl'): string => join(stack.dataDir, 'sessions', 'acme', `${name}.${ending}`);
const linesOf = (name: string): string[] => readFileSync(fileOf(name), 'utf8').split('\n').slice(0, -1);
const digestOf = (name: string): string =>
  createHash('sha256')
    .update(readFileSync(fileOf(name)))
    .digest('hex');

async function opened(name: string): Promise<SessionClient> {
  const session = new SessionClient(harness, name);
  expect((await session.open()).status).toBe(201);
  return session;
}

/** Ends in the way every line of a log does: with the checksum of what is before it. */
function sealed(row: object): string {
  const { c: _, ...rest } = row as { c?: string };
  const body = JSON.stringify(rest).slice(0, -1);
  return `${body},"c":"${crc32(body).toString(16).padStart(8, '0')}"}`;
}

/** Rewrites one line of a log as somebody would who knows the format. */
function forge(name: string, at: number, change: (row: Record<string, unknown>) => object): void {
  const lines = linesOf(name);
  lines[at] = sealed(change(JSON.parse(lines[at] ?? '') as Record<string, unknown>));
  writeFileSync(fileOf(name), `${lines.join('\n')}\n`);
}

const refund = (runId: string, amountMinor: number, key: string) =>
  harness.post<ToolCallRepresentation>(
    '/v1/tool-calls',
    {
      capability: 'refund.create',
      arguments: { orderId: 'ord_1002', amountMinor },
      runId,
      turnId: 'turn-1',
      callId: 'toolu_1',
    },
    { headers: { 'idempotency-key': key } },
  );

const save = (session: SessionClient) =>
  harness.send('PUT', `${session.path}/state`, { ownerEpoch: session.ownerEpoch, savePoint: 'after_user_input' });

function flip(name: string, where: number): void {
  const bytes = readFileSync(fileOf(name));
  const at = Math.floor(bytes.length * where);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(fileOf(name), bytes);
}

function rewrite(name: string, change: (lines: readonly string[]) => readonly string[]): void {
  writeFileSync(fileOf(name), `${change(linesOf(name)).join('\n')}\n`);
}

/** What is done to the files of stopped sessions, and what loading them is refused with. */
const CHANGES: readonly [string, string, (name: string) => void, ErrorCode][] = [
  ['a flipped byte below what was flushed', 'flip', (name) => flip(name, 0.6), 'session_log_corrupt'],
  [
    'a line cut out of its middle',
    'cut',
    (name) => rewrite(name, (lines) => lines.toSpliced(2, 1)),
    'session_log_corrupt',
  ],
  [
    'two lines welded together',
    'weld',
    (name) => rewrite(name, (lines) => lines.toSpliced(1, 2, `${lines[1]}${lines[2]}`)),
    'session_log_corrupt',
  ],
  ['random bytes', 'noise', (name) => writeFileSync(fileOf(name), Buffer.alloc(1024, 0xa7)), 'session_log_corrupt'],
  [
    'its end cut off with the promise in it, below what the store knows of it',
    'short',
    (name) => rewrite(name, (lines) => lines.slice(0, 5)),
    'session_log_corrupt',
  ],
  [
    'a governed event rewritten with a right checksum',
    'forged',
    (name) => forge(name, 1, (row) => ({ ...row, payloadCommitment: '00'.repeat(32) })),
    'session_log_corrupt',
  ],
  [
    'a header of a newer program',
    'newer',
    (name) => forge(name, 0, (row) => ({ ...row, formatVersion: 999 })),
    'session_format_unsupported',
  ],
  [
    'the log of another session under its name',
    'swapped',
    (name) => copyFileSync(fileOf('waiting'), fileOf(name)),
    'session_identity_mismatch',
  ],
];

/** Everything that is alive when the process is killed, by name. */
const sessions = new Map<string, SessionClient>();
const digests = new Map<string, string>();
let openTurnRun = '';
let waitingCall: Awaited<ReturnType<typeof refund>>;

function session(name: string): SessionClient {
  const found = sessions.get(name);
  if (found === undefined) throw new Error(`${name} was not prepared`);
  return found;
}

async function begin(name: string): Promise<SessionClient> {
  const one = await opened(name);
  sessions.set(name, one);
  await one.say(userMessage('m1'), userMessage('m2'));
  return one;
}

beforeAll(async () => {
  expect((await (await begin('unflushed')).append([userMessage('lost')])).body.durable).toBe(false);
  const openTurn = await begin('open-turn');
  openTurnRun = (await openTurn.startRun()).body.runId;
  await openTurn.turnWithCalls(openTurnRun, ['toolu_1']);
  const waiting = await begin('waiting');
  const { runId } = (await waiting.startRun()).body;
  await waiting.turnWithCalls(runId, ['toolu_1']);
  waitingCall = await refund(runId, 7_500, 'waiting-1');
  for (const [, name] of CHANGES) {
    const one = await begin(name);
    expect((await one.startRun()).status).toBe(201);
    await one.say(userMessage('m3'));
  }
  await begin('vanished');
  for (const name of ['torn', 'gone', 'newer-state', 'broken-state']) {
    expect((await save(await begin(name))).status).toBe(200);
  }
  await stack.proxy.kill('SIGKILL');
  for (const [, name, change] of CHANGES) {
    change(name);
    digests.set(name, digestOf(name));
  }
  appendFileSync(fileOf('torn'), '{"k":"e","seq":5,"eventId":"evt_');
  rmSync(fileOf('gone'));
  rmSync(fileOf('vanished'));
  const state = readFileSync(fileOf('newer-state', 'json'), 'utf8');
  writeFileSync(fileOf('newer-state', 'json'), state.replace('"schemaVersion":3', '"schemaVersion":4'));
  truncateSync(fileOf('broken-state', 'json'), 40);
  const contents = [{ type: 'text', text: 'from before' }];
  const message = { messageId: 'old', role: 'user', contents, createdAt: '2030-01-01T00:00:00.000Z' };
  const legacy = { schemaVersion: 1, sessionId: 'legacy', history: { messages: [message], episodicMemories: [] } };
  writeFileSync(fileOf('legacy', 'json'), JSON.stringify(legacy));
  await stack.restart('SIGKILL');
}, 60_000);

describe('after a kill, a session', () => {
  it('has lost what was never flushed, has what was, and claims neither wrongly [D-71, D-81, A-129]', async () => {
    const packet = await session('unflushed').attach();
    expect(packet.body).toMatchObject({
      ownerEpoch: 2,
      loadedFrom: 'rebuilt',
      canResume: true,
      nextSafe: ['start_run'],
    });
    expect(packet.body.history.map(({ messageId }) => messageId)).toEqual(['m1', 'm2']);
    expect((await session('unflushed').append([userMessage('lost')])).status).toBe(200);
  });

  it('whose turn nobody waits for has it closed with the truth, its run to be resumed [D-57, A-03, P-27]', async () => {
    const one = session('open-turn');
    const packet = (await one.attach()).body;
    expect(packet).toMatchObject({ nextSafe: ['resume_run', 'new_model_call'], waitingCalls: [], toolCalls: [] });
    expect(packet.runState).toMatchObject({ run: { runId: openTurnRun, status: 'interrupted' } });
    expect(packet.history.at(-1)).toMatchObject({ role: 'tool', callId: 'toolu_1', disposition: 'not_executed' });
    const ends = (await one.events()).body.items.filter(({ synthetic }) => synthetic);
    expect(ends.map(({ eventType }) => eventType)).toEqual([
      'run.interrupted',
      'checkpoint.created',
      'tool.message',
      'step.ended',
      'turn.ended',
    ]);
    const resume = { type: 'resume', target: { runId: openTurnRun } };
    expect((await harness.post('/v1/control', resume)).status).toBe(202);
    await one.say({ type: 'turn.started', runId: openTurnRun, turnId: 'turn-2', payload: {} });
  });

  it('whose turn waits for people has it open, and what they allow runs once without a harness [U-05, P-27]', async () => {
    const one = session('waiting');
    const packet = (await one.attach()).body;
    expect(packet).toMatchObject({ nextSafe: ['wait_for_approval'], waitingCalls: ['toolu_1'] });
    expect(packet.pendingApprovals.map(({ toolCallId }) => toolCallId)).toEqual([waitingCall.body.toolCallId]);
    expect(packet.runState).toMatchObject({ run: { status: 'waiting_for_approval' } });
    expect(packet.checkpoint).toMatchObject({ kind: 'awaiting_approval' });
    await (await stack.as(CAST.lena)).decide(approvalIdOf(waitingCall), 'allow');
    await harness.call(waitingCall.body.toolCallId, 10);
    await until(
      'the answer',
      () => one.messages(),
      (messages) => messages.at(-1)?.role === 'tool',
    );
    await one.endTurn(runIdOf(packet));
    expect((await stack.provider.stats()).executions).toBe(1);
  });

  it.each(CHANGES)(
    'that was changed by %s is refused, not a byte of it changed [D-66]',
    async (_what, name, _do, code) => {
      const one = session(name);
      expectProblem(await one.attach(), code);
      expectProblem(await one.append([userMessage('m4')]), code);
      expect((await one.inspectAs(operator)).body.code).toBe(code);
      if (name === 'noise') expectProblem(await operator.get(`${one.path}/raw`), code);
      expect(digestOf(name)).toBe(digests.get(name));
    },
  );

  it('with half a record behind what was flushed is seen to be torn, is repaired, and is written on behind it [D-61, K01]', async () => {
    const one = session('torn');
    expect((await one.inspectAs(operator)).body.report).toMatchObject({ isTorn: true });
    expect((await one.attach()).body.history).toHaveLength(2);
    await one.say(userMessage('m3'));
  });

  it('whose log is gone while its snapshot is not is refused [U-13]', async () => {
    expectProblem(await session('gone').attach(), 'log_missing_for_snapshot');
  });

  it('whose log is gone with nothing left beside it is refused too: the store knows that there was one', async () => {
    expectProblem(await session('vanished').attach(), 'session_log_corrupt');
    expectProblem(await session('vanished').append([userMessage('m4')]), 'session_log_corrupt');
  });

  it('with a snapshot of a newer program is refused, and one with a broken snapshot goes by its log [U-09, U-12]', async () => {
    expectProblem(await session('newer-state').attach(), 'schema_version_unsupported');
    expect((await session('broken-state').attach()).body).toMatchObject({ loadedFrom: 'rebuilt', canResume: true });
  });

  it('of an earlier layout without a log is imported when it is opened [P-34, U-26]', async () => {
    const one = await opened('legacy');
    sessions.set('legacy', one);
    expect(await one.types()).toContain('session.imported');
    expect((await one.messages()).map(({ role }) => role)).toEqual(['user']);
    await one.say(userMessage('new'));
  });
});

describe('after another kill', () => {
  beforeAll(() => stack.restart('SIGKILL'), 30_000);

  it('what was repaired is whole and was repaired once', async () => {
    const one = session('torn');
    expect((await one.messages()).map(({ role }) => role)).toEqual(['user', 'user', 'user']);
    expect((await one.types()).filter((type) => type === 'session.repaired')).toHaveLength(1);
    expect((await one.inspectAs(operator, '?deep=true')).body).toMatchObject({ verdict: 'balanced', code: null });
  });

  it('a run that was resumed is interrupted anew, and an imported conversation is still there', async () => {
    expect((await session('open-turn').types()).filter((type) => type === 'run.interrupted')).toHaveLength(2);
    const imported = (await session('legacy').attach()).body;
    expect(imported.history.map(({ messageId }) => messageId)).toEqual(['old', 'new']);
  });
});

const runIdOf = (packet: { readonly runState: unknown }): string =>
  (packet.runState as { readonly run: { readonly runId: string } }).run.runId;

describe('sessions in the database', () => {
  it('survive a kill as those in files do', async () => {
    const other = await Stack.start({
      env: { COUNTERSIGN_SESSIONS__BACKEND: 'database', COUNTERSIGN_SESSIONS__SNAPSHOTS: 'database' },
    });
    try {
      const client = await other.as(CAST.harness);
      const session = new SessionClient(client, 'chat');
      expect((await session.open()).status).toBe(201);
      await session.say(userMessage('m1'));
      const save = { ownerEpoch: 1, savePoint: 'after_user_input' };
      expect((await client.send('PUT', `${session.path}/state`, save)).status).toBe(200);
      const { runId } = (await session.startRun()).body;
      await session.turnWithCalls(runId, []);
      await other.restart('SIGKILL');
      const packet = (await session.attach()).body;
      expect(packet).toMatchObject({ loadedFrom: 'main', nextSafe: ['resume_run', 'new_model_call'] });
      expect(packet.history.map(({ role }) => role)).toEqual(['user', 'assistant']);
      expectProblem(await (await other.as(CAST.operator)).get(`${session.path}/raw`), 'raw_artifact_unsupported');
    } finally {
      await other.destroy();
    }
  }, 60_000);
});
