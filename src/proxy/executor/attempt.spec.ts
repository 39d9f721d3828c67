import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Installation, refundCapability, TENANT } from '../../../test/builders/installation.js';
import { authorization, decision, failure } from '../../../test/builders/tool-call-examples.js';
import { READ, type Changes } from '../../../test/contract/capabilities/manifest-examples.js';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { DispatchHandover } from '../../capabilities/dispatch-handover.js';
import { planDispatch } from '../../capabilities/dispatch-plan.js';
import type { Capability } from '../../capabilities/manifest.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import type { Carried, HttpConnector, Use } from '../connectors/http.connector.js';
import type { Observation } from '../core/classify-http.js';
import { Attempt } from './attempt.js';

const RECORD_SENT_AFTER_MS = 50;
const START = '2031-01-01T10:00:00.000Z';
const OUTPUT = { id: 'r-1', amount: 500 };
const COMPLETED: Observation = { class: 'completed', output: OUTPUT, status: 200, truncated: false };
const ACCEPTED: Observation = { class: 'accepted', externalRequestId: 'up-1', status: 202 };
const REJECTED: Observation = { class: 'rejected', status: 422 };
const UNKNOWN: Observation = { class: 'unknown', cause: 'timeout' };
const NOT_SENT: Observation = { class: 'not_sent', cause: 'connect_failed' };

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
});

afterEach(() => {
  jest.useRealTimers();
});

/** An attempt over a connector that answers what the test says. */
class Bench {
  readonly installation: Installation;
  readonly used: { readonly capability: Capability; readonly use: Use }[] = [];
  observation: Observation = COMPLETED;
  toolWords: string | null = null;
  /** What happens between the beginning and the end of the exchange. */
  meanwhile: (use: Use) => void | Promise<void> = (use) => use.onSent?.();
  gate: CapabilityGate;
  id = '';

  constructor(changes: Changes = {}) {
    this.installation = new Installation({
      capabilities: [refundCapability({ timeout: '30s', quiesce: '5s', ...changes })],
    });
    this.gate = this.installation.gate;
  }

  async dispatching(args?: JsonObject): Promise<this> {
    this.id = await this.installation.propose(args === undefined ? {} : { arguments: args });
    return this;
  }

  async run(observation: Observation = this.observation): Promise<void> {
    this.observation = observation;
    const { desk, judge, recorder } = this.installation;
    const connector = {
      recordSentAfterMs: RECORD_SENT_AFTER_MS,
      carryOut: async (capability: Capability, use: Use): Promise<Carried> => {
        this.used.push({ capability, use });
        await this.meanwhile(use);
        return { observation: this.observation, evidence: { bytesWritten: true }, toolWords: this.toolWords };
      },
    };
    await new Attempt(desk, this.gate, judge, connector as unknown as HttpConnector, recorder).run(TENANT, this.id);
  }

  get use(): Use {
    const [first] = this.used;
    if (first === undefined) throw new Error('the connector was not called');
    return first.use;
  }

  get types(): readonly string[] {
    return this.installation.store.lastTypes;
  }

  get last(): JsonObject {
    return this.installation.store.events.at(-1)?.payload ?? {};
  }

  async state() {
    return (await this.installation.call(this.id)).state;
  }

  setRow(change: Partial<TableRow<'tool_calls'>>): void {
    const [row] = this.installation.store.rows('tool_calls');
    if (row === undefined) throw new Error('no call');
    this.installation.store.seed('tool_calls', { ...row, ...change });
  }

  /** The first attempt is found to have had no effect, and a second one is on the wire. */
  async secondAttempt(): Promise<void> {
    const { installation, id } = this;
    await installation.record(
      id,
      { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null },
      {
        kind: 'start_reconciliation',
        start: { strategy: 'query_by_idempotency_key', deadline: '2031-01-01T11:00:00.000Z' },
      },
      {
        kind: 'resolve_failed',
        resolution: { verdict: 'not_happened', evidenceRefs: ['probe-1'] },
        failure: failure({ basis: 'reconciliation', code: 'absent_at_tool' }),
      },
    );
    const call = await installation.call(id);
    const draft = installation.desk.beginAbout(call.row, { lane: 'govern', causeKind: 'timer' });
    const again = new CallInUnit(draft, call)
      .do({ kind: 'accept_retry', retry: { attempt: 2, previousStatus: 'failed' } })
      .do({ kind: 'record_decision', decision: decision('retry', 2) })
      .do({ kind: 'authorize', authorization: authorization(2) });
    const [capability] = installation.capabilities;
    if (capability === undefined) throw new Error('no capability');
    const { instance, clock } = installation.desk;
    const circumstances = { instance, nonce: 'att_2', target: {}, nowMs: clock.now() };
    const dispatch = planDispatch(capability, again.state, circumstances);
    again.do({ kind: 'dispatch', now: installation.clock.iso, dispatch });
    await installation.desk.commit(draft);
  }
}

