import { describe, expect, it } from '@jest/globals';
import { HEADER, KEY, said } from '../../test/builders/conversation-examples.js';
import { agentStateOf, FakeLogs, refusal, SessionWorld, settled } from '../../test/builders/session-world.js';
import type { NewSessionEvent } from '../domain/session/session.append.js';
import type { SessionRow } from '../domain/session/session-row.js';
import type { LiveSession } from './live-session.js';
import type { SessionCoordinator } from './session-coordinator.js';

const OTHER = { ...KEY, sessionId: 'ses-2' };
const HARNESS = { producer: 'harness', ownerEpoch: 0 } as const;

const append = (live: LiveSession, ...inputs: readonly NewSessionEvent[]): Promise<unknown> =>
  live.append(inputs, HARNESS);
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? 'untyped',
  );

async function begun(world: SessionWorld, sessions: SessionCoordinator): Promise<LiveSession> {
  const live = await sessions.create(KEY);
  live.mirror(world.record.governed.run());
  await append(live, said.user('u-1'));
  return live;
}

/** Another process, an hour after the first was killed. */
function restarted({ logs, snapshots, record, clock }: SessionWorld): SessionWorld {
  const world = new SessionWorld(logs, snapshots, record);
  world.clock.moveTo(clock.iso);
  world.clock.advance(3_600_000);
  return world;
}

async function allOf(rows: AsyncIterable<SessionRow>): Promise<readonly number[]> {
  const seqs: number[] = [];
  for await (const row of rows) seqs.push(row.seq);
  return seqs;
}

