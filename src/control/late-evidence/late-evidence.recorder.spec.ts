import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AGENT, Installation, refundCapability } from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { SURROUNDINGS, capabilityWith } from '../../../test/contract/capabilities/manifest-examples.js';
import { manifestDigest } from '../../capabilities/capability-registry.js';
import type { Capability } from '../../capabilities/manifest.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { Meaning } from '../../proxy/core/callback-reading.js';
import { LateApplication } from '../../proxy/reconcile/late-application.js';
import { LateMatching } from '../../proxy/reconcile/late-matching.js';
import { UnmatchedEvidence } from '../../proxy/sweep/unmatched-evidence.js';
import { Credentials } from '../../secrets/credentials.js';
import { RetryToolCall } from '../retry-tool-call/retry-tool-call.command.js';
import { RetryToolCallHandler } from '../retry-tool-call/retry-tool-call.handler.js';
import { LateEvidenceMatcher } from './late-evidence.matcher.js';
import { LateEvidenceRecorder, type Receipt, type Received } from './late-evidence.recorder.js';

const CALLBACK = {
  secret: 'payments',
  statusAt: '/type',
  happenedWhen: ['done'],
  referenceAt: '/ref',
  keyAt: '/key',
};

function told(): Capability {
  const capability = capabilityWith(
    { probe: undefined, callback: CALLBACK, pending: { status: [202], referenceAt: '/ref' }, redact: ['/cardToken'] },
    { ...SURROUNDINGS, callbacks: { secrets: { payments: {} } } },
  );
  return { ...capability, manifestDigest: manifestDigest(capability.manifest) };
}

class Bench {
  readonly installation: Installation;
  readonly recorder: LateEvidenceRecorder;
  readonly application: LateApplication;
  readonly matching: LateMatching;
  id = '';

  constructor(unmatchedMax = 1_000, capability = told()) {
    const settings = settingsWith({ callbacks: { unmatchedMax } });
    this.installation = new Installation({ capabilities: [capability], settings });
    const { desk, gate, judge } = this.installation;
    const credentials = new Credentials({ credentials: {} });
    this.recorder = new LateEvidenceRecorder(desk, new LateEvidenceMatcher(desk), judge, credentials, settings);
    this.application = new LateApplication(desk, gate);
    this.matching = new LateMatching(desk, judge, credentials);
  }

  async sent(): Promise<this> {
    this.id = await this.installation.propose({
      arguments: { orderId: 'o-1', amountMinor: 500, cardToken: 'tok-secret-4711' },
    });
    return this;
  }

  async state() {
    return (await this.installation.call(this.id)).state;
  }

  async tell(
    meaning: Meaning,
    more: Partial<Received> & { ref?: string | null; key?: string | null } = {},
  ): Promise<Receipt> {
    const { ref = null, key = (await this.state()).downstreamKey, ...rest } = more;
    return this.recorder.record({
      source: 'callback',
      capability: 'refund.create',
      id: 'cb-1',
      bodyDigest: `sha256:${meaning}`,
      told: { meaning, effect: { paid: 'tok-secret-4711' }, reference: ref, key },
      tenant: null,
      toolCallId: null,
      actor: { sub: 'callback:refund.create' },
      ...rest,
    });
  }

  record(command: ToolCallCommand): Promise<void> {
    return this.installation.record(this.id, command);
  }

  async settle(): Promise<void> {
    await this.matching.run();
    await this.application.apply(this.id);
  }

  types(): string[] {
    return this.installation.store
      .stream({ kind: 'call', id: this.id })
      .map(({ envelope }) => envelope.eventType as string);
  }
}

const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null };
const ACCEPTED: ToolCallCommand = {
  kind: 'record_acceptance',
  acceptance: { acceptedAt: '2031-01-01T10:00:01.000Z', basis: 'ack', externalRequestId: 'r-1' },
};

