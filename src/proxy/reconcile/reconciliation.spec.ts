import { describe, expect, it } from '@jest/globals';
import { Installation, refundCapability, TENANT } from '../../../test/builders/installation.js';
import type { Changes } from '../../../test/contract/capabilities/manifest-examples.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { HttpConnector, LookedUp, Use } from '../connectors/http.connector.js';
import type { Finding } from '../core/probe-finding.js';
import { Inquiry } from './inquiry.js';
import { Reconciliation } from './reconciliation.js';

const MANIFEST: Changes = {
  timeout: '30s',
  quiesce: '5s',
  probe: { visibilityDelay: '10s', absenceIsProof: true, attemptsMax: 3, budget: '1h' },
};
/** Deadline (10:00:30), quiesce and visibility delay together. */
const QUIET = '2031-01-01T10:00:45.000Z';

class Bench {
  readonly installation: Installation;
  readonly asked: Use[] = [];
  finding: Finding = { finding: 'unclear' };
  reached = true;
  private readonly reconciliation: Reconciliation;
  id = '';

  constructor(changes: Changes = {}) {
    this.installation = new Installation({ capabilities: [refundCapability({ ...MANIFEST, ...changes })] });
    const { desk, gate, judge, recorder, leases } = this.installation;
    const connector = {
      lookUp: async (_capability: unknown, _probe: unknown, use: Use): Promise<LookedUp> => {
        this.asked.push(use);
        return { finding: this.finding, reached: this.reached, evidence: { status: 200 } };
      },
    };
    const inquiry = new Inquiry(desk, gate, judge, connector as unknown as HttpConnector, leases.probes);
    this.reconciliation = new Reconciliation(desk, gate, inquiry, recorder);
  }

  async unknown(): Promise<this> {
    this.id = await this.installation.propose();
    await this.installation.record(this.id, { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null });
    this.installation.clock.moveTo(QUIET);
    return this;
  }

  async step(finding?: Finding): Promise<void> {
    if (finding !== undefined) this.finding = finding;
    await this.reconciliation.step(TENANT, this.id);
  }

  get types(): readonly string[] {
    return this.installation.store.lastTypes;
  }

  async state() {
    return (await this.installation.call(this.id)).state;
  }

  payload(type: string): JsonObject {
    return this.installation.store.events.findLast(({ envelope }) => envelope.eventType === type)?.payload ?? {};
  }
}

const HAPPENED: Finding = { finding: 'happened', effect: { id: 'r-1', amount: 500 }, reference: 'r-1' };

describe('a look-up that proves what became of a call', () => {
  it('completes it with what the tool shows', async () => {
    const bench = await new Bench().unknown();
    await bench.step(HAPPENED);
    expect(await bench.state()).toMatchObject({
      status: 'completed',
      resultBasis: 'reconciliation',
      externalRequestId: 'r-1',
    });
    expect(bench.types).toEqual(['reconciliation.resolved', 'tool.call.completed']);
    expect(bench.payload('reconciliation.resolved')).toMatchObject({
      verdict: 'happened',
      evidence: { finding: 'happened', askedAt: QUIET, status: 200 },
    });
    expect(bench.payload('tool.call.completed')).toMatchObject({ result: { id: 'r-1', amount: 500 } });
  });

  it('fails it where the tool says that it failed, and it may not be retried', async () => {
    const bench = await new Bench().unknown();
    await bench.step({ finding: 'failed', effect: {}, reference: null });
    expect(await bench.state()).toMatchObject({
      status: 'failed',
      code: 'failed_at_tool',
      knownEffect: 'none',
      retryable: false,
    });
  });

  it('fails it without effect where it is absent and that is proof, and it may be retried', async () => {
    const bench = await new Bench().unknown();
    await bench.step({ finding: 'absent' });
    expect(await bench.state()).toMatchObject({
      status: 'failed',
      code: 'absent_at_tool',
      knownEffect: 'none',
      retryable: true,
    });
  });

  it.each([
    ['was on the wire while the clock jumped', 'timeout', {}],
    ['a restored store may have lost', 'restored', { synthetic: true }],
  ] as const)('takes absence for no proof before the tool could show what %s', async (_what, cause, how) => {
    const bench = new Bench();
    bench.id = await bench.installation.propose();
    const { clock, recorder } = bench.installation;
    clock.moveTo('2031-01-01T12:00:00.000Z');
    await recorder.record(await bench.installation.call(bench.id), { kind: 'mark_unknown', unknown: { cause } }, how);
    bench.installation.clock.moveTo('2031-01-01T12:00:14.999Z');
    await bench.step({ finding: 'absent' });
    expect((await bench.state()).status).toBe('reconciling');
    expect(bench.payload('reconciliation.attempted')).toMatchObject({ result: 'absent_too_early' });
    bench.installation.clock.moveTo('2031-01-01T12:00:15.000Z');
    await bench.step();
    expect(await bench.state()).toMatchObject({ status: 'failed', knownEffect: 'none' });
  });

  it('asks with the key and the arguments of the call', async () => {
    const bench = await new Bench().unknown();
    await bench.step(HAPPENED);
    expect(bench.asked).toEqual([
      expect.objectContaining({
        args: { orderId: 'o-1', amountMinor: 500, currency: 'EUR' },
        downstreamKey: (await bench.state()).downstreamKey,
      }),
    ]);
  });
});

