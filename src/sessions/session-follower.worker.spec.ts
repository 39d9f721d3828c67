import { describe, expect, it } from '@jest/globals';
import { said } from '../../test/builders/conversation-examples.js';
import { SessionInstallation } from '../../test/builders/session-installation.js';

const SUSPEND = { kind: 'request_suspend', request: { waitLimitMs: 60_000 } } as const;
const STOP = { kind: 'request_stop', request: { scope: [], modelActive: false, requestedBy: 'olga' } } as const;
const STOPPED = { kind: 'stop', stop: { legs: {} }, openCalls: 0 } as const;

async function running(): Promise<SessionInstallation> {
  const world = new SessionInstallation();
  await world.open();
  await world.startRun();
  return world;
}

const errors = ({ installation }: SessionInstallation) =>
  installation.log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields['error']);

const unknown = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null } as const;

describe('a run that has ended', () => {
  it('has its turn closed and its last snapshot saved, once [R14, A-108]', async () => {
    const world = await running();
    await world.turnWithCalls('c-1');
    await world.moveRun(STOP, STOPPED);
    await world.quiet();
    expect(world.live.facts.turn).toMatchObject({ phase: 'ended', outcome: 'stopped' });
    expect(world.snapshots.stored).toMatchObject({ snapshot: { agentState: { isRunning: false } } });
    await world.append([said.user('u-2')]);
    await world.quiet();
    expect(world.types.filter((type) => type === 'turn.ended')).toHaveLength(1);
  });

  it('keeps a turn open for a call that nobody knows the result of, and says its answer first when it comes', async () => {
    const world = await running();
    await world.turnWithCalls('c-1');
    const id = await world.propose('c-1');
    await world.installation.record(id, unknown);
    await world.moveRun(STOP, STOPPED);
    await world.quiet();
    expect([world.live.hasOpenTurn, errors(world)]).toEqual([true, []]);
    expect(world.installation.log.lines.filter(({ message }) => message.includes('observer'))).toEqual([]);
    await world.installation.record(
      id,
      {
        kind: 'start_reconciliation',
        start: { strategy: 'query_by_idempotency_key', deadline: '2031-01-02T00:00:00.000Z' },
      },
      {
        kind: 'resolve_happened',
        resolution: { verdict: 'happened', evidenceRefs: ['look-up-1'] },
        completion: { basis: 'reconciliation', result: null, resultDigest: 'none', resultTruncated: false },
      },
    );
    await world.quiet();
    await world.flush();
    expect(world.types.slice(-4)).toEqual(['tool.call.completed', 'tool.message', 'step.ended', 'turn.ended']);
    const answer = world.live.state().agentState.history.messages.at(-1);
    expect(answer).toMatchObject({ role: 'tool', callId: 'c-1', disposition: 'completed' });
  });

  it('is seen to once more after a restart where its turn waits, without end', async () => {
    const world = await running();
    await world.turnWithCalls('c-1');
    await world.installation.record(await world.propose('c-1'), unknown);
    await world.moveRun(STOP, STOPPED);
    await world.flush();
    const next = await world.restarted();
    await next.attach();
    await next.quiet();
    expect([next.live.hasOpenTurn, errors(next)]).toEqual([true, []]);
    expect(next.installation.log.lines.map(({ message }) => message)).not.toContain('persistence.observer_failed');
  });

  it('of which neither the end nor its mark can be saved is reported, and its session takes no further run [A-113]', async () => {
    const world = await running();
    world.snapshots.saveFault = new Error('full');
    world.snapshots.markFault = new Error('full');
    await world.moveRun({ kind: 'complete', completion: { handedOver: [] }, openCalls: 0 });
    await world.quiet();
    expect([world.live.notResumable, world.coordinator.saves.isDegraded]).toEqual([true, true]);
    expect(errors(world)).toHaveLength(1);
    await expect(world.startRun('run-2')).rejects.toMatchObject({ code: 'state_save_failed' });
    world.snapshots.saveFault = null;
    await world.startRun('run-2');
    expect([world.live.notResumable, world.coordinator.saves.isDegraded]).toEqual([false, false]);
  });
});

