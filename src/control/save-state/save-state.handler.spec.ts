import { describe, expect, it } from '@jest/globals';
import { AGENT } from '../../../test/builders/installation.js';
import { answerOf, KEY, SessionInstallation } from '../../../test/builders/session-installation.js';
import { refusal } from '../../../test/builders/session-world.js';
import { DetachSession } from '../detach-session/detach-session.command.js';
import { DetachSessionHandler } from '../detach-session/detach-session.handler.js';
import { MarkSession } from '../mark-session/mark-session.command.js';
import { MarkSessionHandler } from '../mark-session/mark-session.handler.js';
import { SaveState } from './save-state.command.js';
import { SaveStateHandler } from './save-state.handler.js';

async function running(): Promise<SessionInstallation> {
  const world = new SessionInstallation();
  await world.open();
  await world.startRun();
  return world;
}

const save = ({ installation, sessions }: SessionInstallation, ownerEpoch = 1) =>
  new SaveStateHandler(installation.desk, sessions).execute(
    new SaveState(AGENT, KEY.sessionId, ownerEpoch, 'after_user_input'),
  );
const mark = ({ installation, sessions }: SessionInstallation) =>
  new MarkSessionHandler(installation.desk, sessions).execute(new MarkSession(AGENT, KEY.sessionId, 1));
const detach = ({ installation, sessions }: SessionInstallation, ownerEpoch = 1) =>
  new DetachSessionHandler(installation.desk, sessions).execute(
    new DetachSession(AGENT, KEY.sessionId, ownerEpoch, 'done'),
  );

describe('saving a state', () => {
  it('answers what was saved, which is on disk and says that the run goes on [A-109]', async () => {
    const world = await running();
    const { snapshot, canResume } = await save(world);
    expect(snapshot).toMatchObject({ agentState: { isRunning: true }, runState: { run: { status: 'running' } } });
    expect([canResume, snapshot.position?.lastSeq]).toEqual([true, world.live.status().durableSeq]);
  });

  it('is refused without a trace for an unpaired conversation, a full disk and a harness that was relieved', async () => {
    const world = await running();
    await world.turnWithCalls('c-1');
    expect(await answerOf(save(world))).toBe('history_unpaired');
    const other = await running();
    other.logs.writeFaults = [new Error('full')];
    await other.append([{ eventType: 'user.message', payload: { messageId: 'u', contents: [] } }]).catch(() => {});
    expect(await answerOf(save(other))).toBe('durability_failed');
    other.snapshots.saveFault = refusal('state_save_failed');
    expect(await answerOf(save(other))).toBe('state_save_failed');
    expect([await other.snapshots.exists(), other.snapshots.marks]).toEqual([false, 0]);
    expect(await answerOf(save(other, 7))).toBe('owner_epoch_stale');
  });
});

describe('marking a session', () => {
  it('is nothing at all while the mark cannot be written [U-33]', async () => {
    const world = await running();
    world.snapshots.markFault = refusal('state_save_failed');
    expect(await answerOf(mark(world))).toBe('state_save_failed');
    expect([world.runRow.status, world.live.notResumable]).toEqual(['running', false]);
  });

  it('is finished by the next load where it was broken off between the mark and the record [U-15, R18]', async () => {
    const world = await running();
    await save(world);
    world.installation.store.beforeCommit = () => {
      throw new Error('crash');
    };
    await expect(mark(world)).rejects.toThrow('crash');
    world.installation.store.beforeCommit = () => {};
    const next = await world.restarted();
    expect(await next.attach()).toMatchObject({ canResume: false, nextSafe: ['read_only'] });
    expect(next.runRow.status).toBe('ended_unrecorded');
  });
});

describe('leaving a session', () => {
  it('is said in its log and on disk, by the harness that has it [§10]', async () => {
    const world = await running();
    const { durableSeq, headSeq } = await detach(world);
    expect([durableSeq, world.types.at(-1)]).toEqual([headSeq, 'session.harness_detached']);
    expect(await answerOf(detach(world, 2))).toBe('owner_epoch_stale');
  });
});