describe('the sessions of a process', () => {
  it('leave nothing behind before the first append [D-16, D-39]', async () => {
    const world = new SessionWorld();
    const live = await world.coordinator().create(KEY);
    await live.flush();
    expect(world.logs.artefacts.size).toBe(0);
    await append(live, said.user('u-1'));
    await live.flush();
    expect(world.logs.artefacts.get(KEY.sessionId)?.rows).toHaveLength(1);
  });

  it('name the parent in the header of a session that works for another [D-84]', async () => {
    const parent = { sessionId: 'ses-0', runId: 'run-0', toolCallId: 'tc-0' };
    const world = new SessionWorld();
    const live = await world.coordinator().create(KEY, parent);
    await append(live, said.user('u-1'));
    await live.flush();
    expect(world.logs.log.header).toMatchObject({ ...KEY, formatVersion: 1, parent });
  });

  it('refuse to make what is open, stored, or kept as a snapshot', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    expect(await codeOf(sessions.create(KEY))).toBe('session_exists');
    await sessions.close(KEY);
    expect(await codeOf(sessions.create(KEY))).toBe('session_exists');
    expect(await codeOf(sessions.create({ ...KEY, sessionId: 'a\nb' }))).toBe('invalid_session_id');
  });

  it('are loaded once, however many ask at once', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    await sessions.close(KEY);
    world.logs.calls.length = 0;
    const all = await Promise.all([sessions.open(KEY), sessions.open(KEY), sessions.open(KEY)]);
    expect(new Set(all).size).toBe(1);
    expect(world.logs.calls).toEqual(['load']);
  });

  it('can be opened after a load that failed', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    await sessions.close(KEY);
    world.logs.loadFaults = [new Error('EIO')];
    await expect(sessions.open(KEY)).rejects.toThrow('EIO');
    expect((await sessions.open(KEY)).status().headSeq).toBe(1);
  });

  it('that are live answer for themselves between turns, and are not loaded beside an open turn (rows 2 and 3) [D-69]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    const live = await begun(world, sessions);
    expect(await sessions.prepare(KEY)).toMatchObject({ lastSeq: 1, tail: 'balanced' });
    await append(live, said.turn());
    expect(await codeOf(sessions.prepare(KEY))).toBe('session_live_open_turn');
    expect(await sessions.open(KEY)).toBe(live);
    expect(world.logs.calls).not.toContain('load');
  });

  it('can be listed, read from anywhere and flushed [D-17]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    const live = await begun(world, sessions);
    await sessions.create(OTHER);
    expect(await sessions.list(KEY.tenant)).toEqual([
      { sessionId: 'ses-1', isLive: true, headSeq: 1 },
      { sessionId: 'ses-2', isLive: true, headSeq: -1 },
    ]);
    expect(await allOf(sessions.readFrom(KEY, 0))).toEqual([]);
    expect(await sessions.flush(KEY)).toBe(1);
    expect(await allOf(sessions.readFrom(KEY, 1))).toEqual([1]);
    await append(live, ...Array.from({ length: 90 }, (_, at) => said.user(`v-${at}`)));
    await sessions.close(KEY);
    expect(await sessions.flush(KEY)).toBeNull();
    expect(await allOf(sessions.readFrom(KEY, 90))).toEqual([90, 91]);
    expect(await codeOf(allOf(sessions.readFrom({ ...KEY, sessionId: 'none' }, 0)))).toBe('session_not_found');
  });

  it('are let go of when idle, the longest idle first where there are too many, never in a turn', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator({ openMax: 2, idleCloseMs: 1000 });
    const inTurn = await begun(world, sessions);
    await append(inTurn, said.turn());
    for (const sessionId of ['ses-2', 'ses-3']) {
      world.clock.advance(1);
      await append(await sessions.create({ ...KEY, sessionId }), said.user('u-1'));
    }
    await sessions.closeIdle();
    expect(sessions.all().map(({ key }) => key.sessionId)).toEqual(['ses-1', 'ses-3']);
    world.clock.advance(1000);
    await sessions.closeIdle();
    expect(sessions.all().map(({ key }) => key.sessionId)).toEqual(['ses-1']);
    expect(world.logs.at('ses-3').rows).toHaveLength(1);
  });

  it('stay open where they cannot be written', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    world.logs.writeFaults = [new Error('disk')];
    world.clock.advance(600_000);
    await sessions.closeIdle();
    expect(sessions.find(KEY)?.status()).toMatchObject({ pending: 2, automaticPaused: true });
  });

  it('stay open for whoever appends while they are being closed', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    const live = await begun(world, sessions);
    const appended = live.flush().then(() => append(live, said.user('u-2')));
    await Promise.all([appended, sessions.close(KEY)]);
    expect([sessions.find(KEY), live.status().headSeq]).toEqual([live, 2]);
    await sessions.close(KEY);
    expect(sessions.find(KEY)).toBeUndefined();
  });

  it('are gone when deleted, and may be made again', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    const live = await begun(world, sessions);
    await live.flush();
    await append(live, said.user('u-2'));
    await sessions.delete(KEY);
    expect([world.logs.artefacts.size, await codeOf(append(live, said.user('u-2')))]).toEqual([
      0,
      'persistence_closed',
    ]);
    expect(await codeOf(sessions.create(KEY))).toBe('ok');
  });
});