describe('a look-up that proves nothing', () => {
  it.each([
    ['is unclear', { finding: 'unclear' }, true, 'inconclusive'],
    ['is pending', { finding: 'pending', reference: null }, true, 'inconclusive'],
    ['did not reach the tool', { finding: 'unclear' }, false, 'unreachable'],
  ] as const)('because it %s is counted, and the next one has its time', async (_, finding, reached, result) => {
    const bench = await new Bench().unknown();
    bench.reached = reached;
    await bench.step(finding);
    expect(bench.payload('reconciliation.attempted')).toMatchObject({ n: 1, result });
    const state = await bench.state();
    expect(state).toMatchObject({ status: 'reconciling', queries: 1 });
    const [work] = bench.installation.store.rows('work');
    expect(work).toMatchObject({
      kind: 'reconcile',
      tries: 1,
      next_at: bench.payload('reconciliation.attempted')['nextAt'],
    });
    expect((work?.next_at ?? '') > QUIET).toBe(true);
  });

  it('because it came too early to prove absence', async () => {
    const bench = await new Bench().unknown();
    bench.installation.clock.moveTo('2031-01-01T10:00:44.999Z');
    await bench.step({ finding: 'absent' });
    expect(bench.payload('reconciliation.attempted')).toMatchObject({ result: 'absent_too_early' });
    bench.installation.clock.moveTo(QUIET);
    await bench.step();
    expect(await bench.state()).toMatchObject({ status: 'failed', code: 'absent_at_tool' });
  });

  it('because the manifest says that absence proves nothing', async () => {
    const bench = await new Bench({ probe: { ...(MANIFEST['probe'] as object), absenceIsProof: false } }).unknown();
    bench.installation.clock.moveTo('2031-01-01T10:50:00.000Z');
    await bench.step({ finding: 'absent' });
    expect(await bench.state()).toMatchObject({ status: 'reconciling' });
  });

  it('because somebody else moved the call meanwhile', async () => {
    const bench = await new Bench().unknown();
    await bench.step();
    bench.installation.store.beforeCommit = () => {
      bench.installation.store.beforeCommit = () => {};
      const [row] = bench.installation.store.rows('tool_calls');
      if (row !== undefined) bench.installation.store.seed('tool_calls', { ...row, version: row.version + 1 });
    };
    await expect(bench.step(HAPPENED)).rejects.toMatchObject({ name: 'GuardFailed' });
  });
});

