import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunRepresentation } from '../../src/client/contract/runs.js';
import type { SessionPage, StateRepresentation } from '../../src/client/contract/sessions.js';
import { expectProblem, type Client } from '../support/http-client.js';
import { SessionClient, userMessage, type Said } from '../support/session-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

let stack: Stack;
let harness: Client;
let operator: Client;
let names = 0;

beforeAll(async () => {
  stack = await Stack.start();
  [harness, operator] = await Promise.all([stack.as(CAST.harness), stack.as(CAST.operator)]);
});
afterAll(() => stack.destroy());

async function opened(): Promise<SessionClient> {
  names += 1;
  const session = new SessionClient(harness, `chat-${names}`);
  expect((await session.open({ metadata: { topic: 'refunds' } })).status).toBe(201);
  return session;
}

const control = (type: string, runId: string) => harness.post('/v1/control', { type, target: { runId } });
const run = async (runId: string) => (await harness.get<RunRepresentation>(`/v1/runs/${runId}`)).body;

describe('a durable session', () => {
  it('is opened once, by whoever names it, and its first words are on disk when that is answered', async () => {
    const session = new SessionClient(harness, 'named-by-its-caller');
    const answer = await session.open({ metadata: { topic: 'refunds' } });
    expect(answer.body).toMatchObject({
      sessionId: 'named-by-its-caller',
      status: 'open',
      ownerEpoch: 1,
      parent: null,
    });
    expect(answer.body.log?.durableSeq).toBe(answer.body.log?.headSeq);
    expect(await session.types()).toEqual(['session.opened', 'session.created', 'session.harness_attached']);
    expectProblem(await session.open(), 'session_exists');
    const given = await harness.post<{ sessionId: string }>('/v1/sessions', { harness: { instanceId: 'x' } });
    expect(given.body.sessionId).toMatch(/^ses_/);
  });

  it('refuses ids that could leave their folder, and makes nothing for them [A-06, A-54, A-55, A-57, A-61]', async () => {
    const before = readdirSync(join(stack.dataDir, 'sessions'), { recursive: true }).length;
    const bad = ['..', '.', '../x', '..\\x', '/etc/x', 'a/b', 'a..b', 'a\u0000b', 'k\u0007k', 'k\nk', 'x'.repeat(201)];
    for (const sessionId of bad) {
      const answer = await harness.post('/v1/sessions', { sessionId, harness: { instanceId: 'x' } });
      expect([sessionId, answer.status]).toEqual([sessionId, 400]);
    }
    expectProblem(await harness.get('/v1/sessions/..%2f..%2fother'), 'invalid_session_id');
    expectProblem(await harness.post('/v1/sessions/a%5Cb/flush', {}), 'invalid_session_id');
    expect(readdirSync(join(stack.dataDir, 'sessions'), { recursive: true })).toHaveLength(before);
  });

  it('does not share files with another whose id looks the same once it is cleaned [A-60]', async () => {
    expect((await new SessionClient(harness, '会话-001').open()).status).toBe(201);
    expectProblem(await new SessionClient(harness, '聊天-001').open(), 'session_id_collision');
    expect((await new SessionClient(harness, 'a:b').open()).status).toBe(201);
    expect((await new SessionClient(harness, 'a-b').open()).status).toBe(201);
  });

  it('belongs to its principal; other harnesses and tenants see no such session, operators see it', async () => {
    const session = await opened();
    const other = new SessionClient(await stack.as(CAST.otherHarness), session.sessionId);
    expectProblem(await other.show(), 'session_not_found');
    expectProblem(await other.attach(), 'session_not_found');
    const elsewhere = new SessionClient(await stack.as(CAST.elsewhereHarness), session.sessionId);
    expectProblem(await elsewhere.show(), 'session_not_found');
    expect((await elsewhere.open()).status).toBe(201);
    expect((await operator.get(session.path)).status).toBe(200);
    const page = await harness.get<SessionPage>('/v1/sessions?limit=2');
    expect(page.body.items).toHaveLength(2);
    const next = await harness.get<SessionPage>(`/v1/sessions?limit=200&cursor=${page.body.nextCursor ?? ''}`);
    const ids = [...page.body.items, ...next.body.items].map(({ sessionId }) => sessionId);
    expect(ids).toContain(session.sessionId);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await other.http.get<SessionPage>('/v1/sessions')).body.items).toEqual([]);
    expectProblem(await harness.get('/v1/sessions?cursor=x'), 'invalid_request');
  });
});

