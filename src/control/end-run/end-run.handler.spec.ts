import { describe, expect, it } from '@jest/globals';
import { AGENT, callerWith, Installation } from '../../../test/builders/installation.js';
import { answerOf, SessionInstallation } from '../../../test/builders/session-installation.js';
import { artifact, openRun, state, subagent } from '../../../test/builders/run-chain-examples.js';
import { refusal } from '../../../test/builders/session-world.js';
import { EndSubagent } from '../end-subagent/end-subagent.command.js';
import { EndSubagentHandler } from '../end-subagent/end-subagent.handler.js';
import type { Caller } from '../../identity/caller.js';
import { EndRun, type RunEnding } from './end-run.command.js';
import { EndRunHandler } from './end-run.handler.js';

const FAIL: RunEnding = { how: 'fail', code: 'model_failed', message: 'the model gave up' };

async function end(
  installation: Installation,
  runId: string,
  ending: RunEnding = { how: 'complete' },
  caller: Caller = AGENT,
): Promise<unknown> {
  try {
    const { sessions } = new SessionInstallation(installation);
    await new EndRunHandler(installation.desk, sessions).execute(new EndRun(caller, runId, ending));
    return 'ended';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

const statusOf = ({ store }: Installation, runId: string) =>
  store.rows('runs').find((row) => row.run_id === runId)?.status;

describe('a run whose harness says that it is complete', () => {
  it('is complete when nothing is open, and says so again when asked again', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    expect(await end(installation, runId)).toBe('ended');
    expect(await end(installation, runId)).toBe('ended');
    expect(statusOf(installation, runId)).toBe('completed');
    expect(installation.store.lastTypes).toEqual(['run.completed']);
    expect(await end(installation, runId, FAIL)).toBe('run_already_ended');
  });

  it('is not while people are asked, a call waits to be sent, or one is on the wire', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    installation.policy.ask();
    await installation.propose({ runId });
    expect(await end(installation, runId)).toBe('run_has_open_work');
    installation.policy.allow();
    const other = await openRun(installation, 'another');
    await installation.propose({ runId: other, arguments: { orderId: 'o-2', amountMinor: 1 } });
    expect(await end(installation, other)).toBe('run_has_open_work');
  });

  it('hands over what others will find out about, by name', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    const id = await installation.propose({ runId });
    await installation.record(id, { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null });
    expect(await end(installation, runId)).toBe('ended');
    expect(installation.store.events.at(-1)?.payload).toEqual({ handedOver: [id] });
  });

  it('looks again when a call comes in that moment', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    const id = await installation.propose({ runId });
    const { row } = await installation.call(id);
    await installation.record(id, { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null });
    installation.store.beforeCommit = () => {
      installation.store.beforeCommit = () => {};
      installation.store.seed('tool_calls', { ...row, tool_call_id: 'call_new', status: 'proposed' });
    };
    expect(await end(installation, runId)).toBe('run_has_open_work');
  });

  it('is of its own principal', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    const other = callerWith({ actor: { sub: 'alice', act: { sub: 'agent-8' } } });
    expect(await end(installation, runId, { how: 'complete' }, other)).toBe('run_not_found');
    expect(await end(installation, runId, FAIL, { ...AGENT, tenant: 'umbrella' })).toBe('run_not_found');
  });
});

describe('a run whose harness says that it has failed', () => {
  it('gives up what was not sent, with its question, and then ends', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    installation.policy.ask();
    const asked = await installation.propose({ runId });
    installation.policy.allow();
    const authorized = await installation.authorized({ runId, arguments: { orderId: 'o-2', amountMinor: 1 } });
    expect(await end(installation, runId, FAIL)).toBe('ended');
    expect((await installation.call(asked)).state).toMatchObject({ status: 'not_executed', reason: 'run_ended' });
    expect((await installation.call(authorized)).state.status).toBe('not_executed');
    expect((await installation.approvalOf(asked)).state).toMatchObject({ status: 'closed', reason: 'run_ended' });
    expect(installation.store.rows('runs')[0]).toMatchObject({ status: 'failed', end_reason: 'model_failed' });
  });

  it('leaves what is on the wire to its end', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    const id = await installation.propose({ runId });
    expect(await end(installation, runId, FAIL)).toBe('ended');
    expect((await installation.call(id)).state.status).toBe('dispatching');
  });

  it('gives up nothing when it cannot fail any more', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    installation.policy.ask();
    const asked = await installation.propose({ runId });
    const [row] = installation.store.rows('runs');
    if (row === undefined) throw new Error('there is no run');
    installation.store.seed('runs', { ...row, status: 'stopping' });
    expect(await end(installation, runId, FAIL)).toBe('run_stopping');
    expect((await installation.call(asked)).state.status).toBe('proposed');
  });
});

describe('after the end of a run', () => {
  it('a helper that comes late is recorded and changes nothing of the run', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    const helper = await state(installation, runId, subagent());
    await end(installation, runId);
    const ended = await new EndSubagentHandler(installation.desk).execute(
      new EndSubagent(AGENT, runId, helper.objectId, { status: 'completed', resultRef: 'r-1' }),
    );
    expect(ended).toMatchObject({ late: true, status: 'completed' });
    expect(installation.store.lastTypes).toEqual(['subagent.late_result']);
    expect(statusOf(installation, runId)).toBe('completed');
  });

  it('nothing else is stated about it', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    await end(installation, runId);
    await expect(state(installation, runId, artifact())).rejects.toMatchObject({ code: 'run_already_ended' });
  });

  it('its label opens a new one', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    expect(await openRun(installation)).toBe(runId);
    await end(installation, runId);
    expect(await openRun(installation)).not.toBe(runId);
  });
});

describe('a run of a session', () => {
  it('is not complete while its turn is open, and is when that has ended [R15]', async () => {
    const world = new SessionInstallation();
    await world.open();
    const runId = await world.startRun();
    await world.turnWithCalls();
    expect(await answerOf(world.endRun())).toBe('run_has_open_work');
    expect(statusOf(world.installation, runId)).toBe('running');
    const place = { runId, turnId: 'turn-1' };
    await world.append([
      { eventType: 'step.ended', ...place, stepId: 'step-1', payload: { outcome: 'completed' } },
      { eventType: 'turn.ended', ...place, payload: { outcome: 'completed' } },
    ]);
    expect(await answerOf(world.endRun())).toBe('ok');
  });

  it('is not complete while its log cannot be read, and may still be given up', async () => {
    const world = new SessionInstallation();
    await world.open();
    await world.startRun();
    await world.flush();
    const next = await world.restarted();
    next.logs.loadFaults = [refusal('session_log_corrupt')];
    expect(await answerOf(next.endRun())).toBe('session_log_corrupt');
    expect(await answerOf(next.endRun(FAIL))).toBe('ok');
  });

  it('that failed has its turn closed for it [R16]', async () => {
    const world = new SessionInstallation();
    await world.open();
    await world.startRun();
    await world.turnWithCalls('c-1');
    expect(await answerOf(world.endRun(FAIL))).toBe('ok');
    await world.quiet();
    expect(world.live.facts.turn).toMatchObject({ phase: 'ended', outcome: 'interrupted' });
    expect(world.live.state().agentState).toMatchObject({ isRunning: false, lastError: { code: 'model_failed' } });
  });
});