describe('looking at a session', () => {
  it('changes nothing, torn or open as it is [D-18]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await append(await begun(world, sessions), said.turn());
    await sessions.flush(KEY);
    world.logs.log.torn = true;
    const before = JSON.stringify(world.logs.log);
    const report = await restarted(world).coordinator().inspect(KEY, { isDeep: true });
    expect(report).toMatchObject({
      log: 'whole',
      tail: 'open',
      isTorn: true,
      rows: 3,
      formatVersion: 1,
      revision: '2',
      digests: 'match',
      problems: [],
    });
    expect([JSON.stringify(world.logs.log), world.record.units]).toEqual([before, []]);
  });

  it('shows a snapshot without a whole log as unverified [U-12, P-31]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    await sessions.save(KEY, 'after_user_input');
    expect((await sessions.inspect(KEY)).snapshot).toMatchObject({ isVerified: true, loadSource: 'main' });
    world.logs.loadFaults = [refusal('session_log_corrupt')];
    const report = await sessions.inspect(KEY);
    expect(report).toMatchObject({
      log: 'damaged',
      problems: ['session_log_corrupt'],
      snapshot: { isVerified: false },
    });
  });

  it.each([
    ['unsupported', (logs: FakeLogs) => void (logs.log.header = { ...HEADER, formatVersion: 9 })],
    ['foreign', (logs: FakeLogs) => void (logs.log.header = { ...HEADER, sessionId: 'x' })],
    ['unreadable', (logs: FakeLogs) => void (logs.loadFaults = [new Error('EIO')])],
    ['damaged', (logs: FakeLogs) => void (logs.log.rows = logs.log.rows.slice(1))],
  ])('says of a log that it is %s', async (condition, spoil) => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    await sessions.close(KEY);
    spoil(world.logs);
    expect(await sessions.inspect(KEY)).toMatchObject({ log: condition, tail: null });
  });

  it('finds a payload that is not what its digest says', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    await sessions.close(KEY);
    const text = await world.logs.readRaw(KEY);
    world.logs.readRaw = async () => text.replace('hello', 'hullo');
    expect(await sessions.inspect(KEY, { isDeep: true })).toMatchObject({
      digests: 'differ',
      problems: ['a payload differs from its digest'],
    });
  });

  it('of one that is not there says so', async () => {
    expect(await codeOf(new SessionWorld().coordinator().inspect(KEY))).toBe('session_not_found');
  });
});

describe('saving a session', () => {
  it('stands at a durable row: the log is written first [U-13]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    const live = await begun(world, sessions);
    const saved = await sessions.save(KEY, 'after_user_input');
    expect(saved).toMatchObject({
      outcome: 'saved',
      snapshot: { position: { lastSeq: 1, lastEventId: live.facts.lastEventId } },
    });
    expect(world.logs.log.rows).toHaveLength(2);
    world.logs.writeFaults = [new Error('disk')];
    await append(live, said.user('u-2'));
    await expect(sessions.save(KEY, 'after_user_input')).rejects.toMatchObject({ code: 'durability_failed' });
    expect(world.snapshots.stored).toMatchObject({ snapshot: { position: { lastSeq: 1 } } });
  });

  it('refuses a conversation with open calls unless its turn waits for them [U-02]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    const live = await begun(world, sessions);
    await append(live, said.turn(), said.step(), said.message('m-1', 'c'));
    expect(await codeOf(sessions.save(KEY, 'after_assistant_turn'))).toBe('history_unpaired');
    live.mirror(world.record.governed.call('tool.call.proposed', 'c'));
    expect(await codeOf(sessions.save(KEY, 'after_assistant_turn'))).toBe('ok');
  });

  it.each(['cancelled', 'error', 'complete'] as const)(
    '%s is saved as not running, without a mark [A-108, A-112]',
    async (point) => {
      const world = new SessionWorld();
      const sessions = world.coordinator();
      await begun(world, sessions);
      expect(await sessions.save(KEY, point)).toMatchObject({ snapshot: { agentState: { isRunning: false } } });
      expect(world.snapshots.marks).toBe(0);
    },
  );

  it.each(['cancelled', 'error', 'complete'] as const)(
    '%s that fails leaves a mark, and the session is not resumed [A-111]',
    async (point) => {
      const world = new SessionWorld();
      const sessions = world.coordinator();
      await begun(world, sessions);
      await sessions.save(KEY, 'after_user_input');
      world.snapshots.saveFault = refusal('state_save_failed');
      expect(await sessions.save(KEY, point)).toEqual({
        outcome: 'marked_not_resumable',
        problem: 'state_save_failed',
      });
      expect(await restarted(world).coordinator().prepare(KEY)).toMatchObject({
        notResumable: true,
        state: { agentState: { isRunning: false } },
      });
    },
  );

  it('of a suspension that fails never leaves one [A-114]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    await sessions.save(KEY, 'after_user_input');
    world.snapshots.saveFault = refusal('state_save_failed');
    expect(await codeOf(sessions.save(KEY, 'suspended'))).toBe('state_save_failed');
    expect(world.snapshots.marks).toBe(0);
    expect(await restarted(world).coordinator().prepare(KEY)).toMatchObject({
      notResumable: false,
      state: { agentState: { isRunning: true } },
    });
  });

  it('fails closed where the mark fails too, tries it again with growing waits and at the end [A-113, U-33]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    const live = await begun(world, sessions);
    world.snapshots.saveFault = refusal('state_save_failed');
    world.snapshots.markFault = Object.assign(new Error('full'), { code: 'ENOSPC' });
    await expect(sessions.save(KEY, 'complete')).rejects.toMatchObject({
      code: 'state_save_failed',
      details: { problems: ['state_save_failed', 'ENOSPC'] },
    });
    expect([live.notResumable, sessions.saves.isDegraded]).toEqual([true, true]);
    expect(await sessions.saves.retryMarks()).toHaveLength(0);
    world.clock.advance(1000);
    expect(await sessions.saves.retryMarks()).toHaveLength(1);
    world.clock.advance(1999);
    expect(await sessions.saves.retryMarks()).toHaveLength(0);
    world.snapshots.markFault = null;
    await sessions.drain();
    expect([world.snapshots.marks, sessions.saves.isDegraded]).toEqual([1, false]);
  });
});

