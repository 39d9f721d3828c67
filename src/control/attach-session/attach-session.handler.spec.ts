import { describe, expect, it } from '@jest/globals';
import { said } from '../../../test/builders/conversation-examples.js';
import { answerOf, SessionInstallation } from '../../../test/builders/session-installation.js';

describe('taking a session over', () => {
  it('gives each of two that come at once an epoch of its own, and only the later one may append [U-27, P-35]', async () => {
    const world = new SessionInstallation();
    await world.open();
    const [first, second] = await Promise.all([world.attach('harness-b'), world.attach('harness-c')]);
    expect(new Set([first.ownerEpoch, second.ownerEpoch])).toEqual(new Set([2, 3]));
    expect(await answerOf(world.append([said.user('u-1')], { ownerEpoch: 2 }))).toBe('owner_epoch_stale');
    expect(await answerOf(world.append([said.user('u-1')], { ownerEpoch: 3 }))).toBe('ok');
  });

  it('gives the epoch that it began, also where somebody has taken over again before it is answered', async () => {
    const world = new SessionInstallation();
    await world.open();
    const { store } = world.installation;
    const stop = store.feed.subscribe('another harness', () => {
      stop();
      store.seed('sessions', { ...world.row, owner_epoch: 3, version: world.row.version + 1 });
    });
    expect((await world.attach()).ownerEpoch).toBe(2);
  });

  it('is refused for others as long as somebody comes in between each time', async () => {
    const world = new SessionInstallation();
    await world.open();
    const { store } = world.installation;
    store.beforeCommit = () => {
      store.seed('sessions', { ...world.row, version: world.row.version + 1 });
    };
    expect(await answerOf(world.attach())).toBe('contended');
  });

  it('is refused while the disk does not take what was said: a later load must find it [D-71]', async () => {
    const world = new SessionInstallation();
    await world.open();
    await world.append([said.user('u-1')]);
    world.logs.writeFaults = [new Error('full')];
    expect(await answerOf(world.attach())).toBe('durability_failed');
    expect(world.row.owner_epoch).toBe(1);
    expect((await world.attach()).durableSeq).toBeGreaterThanOrEqual(3);
  });

  it('says what of the run is open, however much was called since', async () => {
    const world = new SessionInstallation();
    await world.open();
    await world.startRun();
    await world.turnWithCalls('c-1', 'c-2');
    world.installation.policy.ask();
    const asked = await world.propose('c-1');
    const packet = await world.attach();
    expect(packet).toMatchObject({
      loadedFrom: 'live',
      canResume: true,
      waitingCalls: ['c-1', 'c-2'],
      inProgress: [asked],
      nextSafe: ['propose_waiting_calls', 'wait_for_approval'],
    });
    expect(packet.pendingApprovals.map(({ tool_call_id }) => tool_call_id)).toEqual([asked]);
  });
});