describe('an attempt', () => {
  it('that the tool carries out is sent, accepted and completed in one unit', async () => {
    const bench = await new Bench().dispatching();
    await bench.run(COMPLETED);
    expect(bench.types).toEqual(['tool.call.dispatched', 'tool.call.accepted', 'tool.call.completed']);
    expect(bench.installation.store.units).toHaveLength(2);
    expect(bench.last).toEqual({
      basis: 'direct',
      result: OUTPUT,
      resultDigest: jsonDigest(OUTPUT),
      resultTruncated: false,
      evidence: { bytesWritten: true },
    });
    expect(bench.installation.store.rows('attempts')[0]).toMatchObject({ state: 'settled' });
    expect(bench.installation.store.rows('work')).toEqual([]);
  });

  it('carries the agreed arguments under the key of the call, once', async () => {
    const bench = await new Bench().dispatching({ orderId: 'o-9', amountMinor: 7 });
    const { downstreamKey } = await bench.state();
    await bench.run(COMPLETED);
    expect(bench.used).toHaveLength(1);
    expect(bench.used[0]?.capability).toBe(bench.installation.capabilities[0]);
    expect(bench.use).toMatchObject({
      args: { orderId: 'o-9', amountMinor: 7, currency: 'EUR' },
      downstreamKey,
      externalRequestId: null,
      masked: [],
    });
  });

  it('that the tool is still working on stays open under the reference of the tool', async () => {
    const bench = await new Bench().dispatching();
    await bench.run(ACCEPTED);
    expect(bench.types).toEqual(['tool.call.dispatched', 'tool.call.accepted']);
    expect(await bench.state()).toMatchObject({ status: 'accepted', externalRequestId: 'up-1' });
    expect(bench.installation.store.rows('work')[0]?.kind).toBe('observe');
  });

  it.each([false, true])('that the tool rejects has no effect; it may be made again: %p', async (retryRejected) => {
    const bench = await new Bench({ retryRejected }).dispatching();
    bench.toolWords = 'no such order';
    await bench.run(REJECTED);
    expect(bench.last).toMatchObject({
      code: 'rejected_by_tool',
      effect: 'none',
      basis: 'rejected',
      retryable: retryRejected,
      message: 'no such order',
    });
    expect((await bench.state()).status).toBe('failed');
  });

  it('of which nobody knows the end is unknown, and is looked up once the wire must be quiet', async () => {
    const bench = await new Bench().dispatching();
    await bench.run(UNKNOWN);
    expect(bench.types).toEqual(['tool.call.dispatched', 'tool.call.result_unknown']);
    expect(bench.last).toMatchObject({ cause: 'timeout' });
    expect(bench.installation.store.rows('work')[0]).toMatchObject({
      kind: 'reconcile',
      next_at: '2031-01-01T10:00:35.000Z',
    });
  });

  it('of a read that brings no answer fails without any doubt about an effect', async () => {
    const bench = new Bench(READ);
    await bench.dispatching();
    await bench.run(UNKNOWN);
    expect(bench.last).toMatchObject({ code: 'read_without_answer', effect: 'none', retryable: true });
    expect((await bench.state()).status).toBe('failed');
  });

  it('of which no byte left was not sent and may be made again, whatever was handed over', async () => {
    const bench = await new Bench().dispatching();
    await bench.run(NOT_SENT);
    expect(bench.types).toEqual(['tool.call.failed']);
    expect(bench.last).toMatchObject({ code: 'not_sent', effect: 'none', basis: 'not_sent', retryable: true });
  });

  it('leaves alone a call that is not being dispatched', async () => {
    const bench = await new Bench().dispatching();
    await bench.run(COMPLETED);
    await bench.run(COMPLETED);
    bench.id = 'call_0';
    await bench.run(COMPLETED);
    expect(bench.used).toHaveLength(1);
    expect(bench.installation.store.units).toHaveLength(2);
  });
});

describe('that a request was sent', () => {
  it('is a fact of its own where the answer takes long', async () => {
    const bench = await new Bench().dispatching();
    bench.meanwhile = async (use) => {
      use.onSent?.();
      bench.installation.clock.advance(RECORD_SENT_AFTER_MS);
      await jest.advanceTimersByTimeAsync(RECORD_SENT_AFTER_MS);
      expect(bench.types).toEqual(['tool.call.dispatched']);
      expect(bench.last).toEqual({ dispatchedAt: START });
      expect((await bench.state()).status).toBe('dispatched');
    };
    await bench.run(COMPLETED);
    expect(bench.types).toEqual(['tool.call.accepted', 'tool.call.completed']);
    expect(bench.installation.store.units).toHaveLength(3);
    expect((await bench.state()).status).toBe('completed');
  });

  it('is recorded before the answer even where the two meet', async () => {
    const bench = await new Bench().dispatching();
    bench.meanwhile = (use) => {
      use.onSent?.();
      jest.advanceTimersByTime(RECORD_SENT_AFTER_MS);
    };
    await bench.run(COMPLETED);
    expect(bench.installation.store.events.map(({ envelope }) => envelope.eventType).slice(-3)).toEqual([
      'tool.call.dispatched',
      'tool.call.accepted',
      'tool.call.completed',
    ]);
    expect(bench.installation.log.lines).toEqual([]);
  });

  it('is not said once the answer was there', async () => {
    const bench = await new Bench().dispatching();
    await bench.run(UNKNOWN);
    expect(jest.getTimerCount()).toBe(0);
    expect(bench.types).toEqual(['tool.call.dispatched', 'tool.call.result_unknown']);
    expect(bench.installation.store.units).toHaveLength(2);
  });
});