describe('the end of all sessions', () => {
  it('writes everything, waits for every chain and then closes, in this order [D-47]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    await append(await sessions.create(OTHER), said.user('u-1'));
    await sessions.drain();
    expect(world.logs.calls).toEqual(['append ses-1 0,1 barrier', 'append ses-2 0 barrier', 'close']);
    expect(await codeOf(sessions.open(KEY))).toBe('persistence_closed');
  });

  it('comes although a producer appends for ever, and says so to it [D-46, D-49]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    const live = await begun(world, sessions);
    const refusals: string[] = [];
    const end = { isReached: false };
    const producer = (async (): Promise<void> => {
      for (let n = 0; !end.isReached; n += 1) {
        const code = await codeOf(append(live, said.user(`p-${n}`)));
        if (code !== 'ok') refusals.push(code);
        await settled();
      }
    })();
    let open = (): void => {};
    world.logs.gate = new Promise((resolve) => (open = resolve));
    const drained = sessions.drain();
    for (let job = 0; job < 5; job += 1) await settled();
    open();
    await drained;
    end.isReached = true;
    await producer;
    expect(new Set(refusals)).toEqual(new Set(['persistence_closed']));
    expect(world.logs.log.rows).toHaveLength(live.status().headSeq + 1);
  });

  it('names every session that could not be written, those before what did not close [D-48]', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    for (const sessionId of ['a-long-session-id', 'another-long-id']) {
      await append(await sessions.create({ ...KEY, sessionId }), said.user('u-1'));
    }
    world.logs.writeFaults = [new Error('disk'), new Error('disk')];
    world.logs.closeFault = new Error('close');
    const error = await sessions.drain().catch((reason: unknown) => reason as AggregateError);
    expect(error).toBeInstanceOf(AggregateError);
    expect((error as AggregateError).errors.map(({ message }: Error) => message)).toEqual([
      'session a-long-s... was not written: unknown',
      'session another-... was not written: unknown',
      'a store of sessions did not close',
    ]);
  });
});