describe('a run that is to be suspended', () => {
  it('is at the next safe point, with a checkpoint that names what is on disk, and a snapshot [R9, A-101]', async () => {
    const world = await running();
    await world.turnWithCalls();
    await world.moveRun(SUSPEND);
    await world.quiet();
    expect(world.runRow.status).toBe('suspended');
    const [checkpoint] = world.installation.store.events.filter(({ payload }) => payload?.['kind'] === 'suspended');
    expect(checkpoint?.payload?.['seq']).toBeGreaterThan(0);
    expect(world.snapshots.stored).toMatchObject({
      snapshot: { agentState: { pendingRunCheckpoint: { kind: 'suspended' } } },
    });
  });

  it('waits for its model, and is cut when that takes longer than it may [A-102, A-104]', async () => {
    const world = await running();
    const place = { runId: world.runRow.run_id, turnId: 'turn-1' };
    await world.append([
      { eventType: 'turn.started', ...place, payload: {} },
      { eventType: 'step.started', ...place, stepId: 'step-1', payload: {} },
    ]);
    await world.moveRun(SUSPEND);
    await world.quiet();
    await world.follower.tick();
    expect(world.runRow.status).toBe('suspending');
    world.installation.clock.advance(60_000);
    await world.follower.tick();
    await world.quiet();
    expect(world.runRow.status).toBe('suspended');
    await world.flush();
    expect(world.types).toEqual(expect.arrayContaining(['step.ended', 'run.suspended']));
    expect(world.live.hasOpenTurn).toBe(true);
  });

  it('waits for a tool that runs, asks nothing of it, and goes without it after the wait [A-102, A-103, A-104]', async () => {
    const world = await running();
    await world.turnWithCalls('c-1');
    const id = await world.propose('c-1');
    await world.moveRun(SUSPEND);
    await world.quiet();
    await world.follower.tick();
    expect(world.runRow.status).toBe('suspending');
    world.installation.clock.advance(60_000);
    await world.follower.tick();
    expect(world.runRow.status).toBe('suspended');
    await world.flush();
    // Nobody says of a call that was sent what it did not do: its turn waits for what is found out.
    expect(world.types).not.toContain('tool.message');
    expect(world.types).not.toContain('tool.cancellation_requested');
    expect(world.live.facts.turn).toMatchObject({ unanswered: ['c-1'], openCalls: [id] });
    expect(world.snapshots.stored).toMatchObject({ snapshot: { agentState: { isRunning: true } } });
  });

  it('arrives as soon as the tool is not known to run any more, or people are waited for', async () => {
    const world = await running();
    await world.turnWithCalls('c-1');
    const id = await world.propose('c-1');
    await world.moveRun(SUSPEND);
    await world.quiet();
    await world.installation.record(id, unknown);
    await world.quiet();
    expect(world.runRow.status).toBe('suspended');
    const asking = await running();
    await asking.turnWithCalls('c-1');
    asking.installation.policy.ask();
    await asking.propose('c-1');
    await asking.moveRun(SUSPEND);
    await asking.quiet();
    expect(asking.runRow.status).toBe('suspended');
  });

  it('stays on its way while the disk does not take what was said, and arrives when it does [A-114]', async () => {
    const world = await running();
    world.logs.writeFaults = [new Error('full')];
    await world.moveRun(SUSPEND);
    await world.quiet();
    expect(world.runRow.status).toBe('suspending');
    await world.follower.tick();
    expect([world.runRow.status, world.snapshots.marks]).toEqual(['suspended', 0]);
  });

  it('whose session is not in memory has nobody to wait for, and its turn is closed when it is loaded [R11]', async () => {
    const world = await running();
    await world.turnWithCalls('c-1');
    await world.flush();
    const next = await world.restarted();
    await next.moveRun(SUSPEND);
    await next.follower.tick();
    expect([next.runRow.status, next.coordinator.all()]).toEqual(['suspended', []]);
    const packet = await next.attach();
    expect(packet).toMatchObject({ waitingCalls: [], nextSafe: ['resume_run', 'new_model_call'] });
    expect(next.live.facts.turn).toMatchObject({ outcome: 'interrupted' });
  });
});

describe('idle sessions', () => {
  it('are let go of, but none that somebody follows or whose turn is open', async () => {
    const world = await running();
    const stop = world.live.onDurable(() => {});
    world.installation.clock.advance(600_000);
    await world.follower.tick();
    expect(world.coordinator.all()).toHaveLength(1);
    stop();
    await world.turnWithCalls('c-1');
    world.installation.clock.advance(600_000);
    await world.follower.tick();
    expect(world.coordinator.all()).toHaveLength(1);
    await world.moveRun(STOP, STOPPED);
    await world.quiet();
    world.installation.clock.advance(600_000);
    await world.follower.tick();
    expect(world.coordinator.all()).toEqual([]);
    expect(await world.append([said.user('u-9')])).toMatchObject({ replayed: false });
  });
});