describe('evidence that arrives', () => {
  it('is recorded with secrets and redacted arguments scrubbed, and applied once', async () => {
    const bench = await new Bench().sent();
    await bench.record(UNKNOWN);
    expect(await bench.tell('happened')).toEqual({ id: 'cb-1', status: 'recorded', toolCallId: bench.id });
    await bench.settle();
    await bench.settle();
    expect(await bench.state()).toMatchObject({ status: 'completed', resultBasis: 'callback' });
    expect(bench.types().slice(-3)).toEqual([
      'tool.call.callback_received',
      'reconciliation.resolved',
      'tool.call.completed',
    ]);
    const late = bench.installation.store.events.filter(({ envelope }) => envelope.eventType !== 'tool.call.proposed');
    expect(JSON.stringify(late)).not.toContain('tok-secret-4711');
    expect(bench.installation.store.rows('late_results')).toEqual([expect.objectContaining({ state: 'applied' })]);
  });

  it('names no reference where that would repeat what nobody may see', async () => {
    const bench = await new Bench().sent();
    await bench.tell('pending', { ref: 'r-tok-secret-4711' });
    expect((await bench.state()).externalRequestId).toBeNull();
    expect(JSON.stringify(bench.installation.store.rows('late_results'))).not.toContain('tok-secret-4711');
  });

  it('gives the same end in every order of the answer, the callbacks and their repetitions', async () => {
    const steps: readonly ((bench: Bench) => Promise<unknown>)[] = [
      (bench) => bench.record(ACCEPTED),
      (bench) => bench.tell('pending', { id: 'cb-1' }),
      (bench) => bench.tell('happened', { id: 'cb-2' }),
      (bench) => bench.tell('happened', { id: 'cb-2' }),
      (bench) => bench.tell('happened', { id: 'cb-3', key: null, ref: 'r-1' }),
    ];
    const orders = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(orders, fc.boolean(), async (order, isAppliedBetween) => {
        const bench = await new Bench().sent();
        for (const index of order) {
          await steps[index]?.(bench);
          if (isAppliedBetween) await bench.settle();
        }
        await bench.settle();
        const { status, externalRequestId, contradicted } = await bench.state();
        const types = bench.types();
        const rows = bench.installation.store.rows('late_results');
        return (
          status === 'completed' &&
          externalRequestId === 'r-1' &&
          !contradicted &&
          types.filter((type) => type === 'tool.call.completed').length === 1 &&
          types.filter((type) => type === 'tool.call.callback_received').length === 3 &&
          rows.length === 3 &&
          rows.every(({ state }) => state === 'applied' || state === 'ignored')
        );
      }),
      { numRuns: 60 },
    );
  });

  it('goes to people with all of it when it contradicts itself before anything is settled', async () => {
    const bench = await new Bench().sent();
    await bench.tell('happened', { id: 'cb-1' });
    await bench.tell('failed', { id: 'cb-2' });
    await bench.settle();
    expect((await bench.state()).status).toBe('dispatching');
    await bench.record(ACCEPTED);
    await bench.settle();
    expect(await bench.state()).toMatchObject({ status: 'manual_handoff', resolution: null });
    expect(bench.installation.store.rows('handoffs')).toEqual([expect.objectContaining({ reason: 'contradiction' })]);
    const opened = bench.installation.store.events.find(
      ({ envelope }) => envelope.eventType === 'manual.handoff_opened',
    );
    expect(opened?.payload['packet']).toMatchObject({
      evidence: [expect.objectContaining({ meaning: 'happened' }), expect.objectContaining({ meaning: 'failed' })],
    });
  });

  it('of an earlier attempt keeps the retry from being sent, and closes what was asked of people', async () => {
    const bench = await new Bench().sent();
    await bench.record({
      kind: 'fail',
      acceptedAt: '2031-01-01T10:00:01.000Z',
      failure: { code: 'x', effect: 'none', basis: 'rejected', retryable: true },
    });
    const { installation } = bench;
    installation.policy.ask();
    const { desk, gate, judge, commands } = installation;
    await new RetryToolCallHandler(desk, commands, gate, judge).execute(new RetryToolCall(AGENT, bench.id, null, null));
    expect(await bench.state()).toMatchObject({ status: 'proposed', attempt: 2 });
    await bench.tell('happened');
    await bench.settle();
    expect(await bench.state()).toMatchObject({ status: 'not_executed', reason: 'contradicted', contradicted: true });
    expect(installation.store.rows('approvals')).toEqual([expect.objectContaining({ status: 'closed' })]);
  });
});