describe('appending to a session', () => {
  it('accepts at once and claims durability only when the disk has it [D-01, D-09]', async () => {
    const session = await opened();
    const accepted = await session.append([userMessage('m1')]);
    expect(accepted.body).toMatchObject({ durable: false, replayed: false });
    expect(accepted.body.headSeq).toBeGreaterThan(accepted.body.durableSeq);
    const flushed = await session.flush();
    expect(flushed.body).toEqual({ headSeq: accepted.body.headSeq, durableSeq: accepted.body.headSeq, durable: true });
    const durable = await session.append([userMessage('m2')], {}, '?durable=true');
    expect(durable.body).toMatchObject({ durable: true, durableSeq: durable.body.headSeq });
  });

  it('answers the same batch again as it did, and another one in its place not at all [D-19]', async () => {
    const session = await opened();
    const at = session.nextSeq;
    const first = await session.append([userMessage('m1'), userMessage('m2')]);
    const again = await session.append([userMessage('m1'), userMessage('m2')], { expectedSeq: at });
    expect(again.body).toMatchObject({ replayed: true, eventIds: first.body.eventIds, headSeq: first.body.headSeq });
    expectProblem(await session.append([userMessage('m3')], { expectedSeq: at }), 'seq_conflict');
    expectProblem(await session.append([userMessage('m3')], { expectedSeq: session.nextSeq + 5 }), 'seq_conflict');
  });

  it.each<[string, Said, string]>([
    ['an unknown type', { type: 'user.shouted', payload: {} }, 'event_type_unknown'],
    ['what only the runtime may state', { type: 'session.created', payload: {} }, 'producer_not_allowed'],
    ['a governed fact', { type: 'approval.granted', payload: {} }, 'event_type_unknown'],
    ['a payload that does not fit', { type: 'user.message', payload: { messageId: 'm' } }, 'event_schema_invalid'],
    ['a turn of no run', { type: 'turn.started', runId: 'run_x', turnId: 't', payload: {} }, 'dangling_reference'],
  ])('refuses a batch with %s whole, and leaves no trace of it', async (_what, bad, code) => {
    const session = await opened();
    const before = (await session.show()).body.log?.headSeq;
    const answer = await session.append([userMessage('m1'), bad]);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect((answer.body as { code?: string }).code).toBe(code);
    expect((await session.show()).body.log?.headSeq).toBe(before);
    expect((await session.append([userMessage('m1')])).status).toBe(200);
  });

  it('is for the harness that attached last [U-27, P-35]', async () => {
    const first = await opened();
    const second = new SessionClient(harness, first.sessionId, 'harness-b');
    expect((await second.attach()).body).toMatchObject({ ownerEpoch: 2, loadedFrom: 'live', nextSafe: ['start_run'] });
    expectProblem(await first.append([userMessage('late')]), 'owner_epoch_stale');
    expectProblem(await first.startRun(), 'owner_epoch_stale');
    expect((await second.append([userMessage('m1')])).status).toBe(200);
  });
});

describe('reading the log of a session', () => {
  it('shows what is durable in pages, in order and without gaps', async () => {
    const session = await opened();
    await session.say(...Array.from({ length: 25 }, (_, n) => userMessage(`m${n}`)));
    const [first, rest] = [await session.events('?limit=10'), await session.events('?fromSeq=10')];
    expect(first.body).toMatchObject({ nextSeq: 10 });
    expect([...first.body.items, ...rest.body.items].map(({ seq }) => seq)).toEqual([...Array(28).keys()]);
    expect(rest.body.items.at(-1)?.payload).toMatchObject({ messageId: 'm24' });
    expect(rest.body.nextSeq).toBeNull();
    expect(first.body.items[0]).toMatchObject({ kind: 'mirror', payload: null, eventType: 'session.opened' });
  });

  it('follows it as it becomes durable, and goes on after the event a reader saw last', async () => {
    const session = await opened();
    await session.say(userMessage('m1'));
    const read = async (lastEventId: number, wanted: number) => {
      const abort = new AbortController();
      const response = await fetch(`${stack.proxy.url}${session.path}/events`, {
        headers: {
          authorization: `Bearer ${await stack.token(CAST.harness)}`,
          accept: 'text/event-stream',
          'last-event-id': String(lastEventId),
        },
        signal: abort.signal,
      });
      let words = '';
      const ids = () => [...words.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        words += new TextDecoder().decode(chunk);
        if (ids().length >= wanted) break;
      }
      abort.abort();
      return ids();
    };
    const following = read(1, 4);
    await session.say(userMessage('m2'), userMessage('m3'));
    expect(await following).toEqual([2, 3, 4, 5]);
    expect(await read(4, 1)).toEqual([5]);
  });

  it('gives its text and its condition to operators only [D-18, D-72]', async () => {
    const session = await opened();
    await session.say(userMessage('m1', 'words to be found again'));
    expectProblem(await harness.get(`${session.path}/raw`), 'not_authorized');
    expectProblem(await harness.get(`${session.path}/inspect`), 'not_authorized');
    const found = await session.inspectAs(operator, '?deep=true');
    expect(found.body).toMatchObject({ verdict: 'balanced', code: null, report: { digests: 'match', isTorn: false } });
    const raw = await fetch(`${stack.proxy.url}${session.path}/raw`, {
      headers: { authorization: `Bearer ${await stack.token(CAST.operator)}` },
    });
    const lines = (await raw.text()).trimEnd().split('\n');
    expect(lines.every((line) => typeof JSON.parse(line) === 'object')).toBe(true);
    expect(lines.some((line) => line.includes('words to be found again'))).toBe(true);
  });
});

