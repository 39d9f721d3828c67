import { describe, expect, it } from '@jest/globals';
import { answerOf, KEY, SessionInstallation } from '../../test/builders/session-installation.js';
import { agentStateOf } from '../../test/builders/session-world.js';
import type { Unit } from '../storage/unit.js';

async function running(): Promise<SessionInstallation> {
  const world = new SessionInstallation();
  await world.open();
  await world.startRun();
  return world;
}

const units = ({ installation }: SessionInstallation): readonly string[] =>
  installation.store.units.map((unit: Unit) =>
    unit.appends.flatMap(({ events }) => events.map(({ type }) => type)).join(' '),
  );
const interruption = (world: SessionInstallation) =>
  world.record.commitInterruption(KEY, {
    runId: world.runRow.run_id,
    turnId: 'turn-1',
    lastSeq: 5,
    lastEventId: null,
  });

describe('what recovery states of a run', () => {
  it('is said once, however often a load is repeated, with the checkpoint where it goes on [D-58, R11]', async () => {
    const world = await running();
    await interruption(world);
    await interruption(world);
    expect(world.runRow.status).toBe('interrupted');
    expect(units(world).filter((types) => types === 'run.interrupted checkpoint.created')).toHaveLength(1);
    const [said] = world.installation.store.events.slice(-2);
    expect(said?.envelope).toMatchObject({ producer: 'recovery', synthetic: true });
    expect(said?.payload).toEqual({ lastSeq: 5 });
  });

  it('is the suspension that was under way', async () => {
    const world = await running();
    const { desk } = world.installation;
    world.logs.writeFaults = [new Error('full')];
    await world.moveRun({ kind: 'request_suspend', request: { waitLimitMs: 1 } });
    await interruption(world);
    expect([world.runRow.status, (await desk.read.openCheckpoints('acme', world.runRow.run_id)).length]).toEqual([
      'suspended',
      2,
    ]);
  });

  it('is nothing for a run that has ended, and none that is not there', async () => {
    const world = await running();
    await world.endRun();
    const before = units(world).length;
    await interruption(world);
    await world.record.markNotResumable(KEY, world.runRow.run_id);
    await world.record.markNotResumable(KEY, 'run_gone');
    expect(units(world)).toHaveLength(before);
  });

  it('is looked at again when somebody else moved the run, and given up with a code after three times', async () => {
    const world = await running();
    const { store } = world.installation;
    let moves = 1;
    store.beforeCommit = () => {
      if (moves-- > 0) store.seed('runs', { ...world.runRow, version: world.runRow.version + 1 });
    };
    moves = 99;
    expect(await answerOf(interruption(world))).toBe('contended');
  });

  it('fails as the store does', async () => {
    const world = await running();
    world.installation.store.beforeCommit = () => {
      throw new Error('the store is gone');
    };
    await expect(interruption(world)).rejects.toThrow('the store is gone');
  });
});

describe('a mark that a run cannot go on', () => {
  it('gives up what was not sent, with its question, and leaves what was sent to be found out [U-15, P-32]', async () => {
    const world = await running();
    await world.turnWithCalls('c-1', 'c-2');
    const sent = await world.propose('c-1');
    await world.installation.record(sent, { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null });
    world.installation.policy.ask();
    const asked = await world.propose('c-2');
    await world.record.markNotResumable(KEY, world.runRow.run_id);
    expect(world.runRow.status).toBe('ended_unrecorded');
    expect((await world.installation.call(sent)).state.status).toBe('result_unknown');
    expect((await world.installation.call(asked)).state).toMatchObject({ status: 'not_executed', reason: 'run_ended' });
    expect((await world.installation.approvalOf(asked)).state).toMatchObject({
      status: 'closed',
      reason: 'run_not_resumable',
    });
    expect(world.installation.store.rows('checkpoints').filter(({ status }) => status === 'open')).toEqual([]);
  });

  it('gives up what is proposed while it is being made, too', async () => {
    const world = await running();
    await world.turnWithCalls('c-1');
    const { store, policy } = world.installation;
    policy.ask();
    let late: Promise<string> | null = null;
    store.beforeCommit = (unit) => {
      const marks = unit.appends.some(({ events }) => events.some(({ type }) => type === 'run.marked_not_resumable'));
      if (!marks || late !== null) return;
      // Somebody else's unit comes first.
      late = Promise.resolve('');
      store.seed('tool_calls', { ...store.rows('tool_calls')[0], status: 'proposed' } as never);
    };
    const asked = await world.propose('c-1');
    store.seed('tool_calls', { ...store.rows('tool_calls')[0], status: 'result_unknown' } as never);
    await world.record.markNotResumable(KEY, world.runRow.run_id);
    expect((await world.installation.call(asked)).state.status).toBe('not_executed');
    expect(world.runRow.status).toBe('ended_unrecorded');
  });
});

describe('what recovery states of a log', () => {
  it('is one repair per content that was found torn, and one import', async () => {
    const world = await running();
    const repair = { lastSeq: 4, oldRevision: 'r-1' };
    await world.record.commitRepaired(KEY, repair);
    await world.record.commitRepaired(KEY, repair);
    await world.record.commitRepaired(KEY, { ...repair, oldRevision: 'r-2' });
    const state = { sourceDigest: 'digest', agentState: agentStateOf(KEY.sessionId) };
    await world.record.commitImported(KEY, state);
    await world.record.commitImported(KEY, state);
    const said = units(world).filter((types) => types.startsWith('session.repaired') || types === 'session.imported');
    expect(said).toEqual(['session.repaired', 'session.repaired', 'session.imported']);
    expect(world.row.owner_epoch).toBe(1);
  });

  it('is nothing where there is no such session', async () => {
    const world = new SessionInstallation();
    await world.record.commitRepaired(KEY, { lastSeq: 1, oldRevision: 'r' });
    await world.record.commitImported(KEY, { sourceDigest: 'd', agentState: agentStateOf('x') });
    expect(units(world)).toEqual([]);
  });

  it('reaches operators without content, and eight characters of the id at most', async () => {
    const world = await running();
    const key = { tenant: 'acme', sessionId: 'a-very-long-name-of-a-session' };
    world.record.audit('persistence.torn_tail_repaired', key, { lastSeq: 4, rows: [{ text: 'words' }] });
    const line = world.installation.log.lines.at(-1);
    expect(line).toMatchObject({ level: 'warn', message: 'persistence.torn_tail_repaired', fields: { lastSeq: 4 } });
    expect(JSON.stringify(line)).not.toContain('words');
    expect(JSON.stringify(line)).not.toContain('a-very-long-name');
  });
});

describe('the governed events of a session', () => {
  it('are all of them and those of no other, from after a position on', async () => {
    const world = await running();
    await world.open({}, null, 'another');
    for (const oldRevision of ['r-1', 'r-2', 'r-3']) {
      await world.record.commitRepaired(KEY, { lastSeq: 3, oldRevision });
    }
    const positions: number[] = [];
    for await (const { event } of world.record.governedEvents(KEY, 1)) positions.push(event.position);
    const own = world.installation.store.events.filter(({ envelope }) => envelope.sessionId === KEY.sessionId);
    expect(positions).toEqual(own.map(({ position }) => position).filter((position) => position > 1));
  });
});