describe('evidence for which no call is known', () => {
  it('is kept, and given to the call when the tool has told its reference', async () => {
    const bench = await new Bench().sent();
    expect(await bench.tell('happened', { key: null, ref: 'r-1' })).toMatchObject({ status: 'unmatched' });
    await bench.settle();
    expect(bench.installation.store.rows('late_results')).toEqual([expect.objectContaining({ state: 'unmatched' })]);
    await bench.record(ACCEPTED);
    await bench.settle();
    expect(await bench.state()).toMatchObject({ status: 'completed', externalRequestId: 'r-1' });
  });

  it.each([
    ['another capability', { capability: 'refund.other' }],
    ['another tenant', { tenant: 'umbrella' }],
    ['another key', { key: 'cs_other' }],
    ['a reference of another call beside its key', { ref: 'r-2' }],
  ] as const)('is not given to a call it names with %s', async (_, more) => {
    const bench = await new Bench().sent();
    await bench.record(ACCEPTED);
    expect((await bench.tell('happened', more)).status).toBe('unmatched');
    await bench.settle();
    expect((await bench.state()).status).toBe('accepted');
  });

  it('is not given to two calls that the tool knows by one reference', async () => {
    const bench = await new Bench().sent();
    await bench.record(ACCEPTED);
    const first = bench.id;
    bench.id = await bench.installation.propose({ arguments: { orderId: 'o-2', amountMinor: 1 } });
    await bench.record(ACCEPTED);
    expect((await bench.tell('happened', { key: null, ref: 'r-1' })).status).toBe('unmatched');
    await bench.settle();
    for (const id of [first, bench.id]) expect((await bench.installation.call(id)).state.status).toBe('accepted');
  });

  it('asks nothing of a capability that takes no late evidence: its keys are not kept', async () => {
    const plain = await new Bench(1_000, refundCapability()).sent();
    expect(plain.installation.store.rows('late_keys')).toEqual([]);
    const bench = await new Bench().sent();
    expect(bench.installation.store.rows('late_keys')).toHaveLength(1);
  });
});

describe('evidence for which no call turns up', () => {
  const DAY_MS = 86_400_000;

  it('waits for as long as the settings say, and then stays on record and makes room for other evidence', async () => {
    const bench = await new Bench(1).sent();
    const { installation } = bench;
    const sweep = new UnmatchedEvidence(installation.desk, installation.settings, installation.log);
    await bench.tell('happened', { key: null, ref: 'r-1' });
    installation.clock.advance(30 * DAY_MS - 1);
    expect(await sweep.tick()).toBe(0);
    expect(installation.store.rows('late_results')).toMatchObject([{ state: 'unmatched' }]);
    installation.clock.advance(3_600_000);
    expect(await sweep.tick()).toBe(0);
    expect(installation.store.rows('late_results')).toMatchObject([{ state: 'ignored' }]);
    expect(installation.store.events.at(-1)).toMatchObject({
      envelope: { eventType: 'evidence.expired', streamKind: 'evidence', version: 2, causeKind: 'timer' },
      payload: { reason: 'no_call_known' },
    });
    expect((await bench.tell('happened', { id: 'cb-2', key: null, ref: 'r-2' })).status).toBe('unmatched');
    await bench.record(ACCEPTED);
    await bench.settle();
    expect(await bench.state()).toMatchObject({ status: 'accepted' });
  });

  it('is given to a call that turns up while it is being let go', async () => {
    const bench = await new Bench().sent();
    const { installation } = bench;
    await bench.tell('happened', { key: null, ref: 'r-1' });
    installation.clock.advance(31 * DAY_MS);
    await bench.record(ACCEPTED);
    const sweep = new UnmatchedEvidence(installation.desk, installation.settings, installation.log);
    const [failed] = await Promise.all([sweep.tick(), bench.matching.run()]);
    expect(failed).toBe(0);
    const [row] = installation.store.rows('late_results');
    const expired = installation.store.events.filter(({ envelope }) => envelope.eventType === 'evidence.expired');
    expect([row?.state, expired.length]).toEqual(row?.state === 'waiting' ? ['waiting', 0] : ['ignored', 1]);
  });
});

describe('a repetition of evidence', () => {
  it('is recorded once, whatever it says, and never applied', async () => {
    const bench = await new Bench().sent();
    await bench.record(UNKNOWN);
    await bench.tell('pending');
    for (let n = 0; n < 3; n += 1) expect(await bench.tell('happened')).toMatchObject({ status: 'duplicate' });
    await bench.settle();
    expect((await bench.state()).status).toBe('result_unknown');
    const ignored = bench.installation.store.events.filter(
      ({ envelope }) => envelope.eventType === 'tool.call.callback_ignored',
    );
    expect(ignored.map(({ payload }) => payload['reason'])).toEqual(['same_id_other_body', 'not_final']);
  });
});