describe('a run of a session', () => {
  it('is one at a time, ends when its turn has ended, and leaves checkpoints archived [A-108, K-105]', async () => {
    const session = await opened();
    await session.say(userMessage('m1'));
    const { runId } = (await session.startRun()).body;
    expect((await session.startRun()).body.runId).toBe(runId);
    expectProblem(await session.startRun('another'), 'run_already_active');
    await session.turnWithCalls(runId, []);
    await session.endTurn(runId);
    expect((await harness.post<RunRepresentation>(`/v1/runs/${runId}/complete`, {})).body.status).toBe('completed');
    await until('the last snapshot', session.types.bind(session), (types) => types.includes('checkpoint.archived'));
    const { agentState, runState } = (await session.state()).body;
    expect(agentState).toMatchObject({ isRunning: false });
    expect(agentState).not.toHaveProperty('pendingRunCheckpoint');
    expect(runState).toMatchObject({ run: { runId, status: 'completed' } });
    await until(
      'the saved snapshot',
      async () => existsSync(join(stack.dataDir, 'sessions', 'acme', `${session.sessionId}.json`)),
      (there) => there,
    );
  });

  it('tells the conversation what became of its call, once, without being asked [U-02, decision 22]', async () => {
    const session = await opened();
    const { runId } = (await session.startRun()).body;
    await session.turnWithCalls(runId, ['toolu_1']);
    const body = { capability: 'refund.create', arguments: { orderId: 'ord_1001', amountMinor: 100 } };
    const place = { runId, turnId: 'turn-1', callId: 'toolu_1' };
    const call = await harness.post<{ status: string }>(
      '/v1/tool-calls',
      { ...body, ...place },
      {
        headers: { 'idempotency-key': `${session.sessionId}-1`, prefer: 'wait=10' },
      },
    );
    expect(call.body.status).toBe('completed');
    await until('the answer', session.messages.bind(session), (messages) => messages.at(-1)?.role === 'tool');
    const messages = await session.messages();
    expect(messages.map(({ role, disposition }) => [role, disposition])).toEqual([
      ['assistant', undefined],
      ['tool', 'completed'],
    ]);
    await session.endTurn(runId);
  });

  it('is suspended at its next safe point, takes nothing meanwhile, and goes on when it is resumed [A-100, A-101]', async () => {
    const session = await opened();
    const { runId } = (await session.startRun()).body;
    await session.say(
      { type: 'turn.started', runId, turnId: 't', payload: {} },
      { type: 'step.started', runId, turnId: 't', stepId: 's', payload: {} },
    );
    expect((await control('suspend', runId)).status).toBe(202);
    expect((await run(runId)).status).toBe('suspending');
    session.nextSeq = ((await session.events('?limit=1')).body.headSeq ?? 0) + 1;
    const early = { type: 'step.started', runId, turnId: 't', stepId: 's1', payload: {} };
    expectProblem(await session.append([early]), 'not_at_safe_point');
    const contents = [{ type: 'text', text: 'half' }];
    await session.say(
      {
        type: 'assistant.message',
        runId,
        turnId: 't',
        stepId: 's',
        payload: { messageId: 'm', contents, toolCalls: [] },
      },
      { type: 'step.ended', runId, turnId: 't', stepId: 's', payload: { outcome: 'completed' } },
    );
    await until(
      'the suspension',
      () => run(runId),
      ({ status }) => status === 'suspended',
    );
    await until('the log', session.types.bind(session), (types) => types.includes('run.suspended'));
    session.nextSeq = ((await session.show()).body.log?.headSeq ?? 0) + 1;
    const step = { type: 'step.started', runId, turnId: 't', stepId: 's2', payload: {} };
    expectProblem(await session.append([step]), 'run_suspended');
    expect((await session.state()).body.agentState).toMatchObject({
      isRunning: true,
      pendingRunCheckpoint: { kind: 'suspended' },
    });
    expect((await control('resume', runId)).status).toBe(202);
    expect((await run(runId)).status).toBe('running');
    await session.say(step);
  });

  it('that its harness gives up on can be read and no more [A-51, U-15]', async () => {
    const session = await opened();
    const { runId } = (await session.startRun()).body;
    const marked = await harness.post<StateRepresentation>(`${session.path}/state/not-resumable`, {
      ownerEpoch: session.ownerEpoch,
    });
    expect(marked.body).toMatchObject({ canResume: false });
    expect((await run(runId)).status).toBe('ended_unrecorded');
    expectProblem(await control('resume', runId), 'run_not_resumable');
    session.nextSeq = ((await session.events('?limit=1')).body.headSeq ?? 0) + 1;
    const turn = { type: 'turn.started', runId, turnId: 'late', payload: {} };
    expectProblem(await session.append([turn]), 'run_not_resumable');
    expect((await session.attach()).body).toMatchObject({ canResume: false, nextSafe: ['read_only'] });
    expect((await session.events()).status).toBe(200);
  });
});

