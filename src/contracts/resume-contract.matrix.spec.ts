import { describe, expect, it } from '@jest/globals';
import { AGENT, Installation, refundCapability, TENANT } from '../../test/builders/installation.js';
import { deliveredContract } from '../../test/builders/resume-examples.js';
import { completion, failure } from '../../test/builders/tool-call-examples.js';
import { StopRun } from '../control/stop-run/stop-run.command.js';
import { StopRunHandler } from '../control/stop-run/stop-run.handler.js';
import { SuspendRun } from '../control/suspend-run/suspend-run.command.js';
import { SuspendRunHandler } from '../control/suspend-run/suspend-run.handler.js';
import type { ToolCallCommand } from '../domain/tool-call/tool-call.commands.js';
import { TOOL_CALL_STATUSES, type ToolCallStatus } from '../domain/tool-call/tool-call.state.js';
import type { Executor } from '../proxy/executor/executor.worker.js';
import { StopLegs } from '../proxy/stop/stop-legs.js';
import { StoppingRuns } from '../proxy/stop/stopping-runs.worker.js';
import { AuthorizedCalls } from '../proxy/sweep/authorized-calls.js';
import { LeftBehind } from '../proxy/sweep/left-behind.js';
import { Patience } from '../proxy/sweep/patience.js';
import { OrphanedAttempts } from '../proxy/sweep/orphaned-attempts.js';
import type { AutomaticAction } from './core/resume-contract.js';

/** What the tool accepts it tells the end of. */
const POLLED = { lateResult: 'poll', pending: { status: [202], referenceAt: '/ref' } };

const contract = deliveredContract();
const AT = '2031-01-01T10:00:00.000Z';

/** What brings a call that was just dispatched to each status on the wire and behind it. */
const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' } };
const START: ToolCallCommand = {
  kind: 'start_reconciliation',
  start: { strategy: 'query_by_idempotency_key', deadline: '2031-01-01T11:00:00.000Z' },
};
const HAND_OFF: ToolCallCommand = {
  kind: 'hand_off',
  handoff: { reason: 'attempts_exhausted', evidenceRefs: [] },
  opened: { handoffId: 'hnd_1', packet: {} },
};
const WAY: Partial<Record<ToolCallStatus, readonly ToolCallCommand[]>> = {
  dispatched: [{ kind: 'record_sent', sent: { dispatchedAt: AT } }],
  accepted: [
    { kind: 'record_acceptance', sentAt: AT, acceptance: { acceptedAt: AT, basis: 'ack', externalRequestId: 'r' } },
  ],
  result_unknown: [UNKNOWN],
  reconciling: [UNKNOWN, START],
  manual_handoff: [UNKNOWN, HAND_OFF],
  completed: [{ kind: 'complete', completion: completion('direct'), acceptedAt: AT, sentAt: AT }],
  failed: [{ kind: 'fail', failure: failure(), acceptedAt: AT, sentAt: AT }],
};

/** An installation in which a process died with one call in a status; `restart` is the first sweep of the next. */
class Interrupted {
  readonly installation = new Installation({ capabilities: [refundCapability({ timeout: '30s', ...POLLED })] });
  readonly sent: string[] = [];

  async callIn(status: ToolCallStatus): Promise<string> {
    const { installation } = this;
    if (status === 'proposed') installation.policy.ask();
    if (status === 'denied') installation.policy.deny('no');
    const waits = status === 'authorized' || status === 'not_executed';
    const id = waits ? await installation.authorized() : await installation.propose();
    if (status === 'not_executed') await installation.record(id, { kind: 'close', closing: { reason: 'cancelled' } });
    await installation.record(id, ...(WAY[status] ?? []));
    for (const row of installation.store.rows('attempts')) {
      installation.store.seed('attempts', { ...row, owner: 'ins_0', owner_epoch: 1 });
    }
    expect((await installation.call(id)).state.status).toBe(status);
    return id;
  }

  async restart(): Promise<void> {
    const { desk, recorder, settings, log, gate } = this.installation;
    this.installation.clock.advance(1_000);
    const executor = {
      enqueue: ({ toolCallId }: { toolCallId: string }) => void this.sent.push(toolCallId),
      pump: () => {},
      isCarrying: () => false,
    } as unknown as Executor;
    const authorized = new AuthorizedCalls(desk, new LeftBehind(desk, settings, contract), executor, recorder, log);
    authorized.start(() => {});
    await new OrphanedAttempts(desk, executor, recorder, log, new Patience(gate, contract)).tick();
    await authorized.tick();
    await new StoppingRuns(desk, new StopLegs(desk, gate, recorder, settings, log), log).tick();
  }

