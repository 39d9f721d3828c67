import { describe, expect, it } from '@jest/globals';
import { said } from '../../../test/builders/conversation-examples.js';
import { answerOf, SessionInstallation } from '../../../test/builders/session-installation.js';

async function opened(): Promise<SessionInstallation> {
  const world = new SessionInstallation();
  await world.open();
  return world;
}

describe('starting a run of a session', () => {
  it('records it with a checkpoint that names what is on disk [R1]', async () => {
    const world = await opened();
    await world.append([said.user('u-1')]);
    const runId = await world.startRun();
    const [started, checkpoint] = world.installation.store.events.slice(-2);
    expect(started?.envelope).toMatchObject({ eventType: 'run.started', runId, sessionId: world.row.session_id });
    expect(checkpoint?.payload).toMatchObject({ kind: 'after_user_input', seq: 3 });
    expect(world.live.status().durableSeq).toBeGreaterThanOrEqual(3);
  });

  it('is the same one for the same name, and no second one beside it', async () => {
    const world = await opened();
    const runId = await world.startRun();
    expect(await world.startRun()).toBe(runId);
    expect(await answerOf(world.startRun('run-2'))).toBe('run_already_active');
    expect(world.installation.store.rows('runs')).toHaveLength(1);
  });

  it('is nothing while the disk does not take what led to it', async () => {
    const world = await opened();
    await world.append([said.user('u-1')]);
    world.logs.writeFaults = [new Error('full')];
    expect(await answerOf(world.startRun())).toBe('durability_failed');
    expect(world.installation.store.rows('runs')).toEqual([]);
  });

  it('is refused when another harness takes the session over meanwhile [U-27]', async () => {
    const world = await opened();
    const { store } = world.installation;
    store.beforeCommit = () => {
      if (world.row.owner_epoch === 1) store.seed('sessions', { ...world.row, owner_epoch: 2 });
    };
    const { row } = world;
    Object.defineProperty(world, 'row', { get: () => row, configurable: true });
    expect(await answerOf(world.startRun())).toBe('owner_epoch_stale');
  });
});
