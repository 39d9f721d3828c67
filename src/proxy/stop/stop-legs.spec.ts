import { describe, expect, it } from '@jest/globals';
import { CANCEL } from '../../../test/builders/command-world.js';
import { AGENT, Installation, refundCapability, TENANT } from '../../../test/builders/installation.js';
import type { Manifest } from '../../capabilities/manifest.js';
import { StopRun } from '../../control/stop-run/stop-run.command.js';
import { StopRunHandler } from '../../control/stop-run/stop-run.handler.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { StopLegs } from './stop-legs.js';

const AT = '2031-01-01T10:00:00.000Z';
const ACCEPT: ToolCallCommand = {
  kind: 'record_acceptance',
  sentAt: AT,
  acceptance: { acceptedAt: AT, basis: 'ack', externalRequestId: 'job-1' },
};

class Bench {
  readonly installation: Installation;
  readonly legs: StopLegs;
  private orders = 0;

  constructor(changes: Parameters<typeof refundCapability>[0] = {}, more: Partial<Manifest> = {}) {
    const capability = refundCapability({ timeout: '30s', ...changes });
    const manifest = { ...capability.manifest, ...more };
    this.installation = new Installation({ capabilities: [{ ...capability, manifest }] });
    const { desk, gate, recorder, settings, log } = this.installation;
    this.legs = new StopLegs(desk, gate, recorder, settings, log);
  }

  args() {
    this.orders += 1;
    return { arguments: { orderId: `o-${this.orders}`, amountMinor: 1 } };
  }

  async stop(id: string, modelActive = false): Promise<string> {
    const runId = (await this.installation.call(id)).row.run_id;
    const { desk, commands } = this.installation;
    await new StopRunHandler(desk, commands).execute(new StopRun(AGENT, runId, modelActive, null, null));
    return runId;
  }

  step(runId: string): Promise<boolean> {
    return this.legs.step(TENANT, runId);
  }

  state = async (id: string) => (await this.installation.call(id)).state;

  get run() {
    return this.installation.store.rows('runs')[0];
  }
}

describe('a step of a stop', () => {
  it('ends what was not sent with its question, then the run, and says of each call how it stands', async () => {
    const bench = new Bench();
    const { installation } = bench;
    const authorized = await installation.authorized(bench.args());
    installation.policy.ask();
    const asked = await installation.propose(bench.args());
    const runId = await bench.stop(asked);
    expect(await bench.step(runId)).toBe(false);
    expect(await bench.state(authorized)).toMatchObject({ status: 'not_executed', reason: 'stopped' });
    expect((await installation.approvalOf(asked)).state).toMatchObject({ status: 'closed', reason: 'stopped' });
    expect(await bench.step(runId)).toBe(true);
    expect(bench.run?.status).toBe('stopped');
    expect(installation.store.events.at(-1)?.payload).toEqual({
      legs: {
        model: 'idle',
        callCount: 2,
        calls: [authorized, asked].toSorted().map((toolCallId) => ({ toolCallId, leg: 'not_started' })),
      },
    });
    const { length } = installation.store.units;
    expect(await bench.step(runId)).toBe(true);
    expect(installation.store.units).toHaveLength(length);
  });

  it('says once, because of the request, that what is on the wire cannot be stopped, and waits for its end', async () => {
    const bench = new Bench();
    const id = await bench.installation.propose(bench.args());
    const runId = await bench.stop(id);
    const requested = bench.installation.store.events.at(-1)?.envelope.eventId;
    await bench.step(runId);
    expect(bench.installation.store.events.at(-1)?.envelope).toMatchObject({
      eventType: 'external_action_irreversible',
      causationId: requested,
    });
    const { length } = bench.installation.store.units;
    expect([await bench.step(runId), await bench.step(runId)]).toEqual([false, false]);
    expect(bench.installation.store.units).toHaveLength(length);
    await bench.installation.record(id, { kind: 'mark_unknown', unknown: { cause: 'timeout' } });
    expect(await bench.step(runId)).toBe(true);
  });

  it('asks where the manifest says how, and waits for the answer', async () => {
    const bench = new Bench({ cancel: { ...CANCEL, timeout: '2s' } });
    const id = await bench.installation.propose(bench.args());
    const runId = await bench.stop(id);
    await bench.step(runId);
    expect(await bench.state(id)).toMatchObject({ cancellationRequested: true, cancelBy: '2031-01-01T10:00:02.000Z' });
    expect(await bench.step(runId)).toBe(false);
    expect(bench.run?.status).toBe('stopping');
  });

  it('leaves what the tool has taken on to whoever waits for its callback', async () => {
    const bench = new Bench({}, { lateResult: 'callback' });
    const id = await bench.installation.propose(bench.args());
    await bench.installation.record(id, ACCEPT);
    const runId = await bench.stop(id);
    await bench.step(runId);
    expect(await bench.step(runId)).toBe(true);
    expect([bench.run?.status, (await bench.state(id)).status]).toEqual(['stopped', 'accepted']);
  });

  it('takes a harness that does not report in time as lost', async () => {
    const bench = new Bench();
    const id = await bench.installation.authorized(bench.args());
    const runId = await bench.stop(id, true);
    await bench.step(runId);
    expect(await bench.step(runId)).toBe(false);
    bench.installation.clock.advance(bench.installation.settings.runs.modelCancelMs);
    expect(await bench.step(runId)).toBe(false);
    const lost = bench.installation.store.events.find(({ envelope }) => envelope.eventType === 'model.cancelled');
    expect([lost?.payload, lost?.envelope.producer]).toEqual([{ basis: 'harness_lost' }, 'recovery']);
    expect(await bench.step(runId)).toBe(true);
  });

  it('has nothing to do for a run that nobody stops', async () => {
    const bench = new Bench();
    await bench.installation.authorized(bench.args());
    const { length } = bench.installation.store.units;
    expect(await bench.step(bench.run?.run_id ?? '')).toBe(true);
    expect(await bench.step('run_never')).toBe(true);
    expect(bench.installation.store.units).toHaveLength(length);
  });
});
