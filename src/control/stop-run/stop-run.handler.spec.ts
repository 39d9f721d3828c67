import { describe, expect, it } from '@jest/globals';
import { AGENT, callerWith, Installation, OPERATOR } from '../../../test/builders/installation.js';
import type { Caller } from '../../identity/caller.js';
import { ReportModelCancelled } from '../report-model-cancelled/report-model-cancelled.command.js';
import { ReportModelCancelledHandler } from '../report-model-cancelled/report-model-cancelled.handler.js';
import { StopRun } from './stop-run.command.js';
import { StopRunHandler } from './stop-run.handler.js';

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? error,
  );

class Bench {
  readonly installation = new Installation();

  async run(): Promise<string> {
    return (await this.installation.call(await this.installation.authorized())).row.run_id;
  }

  stop(runId: string, more: { caller?: Caller; commandId?: string; modelActive?: boolean } = {}): Promise<unknown> {
    const { desk, commands } = this.installation;
    const { caller = AGENT, commandId = null, modelActive = false } = more;
    return codeOf(new StopRunHandler(desk, commands).execute(new StopRun(caller, runId, modelActive, null, commandId)));
  }

  report(runId: string, caller: Caller = AGENT): Promise<unknown> {
    return codeOf(
      new ReportModelCancelledHandler(this.installation.desk).execute(new ReportModelCancelled(caller, runId)),
    );
  }

  get status() {
    return this.installation.store.rows('runs')[0]?.status;
  }
}

describe('asking a run to stop', () => {
  it('is one unit: the command, and the request with the calls that are open', async () => {
    const bench = new Bench();
    const runId = await bench.run();
    expect(await bench.stop(runId)).toBe('accepted');
    expect(bench.installation.store.lastTypes).toEqual(['control.accepted', 'stop.requested']);
    const [call] = bench.installation.store.rows('tool_calls');
    expect(bench.installation.store.events.at(-1)?.payload).toEqual({
      scope: [call?.tool_call_id],
      modelActive: false,
      requestedBy: 'alice',
    });
    expect(bench.status).toBe('stopping');
  });

  it('is asked once: again under the same id is the same, under another is refused', async () => {
    const bench = new Bench();
    const runId = await bench.run();
    expect(await bench.stop(runId, { commandId: 'cmd-1' })).toBe('accepted');
    const { length } = bench.installation.store.units;
    expect(await bench.stop(runId, { commandId: 'cmd-1' })).toBe('accepted');
    expect(bench.installation.store.units).toHaveLength(length);
    expect(await bench.stop(runId)).toBe('run_stopping');
    expect(await bench.stop(runId, { commandId: 'cmd-1', modelActive: true })).toBe('command_id_conflict');
  });

  it('reaches runs of the own principal; an operator those of the tenant', async () => {
    const bench = new Bench();
    const runId = await bench.run();
    expect(await bench.stop(runId, { caller: callerWith({ actor: { sub: 'bob' } }) })).toBe('run_not_found');
    expect(await bench.stop(runId, { caller: { ...OPERATOR, tenant: 'globex' } })).toBe('run_not_found');
    expect(bench.status).toBe('running');
    expect(await bench.stop(runId, { caller: OPERATOR })).toBe('accepted');
  });
});

describe('the report that the model generates no more', () => {
  it('is a fact once, and only where a model was active', async () => {
    const bench = new Bench();
    const runId = await bench.run();
    expect(await bench.report(runId)).toBe('not_at_safe_point');
    await bench.stop(runId, { modelActive: true });
    expect(await bench.report(runId)).toBe('accepted');
    expect(bench.installation.store.lastTypes).toEqual(['model.cancelled']);
    const { length } = bench.installation.store.units;
    expect(await bench.report(runId)).toBe('accepted');
    expect(bench.installation.store.units).toHaveLength(length);
    expect(await bench.report(runId, callerWith({ actor: { sub: 'bob' } }))).toBe('run_not_found');
  });
});