describe('snapshots', () => {
  it('are what the log adds up to at a save point, and never an unpaired conversation [A-97, U-01]', async () => {
    const session = await opened();
    await session.say(userMessage('m1'));
    const save = (savePoint: string) =>
      harness.send<StateRepresentation>('PUT', `${session.path}/state`, { ownerEpoch: session.ownerEpoch, savePoint });
    expect((await save('after_user_input')).body).toMatchObject({
      saved: true,
      agentState: { metadata: { topic: 'refunds' } },
    });
    const { runId } = (await session.startRun()).body;
    await session.turnWithCalls(runId, ['toolu_1']);
    expectProblem(await save('after_tool_batch'), 'history_unpaired');
    expectProblem(await save('whenever'), 'invalid_request');
  });
});

describe('reloading a session', () => {
  it('says what it said before, from what is on disk, and changes no fact [K-62]', async () => {
    const session = await opened();
    await session.say(userMessage('m1'));
    const before = (await session.state()).body;
    const reload = (commandId: string) =>
      harness.post('/v1/control', { type: 'reload', target: { sessionId: session.sessionId }, commandId });
    expect((await reload(`${session.sessionId}-1`)).status).toBe(202);
    expect((await reload(`${session.sessionId}-1`)).status).toBe(202);
    const { agentState } = (await session.state()).body;
    expect(agentState).toEqual(before.agentState);
    expect((await session.types()).filter((type) => type === 'control.accepted')).toHaveLength(1);
    const { runId } = (await session.startRun()).body;
    await session.turnWithCalls(runId, []);
    expectProblem(await reload(`${session.sessionId}-2`), 'session_live_open_turn');
    await session.endTurn(runId);
  });
});

describe('deleting a session', () => {
  it('removes its files, keeps a tombstone, and never gives its id away again [A-26, U-30]', async () => {
    const session = await opened();
    await session.say(userMessage('m1'));
    const { runId } = (await session.startRun()).body;
    expectProblem(await harness.send('DELETE', session.path), 'run_has_open_work');
    await harness.post(`/v1/runs/${runId}/fail`, { code: 'given_up' });
    const file = join(stack.dataDir, 'sessions', 'acme', `${session.sessionId}.jsonl`);
    expect(existsSync(file)).toBe(true);
    expect((await harness.send<{ status: string }>('DELETE', session.path)).body.status).toBe('deleted');
    expect(existsSync(file)).toBe(false);
    expect((await harness.send('DELETE', session.path)).status).toBe(200);
    expectProblem(await session.attach(), 'session_deleted');
    expectProblem(await session.open(), 'session_deleted');
    expect((await session.show()).body.status).toBe('deleted');
  });
});
