import { describe, expect, it } from '@jest/globals';
import { said } from '../../test/builders/conversation-examples.js';
import { AGENT, OPERATOR, callerWith } from '../../test/builders/installation.js';
import { answerOf, KEY, SessionInstallation } from '../../test/builders/session-installation.js';
import { refusal, settled } from '../../test/builders/session-world.js';

async function opened(): Promise<SessionInstallation> {
  const world = new SessionInstallation();
  await world.open();
  return world;
}

const rows = ({ installation }: SessionInstallation) => installation.store.rows('sessions');

describe('opening a session', () => {
  it('begins its log with what it is about, and has that on disk when it answers', async () => {
    const world = new SessionInstallation();
    await world.open({ topic: 'refunds' });
    expect(world.types).toEqual(['session.opened', 'session.created', 'session.harness_attached']);
    expect(world.live.status()).toMatchObject({ headSeq: 2, durableSeq: 2, ownerEpoch: 1 });
    expect(await answerOf(world.open())).toBe('session_exists');
  });

  it.each([
    ['holds a credential', { key: 'sk_live_1' }, 'secret_in_payload'],
    ['is longer than an event may be', { text: 'x'.repeat(20_000) }, 'payload_too_large'],
  ])('is refused before anything is recorded where its metadata %s', async (_what, metadata, code) => {
    const world = new SessionInstallation();
    expect(await answerOf(world.open(metadata))).toBe(code);
    expect(rows(world)).toEqual([]);
    expect(await answerOf(world.open())).toBe('ok');
  });

  it('says in the header of its log whose work it does [D-84]', async () => {
    const world = await opened();
    const parent = { sessionId: KEY.sessionId, runId: await world.startRun() };
    await world.open({}, parent, 'child');
    expect(world.logs.at('child').header.parent).toEqual(parent);
    expect(world.logs.log.header).not.toHaveProperty('parent');
  });

  it.each(['runId', 'toolCallId', 'subagentId'])('is refused where its parent has no such %s [D-84]', async (field) => {
    const world = await opened();
    await world.installation.propose();
    const [elsewhere] = world.installation.store.rows('tool_calls');
    const ids = { runId: elsewhere?.run_id, toolCallId: elsewhere?.tool_call_id, subagentId: 'sub-1' };
    const parent = { sessionId: KEY.sessionId, [field]: ids[field as keyof typeof ids] };
    expect(await answerOf(world.open({}, parent, 'child'))).toBe('dangling_reference');
    expect(rows(world)).toHaveLength(1);
  });

  it('that the disk does not take is told as that, and can be gone on with', async () => {
    const world = new SessionInstallation();
    world.logs.writeFaults = [new Error('full')];
    expect(await answerOf(world.open())).toBe('durability_failed');
    expect((await world.attach()).durableSeq).toBeGreaterThan(0);
  });

  it('is refused where a log lies that no record vouches for', async () => {
    const world = new SessionInstallation();
    world.logs.at(KEY.sessionId);
    expect(await answerOf(world.open())).toBe('session_exists');
    expect(rows(world)).toEqual([]);
  });
});

describe('a session that is asked for', () => {
  it('is loaded once, however many ask at once', async () => {
    const world = await (await opened()).restarted();
    world.logs.calls.length = 0;
    const [one, other] = await Promise.all([world.sessions.open(world.row), world.sessions.open(world.row)]);
    expect(one).toBe(other);
    expect(world.logs.calls.filter((call) => call === 'load')).toHaveLength(1);
  });

  it('knows the epoch of its harness from its own log, whatever an older reading of its record says [U-27]', async () => {
    const world = await opened();
    const before = { ...world.row };
    await world.attach();
    await world.flush();
    const next = await world.restarted();
    expect((await next.sessions.open(before)).ownerEpoch).toBe(2);
  });

  it('is opened again where it was let go of meanwhile', async () => {
    const world = await opened();
    const before = world.live;
    await world.coordinator.close(KEY);
    expect(before.isClosed).toBe(true);
    expect(await world.append([said.user('u-1')])).toMatchObject({ durable: false });
    expect(world.live).not.toBe(before);
  });

  it('wakes whoever follows it when it is let go of, or deleted', async () => {
    const world = await opened();
    const told: number[] = [];
    world.live.onDurable((durableSeq) => told.push(durableSeq));
    await world.coordinator.close(KEY);
    const live = await world.sessions.open(world.row);
    live.onDurable((durableSeq) => told.push(durableSeq));
    await world.delete();
    expect(new Set(told)).toEqual(new Set([Number.MAX_SAFE_INTEGER]));
  });

  it('is not let go of as idle when somebody has come to work with it during the flush', async () => {
    const world = await opened();
    await world.append([said.user('u-1')]);
    let release = (): void => {};
    world.logs.gate = new Promise((resolve) => (release = resolve));
    const closing = world.coordinator.close(KEY);
    world.installation.clock.advance(1);
    const live = await world.sessions.open(world.row);
    release();
    await closing;
    expect([live.isClosed, world.coordinator.find(KEY)]).toEqual([false, live]);
  });

  it('that cannot be read just now is refused with a code, and one that is damaged with its own', async () => {
    const world = await (await opened()).restarted();
    world.logs.loadFaults = [Object.assign(new Error('eio'), { code: 'EIO' })];
    expect(await answerOf(world.attach())).toBe('store_unavailable');
    world.logs.loadFaults = [refusal('session_log_corrupt')];
    expect(await answerOf(world.attach())).toBe('session_log_corrupt');
    expect(await answerOf(world.attach())).toBe('ok');
  });
});

