import { describe, expect, it } from '@jest/globals';
import { said } from '../../../test/builders/conversation-examples.js';
import { AGENT } from '../../../test/builders/installation.js';
import { answerOf, KEY, SessionInstallation } from '../../../test/builders/session-installation.js';
import { refusal } from '../../../test/builders/session-world.js';
import { AppendEvents, type Batch } from './append-events.command.js';
import { AppendEventsHandler } from './append-events.handler.js';

async function opened(): Promise<SessionInstallation> {
  const world = new SessionInstallation();
  await world.open();
  return world;
}

function append(world: SessionInstallation, more: Partial<Batch> = {}) {
  const batch = { ownerEpoch: 1, expectedSeq: 3, events: [said.user('u-1')], isAtomic: false, isDurable: false };
  const handler = new AppendEventsHandler(world.installation.desk, world.sessions);
  return handler.execute(new AppendEvents(AGENT, KEY.sessionId, { ...batch, ...more }));
}

describe('appending', () => {
  it('is accepted at once, durable when it is asked for, and the same again is no second one [D-01, D-19]', async () => {
    const world = await opened();
    const first = await append(world);
    expect(first).toMatchObject({ headSeq: 3, durableSeq: 2, durable: false, replayed: false });
    const again = await append(world, { isDurable: true });
    expect(again).toMatchObject({ headSeq: 3, durableSeq: 3, durable: true, replayed: true, eventIds: first.eventIds });
    expect(await answerOf(append(world, { events: [said.user('u-2')] }))).toBe('seq_conflict');
  });

  it('claims nothing when the disk does not take it, and the same again is made durable when it does [A-25]', async () => {
    const world = await opened();
    world.logs.writeFaults = [new Error('full'), new Error('full')];
    expect(await answerOf(append(world, { isDurable: true }))).toBe('durability_failed');
    expect(await answerOf(world.flush())).toBe('durability_failed');
    expect(world.live.status()).toMatchObject({ durableSeq: 2, automaticPaused: true });
    expect(await append(world, { isDurable: true })).toMatchObject({ durable: true, durableSeq: 3, replayed: true });
    expect(await world.flush()).toEqual({ durableSeq: 3, headSeq: 3 });
  });

  it('is never told that the log of the disk is elsewhere as if the caller were', async () => {
    const world = await opened();
    world.logs.writeFaults = [refusal('seq_conflict')];
    expect(await answerOf(append(world, { isDurable: true }))).toBe('durability_failed');
  });

  it('is refused for a harness that somebody has relieved, even when it asked before [P-35]', async () => {
    const world = await opened();
    const attaching = world.attach();
    const appending = append(world);
    await attaching;
    const answer = await answerOf(appending);
    // Before the other one was told where the log ends, or not at all.
    if (answer === 'ok') expect((await attaching).headSeq).toBeGreaterThanOrEqual(3);
    else expect(answer).toBe('owner_epoch_stale');
    expect(await answerOf(append(world, { expectedSeq: world.live.facts.headSeq + 1 }))).toBe('owner_epoch_stale');
  });

  it('and a deletion leave nothing behind, whichever comes first', async () => {
    const world = await opened();
    await Promise.allSettled([append(world), world.delete(), append(world, { events: [said.user('u-2')] })]);
    world.timers.advance(1000);
    await world.quiet();
    expect([...world.logs.artefacts.keys()]).toEqual([]);
    expect(await answerOf(append(world))).toBe('session_deleted');
  });
});