describe('a call that people must look at', () => {
  it.each([
    [
      'has been looked up often enough',
      'attempts_exhausted',
      async (bench: Bench) => {
        for (let n = 0; n < 3; n += 1) await bench.step({ finding: 'unclear' });
      },
    ],
    [
      'has run out of time',
      'deadline_passed',
      async (bench: Bench) => {
        await bench.step({ finding: 'unclear' });
        bench.installation.clock.advance(3_600_000);
      },
    ],
    [
      'is bound to a definition that is gone',
      'no_query_possible',
      async (bench: Bench) => {
        bench.installation.gate.bound = () => undefined;
      },
    ],
  ] as const)('%s is handed to them with everything that is known', async (_, reason, prepare) => {
    const bench = await new Bench().unknown();
    await prepare(bench);
    const asked = bench.asked.length;
    await bench.step(HAPPENED);
    expect(bench.asked).toHaveLength(asked);
    expect(await bench.state()).toMatchObject({ status: 'manual_handoff' });
    expect(bench.types).toEqual(['tool.call.manual_handoff', 'manual.handoff_opened']);
    expect(bench.payload('tool.call.manual_handoff')).toMatchObject({ reason });
    expect(bench.installation.store.rows('handoffs')).toEqual([expect.objectContaining({ reason, finding: null })]);
  });

  it('is handed over at once where the manifest says so', async () => {
    const bench = await new Bench({ onAmbiguous: 'handoff' }).unknown();
    await bench.step(HAPPENED);
    expect(bench.asked).toEqual([]);
    expect(await bench.state()).toMatchObject({ status: 'manual_handoff' });
  });

  it('is handed over and never looked up where its record was changed', async () => {
    const bench = await new Bench().unknown();
    const [row] = bench.installation.store.rows('tool_calls');
    if (row !== undefined) bench.installation.store.seed('tool_calls', { ...row, args_digest: 'sha256:other' });
    await bench.step(HAPPENED);
    expect(bench.asked).toEqual([]);
    expect(bench.payload('tool.call.manual_handoff')).toMatchObject({ reason: 'no_query_possible' });
  });

  it('comes with a packet that holds digests and no argument', async () => {
    const bench = await new Bench().unknown();
    for (let n = 0; n < 4; n += 1) await bench.step({ finding: 'unclear' });
    const packet = bench.payload('manual.handoff_opened')['packet'] as JsonObject;
    const state = await bench.state();
    expect(packet).toMatchObject({
      toolCallId: bench.id,
      capability: 'refund.create@1.0.0',
      attempt: 1,
      argsDigest: state.argsDigest,
      downstreamKey: state.downstreamKey,
      cause: 'timeout',
      deadline: '2031-01-01T10:00:30.000Z',
      queriesTried: [1, 2, 3].map((n) => expect.objectContaining({ n, result: 'inconclusive' })),
    });
    expect((packet['timeline'] as JsonObject[]).map(({ event }) => event)).toContain('tool.call.result_unknown');
    expect(JSON.stringify(packet)).not.toMatch(/o-1|amountMinor/);
  });
});

describe('a question that may not be asked just now', () => {
  it('is put off without being counted, and people are asked when its time is over', async () => {
    const replay = { effect: 'replay_by_key', idempotency: { replayAsProbe: true }, probe: undefined };
    const bench = await new Bench(replay).unknown();
    const { store, clock } = bench.installation;
    const [row] = store.rows('capabilities');
    if (row !== undefined) store.seed('capabilities', { ...row, state: 'held' });
    await bench.step();
    const { length } = store.events;
    await bench.step();
    expect(await bench.state()).toMatchObject({ status: 'reconciling', queries: 0 });
    expect(store.events).toHaveLength(length);
    expect((store.rows('work')[0]?.next_at ?? '') > clock.iso).toBe(true);
    clock.moveTo('2031-01-01T10:11:00.000Z');
    await bench.step();
    expect((await bench.state()).status).toBe('manual_handoff');
    expect(bench.payload('tool.call.manual_handoff')).toMatchObject({ reason: 'deadline_passed' });
  });
});

describe('a call that is not unknown', () => {
  it('is left alone', async () => {
    const bench = new Bench();
    bench.id = await bench.installation.propose();
    const units = bench.installation.store.units.length;
    await bench.step(HAPPENED);
    bench.id = 'call_0';
    await bench.step(HAPPENED);
    expect(bench.installation.store.units).toHaveLength(units);
    expect(bench.asked).toEqual([]);
  });
});