describe('nothing is handed to the transport', () => {
  it('when the definition that was judged is no longer in force', async () => {
    const bench = await new Bench().dispatching();
    const changed = new CapabilityRegistry([refundCapability({ timeout: '31s', quiesce: '5s' })]);
    const { pauses, slots } = bench.installation;
    bench.gate = new CapabilityGate(changed, pauses, new DispatchHandover(slots));
    await bench.run();
    expect(bench.used).toEqual([]);
    expect(bench.types).toEqual(['tool.call.failed']);
    expect(bench.last).toMatchObject({
      code: 'capability_definition_changed',
      effect: 'none',
      basis: 'not_sent',
      retryable: false,
    });
  });

  it.each([
    ['other arguments', { args_digest: 'sha256:other' }],
    ['another key', { downstream_key: 'cs_other' }],
    ['another proposal', { proposed_event_id: 'evt_other' }],
  ])('when the row names %s than was agreed to', async (_, change) => {
    const bench = await new Bench().dispatching();
    bench.setRow(change);
    await bench.run();
    expect(bench.used).toEqual([]);
    expect(bench.types).toEqual(['tool.call.failed']);
    expect(bench.last).toMatchObject({
      code: 'record_tampered',
      effect: 'none',
      basis: 'not_sent',
      retryable: false,
    });
  });

  it('when the record cannot be read now, and that is no tampering', async () => {
    const bench = await new Bench().dispatching();
    const busy = Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' });
    jest.spyOn(bench.installation.store.read, 'event').mockRejectedValue(busy);
    await expect(bench.run()).rejects.toBe(busy);
    expect(bench.used).toEqual([]);
    expect((await bench.state()).status).toBe('dispatching');
  });
});

describe('the deadline of an attempt', () => {
  it.each([
    ['is what is left of the time of the call', '2031-01-01T10:00:10.000Z', 20_000],
    ['never is longer than the manifest says, when the clock goes back', '2031-01-01T09:00:00.000Z', 30_000],
    ['is over, when the clock goes ahead', '2031-01-01T11:00:00.000Z', 30_000 - 3_600_000],
  ])('%s', async (_, now, leftMs) => {
    const bench = await new Bench().dispatching();
    bench.installation.clock.moveTo(now);
    await bench.run();
    expect(bench.use.deadline - bench.installation.clock.monotonic()).toBe(leftMs);
  });
});

describe('redacted arguments', () => {
  it('go to the tool in clear, and their texts are named as such that nobody may see', async () => {
    const bench = await new Bench({ redact: ['/cardToken', '/customer/email'] }).dispatching({
      orderId: 'o-1',
      amountMinor: 1,
      cardToken: 'tok_secret_1',
      customer: { id: 'c-1', email: 'ada@example.com' },
    });
    await bench.run();
    expect(bench.use.args).toMatchObject({ cardToken: 'tok_secret_1', customer: { email: 'ada@example.com' } });
    expect([...(bench.use.masked ?? [])].toSorted()).toEqual(['ada@example.com', 'tok_secret_1']);
  });
});

describe('an answer that comes late', () => {
  it('settles the attempt it belongs to, as evidence', async () => {
    const bench = await new Bench().dispatching();
    bench.meanwhile = async (use) => {
      use.onSent?.();
      const unknown = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null } as const;
      await bench.installation.record(bench.id, unknown);
    };
    const running = bench.run(COMPLETED);
    await jest.advanceTimersByTimeAsync(1_000);
    await running;
    expect(bench.types).toEqual(['reconciliation.resolved', 'tool.call.completed']);
  });

  it('never ends a later attempt', async () => {
    const bench = await new Bench().dispatching();
    bench.meanwhile = async (use) => {
      use.onSent?.();
      await bench.secondAttempt();
    };
    const running = bench.run(COMPLETED);
    await jest.advanceTimersByTimeAsync(60_000);
    await running;
    expect(await bench.state()).toMatchObject({ status: 'dispatching', attempt: 2 });
    expect(bench.installation.log.lines).toHaveLength(1);
  });
});