  /** What has become of the call: status, whether it is in line to be judged and sent, whether it is to be looked up. */
  async outcome(id: string): Promise<readonly unknown[]> {
    const { state } = await this.installation.call(id);
    const work = await this.installation.store.read.workOf(TENANT, id);
    return [state.status, this.sent.includes(id), work?.kind === 'reconcile'];
  }
}

const EXPECTED: Readonly<Record<AutomaticAction, (status: string) => readonly unknown[]>> = {
  wait: (status) => [status, false, false],
  rejudge_and_send: (status) => [status, true, false],
  record_unknown: () => ['result_unknown', false, true],
  wait_for_result: (status) => [status, false, false],
  look_up: (status) => [status, false, true],
  finish_stop: () => ['stopped', false, false],
};

describe('after a restart the sweeps do what the contract says of a call that was', () => {
  it.each(TOOL_CALL_STATUSES)('%s', async (status) => {
    const interrupted = new Interrupted();
    const id = await interrupted.callIn(status);
    await interrupted.restart();
    expect(await interrupted.outcome(id)).toEqual(EXPECTED[contract.rowOf(status).automatic](status));
  });
});

describe('after a restart the sweeps do what the contract says of a run that was', () => {
  const runOf = async (interrupted: Interrupted, id: string): Promise<string> =>
    (await interrupted.installation.call(id)).row.run_id;
  const statusOf = ({ installation: { store } }: Interrupted) => store.rows('runs')[0]?.status;

  it('being stopped', async () => {
    const interrupted = new Interrupted();
    const id = await interrupted.callIn('authorized');
    const { desk, commands } = interrupted.installation;
    await new StopRunHandler(desk, commands).execute(
      new StopRun(AGENT, await runOf(interrupted, id), false, null, null),
    );
    expect(statusOf(interrupted)).toBe('stopping');
    await interrupted.restart();
    await interrupted.restart();
    expect(contract.rowOf('run_stopping').automatic).toBe('finish_stop');
    expect(statusOf(interrupted)).toBe('stopped');
    expect((await interrupted.outcome(id))[0]).toBe('not_executed');
  });

  it('suspended', async () => {
    const interrupted = new Interrupted();
    const id = await interrupted.callIn('proposed');
    const { desk, commands, settings } = interrupted.installation;
    await new SuspendRunHandler(desk, commands, settings).execute(
      new SuspendRun(AGENT, await runOf(interrupted, id), null, null),
    );
    await interrupted.restart();
    expect(contract.rowOf('run_suspended').automatic).toBe('wait');
    expect(statusOf(interrupted)).toBe('suspended');
    expect(await interrupted.outcome(id)).toEqual(['proposed', false, false]);
  });
});

describe('an allowed call of an older version', () => {
  it('ends as superseded with its approval, where the contract says so, and nothing of it is sent', async () => {
    const interrupted = new Interrupted();
    const id = await interrupted.callIn('authorized');
    const { desk, settings, store, clock } = interrupted.installation;
    clock.advance(1_000);
    const leftBehind = new LeftBehind(desk, settings, { authorized: () => 'close', waitsForAccepted: true });
    leftBehind.start();
    const row = store.rows('tool_calls').find(({ tool_call_id }) => tool_call_id === id);
    if (row === undefined) throw new Error('no call');
    expect(await leftBehind.verdictOn(row)).toBe('close');
    await leftBehind.close(row);
    expect((await interrupted.installation.call(id)).state).toMatchObject({
      status: 'not_executed',
      reason: 'superseded',
    });
  });

  it('waits until an operator lets it go, where the contract says so', async () => {
    const interrupted = new Interrupted();
    const id = await interrupted.callIn('authorized');
    const { desk, settings, store, clock } = interrupted.installation;
    clock.advance(1_000);
    const leftBehind = new LeftBehind(desk, settings, { authorized: () => 'wait', waitsForAccepted: true });
    leftBehind.start();
    const row = store.rows('tool_calls').find(({ tool_call_id }) => tool_call_id === id);
    if (row === undefined) throw new Error('no call');
    expect(await leftBehind.verdictOn(row)).toBe('wait');
    leftBehind.release();
    expect(await leftBehind.verdictOn(row)).toBe('send');
  });
});