describe('the eight failure boundaries [D-70]', () => {
  it('1: a background write fails: the appends stand, and status says so', async () => {
    const world = new SessionWorld();
    const live = await begun(world, world.coordinator());
    world.logs.writeFaults = [new Error('disk')];
    world.timers.advance(200);
    await settled();
    expect(live.status()).toMatchObject({ headSeq: 1, durableSeq: -1, automaticPaused: true, pending: 2 });
  });

  it('2: the flush after it fails too: its callers are told, and the next one succeeds', async () => {
    const world = new SessionWorld();
    const live = await begun(world, world.coordinator());
    world.logs.writeFaults = [new Error('one'), new Error('two')];
    world.timers.advance(200);
    await settled();
    await expect(live.flush()).rejects.toMatchObject({ code: 'durability_failed', cause: new Error('two') });
    expect(await live.flush()).toBe(1);
  });

  it('3: the last flush fails: the end is an error and claims nothing', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    world.logs.writeFaults = [new Error('disk')];
    await expect(sessions.drain()).rejects.toThrow('sessions were not brought to an end');
  });

  it('4: a kill: what was not durable is gone, and the open turn can be closed', async () => {
    const world = new SessionWorld();
    const live = await begun(world, world.coordinator());
    await append(live, said.turn());
    await live.flush();
    await append(live, said.step());
    expect(await restarted(world).coordinator().prepare(KEY)).toMatchObject({ tail: 'balanced' });
    expect(JSON.stringify(world.logs.log.rows)).not.toContain('step.started');
  });

  it.each([
    ['5: a damaged prefix', 'session_log_corrupt', (logs: FakeLogs) => logs.log.rows.splice(0, 1)],
    [
      '6: an unknown required event',
      'session_format_unsupported',
      (logs: FakeLogs) => logs.log.rows.splice(1, 1, { ...logs.log.rows[1], eventType: 'new' } as SessionRow),
    ],
    [
      '7: a revision that never stays',
      'revision_stale',
      (logs: FakeLogs) => (logs.beforeRevision = () => void (logs.log.revision += 1)),
    ],
  ])('%s is refused', async (_, code, spoil) => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await begun(world, sessions);
    await sessions.close(KEY);
    spoil(world.logs);
    expect(await codeOf(sessions.prepare(KEY))).toBe(code);
  });

  it('8: a live open turn is used and not repaired', async () => {
    const world = new SessionWorld();
    const sessions = world.coordinator();
    await append(await begun(world, sessions), said.turn());
    expect(await codeOf(sessions.prepare(KEY))).toBe('session_live_open_turn');
    expect(world.logs.calls).toEqual([]);
  });
});

describe('three crashes and what may be said after them [D-81]', () => {
  it('a message was appended and no timer had fired: it is gone, nothing is torn, nothing is closed', async () => {
    const world = new SessionWorld();
    const live = await begun(world, world.coordinator());
    await live.flush();
    await append(live, said.user('u-lost'));
    const preparation = await restarted(world).coordinator().prepare(KEY);
    expect([
      preparation.lastSeq,
      world.logs.log.torn,
      world.logs.calls.some((name) => name.startsWith('repair')),
    ]).toEqual([1, false, false]);
  });

  it('the last record was half written: the whole ones are seen, the rest is cut, no turn was open', async () => {
    const world = new SessionWorld();
    const live = await begun(world, world.coordinator());
    await live.flush();
    world.logs.log.torn = true;
    const preparation = await restarted(world).coordinator().prepare(KEY);
    expect([preparation.lastSeq, world.logs.calls.at(-2), world.record.units]).toEqual([
      1,
      'repair cut 0',
      ['repaired'],
    ]);
  });

  it('every event was whole and the end of the turn missing: all of them are seen, and closers say the rest', async () => {
    const world = new SessionWorld();
    const live = await begun(world, world.coordinator());
    await append(live, said.turn(), said.step(), said.message('m-1'));
    await live.flush();
    const preparation = await restarted(world).coordinator().prepare(KEY);
    expect([preparation.lastSeq, preparation.tail, world.logs.log.rows.at(-1)]).toMatchObject([
      7,
      'balanced',
      { eventType: 'turn.ended', synthetic: true },
    ]);
  });
});

it('a state that nobody folded yet is that of an empty session', async () => {
  const live = await new SessionWorld().coordinator().create(KEY);
  expect(live.state().agentState).toEqual(agentStateOf(KEY.sessionId));
});