describe('deleting a session', () => {
  it('leaves a tombstone and nothing else, and is the same when it is asked for again [U-30]', async () => {
    const world = await opened();
    await world.append([said.user('u-1')]);
    await world.delete();
    await world.delete();
    expect([...world.logs.artefacts.keys()]).toEqual([]);
    expect(world.row.status).toBe('deleted');
    expect(world.coordinator.all()).toEqual([]);
    expect(await answerOf(world.append([said.user('u-2')]))).toBe('session_deleted');
    expect(await answerOf(world.open())).toBe('session_deleted');
  });

  it('is for its principal and for operators', async () => {
    const world = await opened();
    const stranger = callerWith({ actor: { sub: 'zoe' } });
    expect(await answerOf(world.delete(stranger))).toBe('session_not_found');
    expect(await answerOf(world.delete(OPERATOR))).toBe('ok');
  });

  it('is refused when a run begins between the question and the tombstone', async () => {
    const world = await opened();
    const { store } = world.installation;
    const { openRunOfSession } = store.read;
    let asked = 0;
    Object.assign(store.read, {
      openRunOfSession: async (...args: Parameters<typeof openRunOfSession>) => {
        asked += 1;
        const answer = await openRunOfSession(...args);
        if (asked === 1) await world.startRun();
        return answer;
      },
    });
    expect(await answerOf(world.delete())).toBe('run_has_open_work');
    expect(world.row.status).toBe('open');
  });

  it('does not leave a snapshot that was on its way', async () => {
    const world = await opened();
    await world.startRun();
    const save = world.snapshots.save.bind(world.snapshots);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    world.snapshots.save = async (snapshot) => {
      await held;
      await save(snapshot);
    };
    await world.endRun();
    await settled();
    const deleting = world.delete();
    await settled();
    release();
    await deleting;
    await world.quiet();
    expect(await world.snapshots.exists()).toBe(false);
  });

  it('waits for a snapshot that is being written, and takes it away with the rest', async () => {
    const world = await opened();
    const save = world.snapshots.save.bind(world.snapshots);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    world.snapshots.save = async (snapshot) => {
      await held;
      await save(snapshot);
    };
    const saving = world.coordinator.saves.save(world.live, 'after_user_input');
    await settled();
    const deleting = world.coordinator.delete(KEY);
    await settled();
    release();
    await Promise.all([saving, deleting]);
    expect(await world.snapshots.exists()).toBe(false);
  });

  it('lets no snapshot be written that waited for the log, and none be marked afterwards', async () => {
    const world = await opened();
    await world.append([said.user('u-1')]);
    let release = (): void => {};
    world.logs.gate = new Promise((resolve) => (release = resolve));
    const saving = answerOf(world.coordinator.saves.save(world.live, 'complete'));
    const marking = world.live;
    const deleting = world.coordinator.delete(KEY);
    release();
    await deleting;
    expect([await saving, await answerOf(world.coordinator.saves.markNotResumable(marking))]).toEqual([
      'persistence_closed',
      'persistence_closed',
    ]);
    expect([await world.snapshots.exists(), world.snapshots.marks]).toEqual([false, 0]);
  });

  it('does not let what was loaded for somebody at the same time be written again', async () => {
    const world = await (await opened()).restarted();
    const { row } = world;
    const [loading] = await Promise.allSettled([world.sessions.open(row), world.delete(AGENT)]);
    if (loading.status === 'fulfilled') {
      expect(loading.value.isClosed).toBe(true);
    }
    expect(await answerOf(world.sessions.open(row))).toBe('session_deleted');
    expect([...world.logs.artefacts.keys()]).toEqual([]);
  });
});

describe('a session whose last run ended without a record of how', () => {
  it('takes no further run and can be read [U-15]', async () => {
    const world = await opened();
    await world.startRun();
    await world.sessions.markNotResumable(world.live);
    expect(world.runRow.status).toBe('ended_unrecorded');
    expect(await answerOf(world.startRun('run-2'))).toBe('run_not_resumable');
    expect(await world.attach()).toMatchObject({ canResume: false, nextSafe: ['read_only'] });
    const next = await world.restarted();
    expect(await answerOf(next.startRun('run-2'))).toBe('run_not_resumable');
  });

  it('is no other than one whose end is on record and was only not saved: that is saved before the next run', async () => {
    const world = await opened();
    await world.startRun();
    await world.sessions.coordinator.saves.save(world.live, 'after_user_input');
    world.snapshots.saveFault = refusal('state_save_failed');
    await world.endRun();
    await world.quiet();
    expect([world.live.notResumable, world.snapshots.marks]).toEqual([true, 1]);
    world.snapshots.saveFault = null;
    const next = await world.restarted();
    expect(await next.attach()).toMatchObject({ canResume: true, nextSafe: ['start_run'] });
    await next.startRun('run-2');
    const after = await next.restarted();
    await after.attach();
    expect(after.runRow.status).toBe('running');
  });
});
