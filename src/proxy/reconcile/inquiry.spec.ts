import { describe, expect, it } from '@jest/globals';
import { Installation, OPERATOR, refundCapability } from '../../../test/builders/installation.js';
import { StopRunHandler } from '../../control/stop-run/stop-run.handler.js';
import { StopRun } from '../../control/stop-run/stop-run.command.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { HttpConnector } from '../connectors/http.connector.js';
import { Inquiry, type Reconciling } from './inquiry.js';

const REPLAY = { effect: 'replay_by_key', idempotency: { replayAsProbe: true }, probe: undefined };

const START: ToolCallCommand = {
  kind: 'start_reconciliation',
  start: { strategy: 'query_by_idempotency_key', deadline: '2031-01-01T11:00:00.000Z' },
};

class Bench {
  readonly installation = new Installation({ capabilities: [refundCapability(REPLAY)] });
  replays = 0;
  id = '';

  /** On the wire, with what else becomes of it there, and then unknown. */
  async unknown(...onTheWire: readonly ToolCallCommand[]): Promise<this> {
    this.id = await this.installation.propose();
    await this.installation.record(
      this.id,
      ...onTheWire,
      { kind: 'mark_unknown', unknown: { cause: 'timeout' } },
      START,
    );
    return this;
  }

  async stopRun(): Promise<this> {
    const { desk, commands } = this.installation;
    const { row } = await this.installation.call(this.id);
    await new StopRunHandler(desk, commands).execute(new StopRun(OPERATOR, row.run_id, false, null, null));
    return this;
  }

  /** Whether the question was asked. */
  async ask(): Promise<boolean | 'later'> {
    const { desk, gate, judge, capabilities, leases } = this.installation;
    const connector = { replay: async () => this.replayed() } as unknown as HttpConnector;
    const [capability] = capabilities;
    if (capability === undefined) throw new Error('the bench has one capability');
    const call = (await this.installation.call(this.id)) as Reconciling;
    const heard = await new Inquiry(desk, gate, judge, connector, leases.probes).ask(call, capability, true);
    return heard === 'later' ? heard : heard !== null && this.replays > 0;
  }

  private replayed(): unknown {
    this.replays += 1;
    return { finding: { finding: 'unclear' }, reached: true, evidence: {} };
  }
}

describe('asking by the identical request', () => {
  it('is done where the manifest says so', async () => {
    expect(await (await new Bench().unknown()).ask()).toBe(true);
  });

  it('is not done for a call whose cancellation was asked for: it might be the first to arrive', async () => {
    const cancellation = { deadline: '2031-01-01T10:00:30.000Z' };
    const bench = await new Bench().unknown({ kind: 'request_cancellation', cancellation });
    expect([await bench.ask(), bench.replays]).toEqual([false, 0]);
  });

  it('keeps until a hold of the capability has ended', async () => {
    const bench = await new Bench().unknown();
    const [row] = bench.installation.store.rows('capabilities');
    if (row !== undefined) bench.installation.store.seed('capabilities', { ...row, state: 'held' });
    expect([await bench.ask(), bench.replays]).toEqual(['later', 0]);
    if (row !== undefined) bench.installation.store.seed('capabilities', row);
    expect(await bench.ask()).toBe(true);
  });

  it('is not done in a run that is to stop', async () => {
    const bench = await (await new Bench().unknown()).stopRun();
    expect([await bench.ask(), bench.replays]).toEqual([false, 0]);
  });
});
