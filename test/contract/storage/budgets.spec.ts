import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { domainEventOf } from '../../../src/domain/events/domain-event.js';
import type { CommittedEvent } from '../../../src/domain/events/envelope.js';
import { foldToolCall } from '../../../src/domain/tool-call/tool-call.evolve.js';
import { heldReservations } from '../../../src/domain/tool-call/reservation.js';
import { canonicalRequest } from '../../../src/policy/core/canonical-request.js';
import type { FactNeeds } from '../../../src/policy/core/facts.js';
import { LIMIT_KEY_PREFIX } from '../../../src/policy/core/limits.js';
import type { PolicyDecision, PolicyRequest } from '../../../src/policy/core/policy-types.js';
import { InProcessPolicyEvaluator } from '../../../src/policy/engine/in-process-policy-evaluator.js';
import { CallInUnit } from '../../../src/storage/units/call-in-unit.js';
import { TENANT, REVISION, refundCapability, ScriptedPolicy } from '../../builders/installation.js';
import { failure } from '../../builders/tool-call-examples.js';
import { Parts } from './dispatch-crowd.js';
import { openSqlite, type OpenedStore } from './opened-store.js';
import { tally } from './outcomes.js';

const BUDGET = 5_000;
const AMOUNT = 70;
const PROPOSALS = 200;
const FITTING = Math.floor(BUDGET / AMOUNT);

/** The real engine over a permit with a budget; only the revision is that of the store under test. */
class BudgetPolicy extends ScriptedPolicy {
  private constructor(private readonly evaluator: InProcessPolicyEvaluator) {
    super();
  }

  static async create(): Promise<BudgetPolicy> {
    const evaluator = await InProcessPolicyEvaluator.create();
    const { manifest } = refundCapability();
    const report = await evaluator.load({
      files: [
        {
          name: 'budget.cedar',
          text: `@id("permit") @unattended("a test")
            @limit("counter=spend.day;by=principal,capability;add=input.amountMinor;max=${BUDGET}|counter=calls.hour;by=agent;add=1;max=1000")
            permit(principal, action, resource);
            @id("sane") forbid(principal, action, resource) when { context.counters["spend.day"] > ${BUDGET} };`,
        },
      ],
      capabilities: [manifest],
      approverGroups: [],
      defaults: { decideWithinMs: 60_000, executionWindowMs: 60_000 },
    });
    if (!report.accepted) throw new Error(JSON.stringify(report.problems));
    const policy = new BudgetPolicy(evaluator);
    policy.needs = evaluator.active?.capabilities[manifest.name]?.needs as FactNeeds;
    return policy;
  }

  override async decide(request: PolicyRequest): Promise<PolicyDecision> {
    return { ...(await this.evaluator.decide(canonicalRequest(request))), policyRevision: REVISION };
  }
}

let opened: OpenedStore;
let parts: Parts;

beforeEach(async () => {
  opened = await openSqlite();
  parts = await Parts.over(opened.store, {}, await BudgetPolicy.create());
});

afterEach(() => opened.discard());

const propose = (n: number, amountMinor = AMOUNT): Promise<string> =>
  parts.propose({ idempotencyKey: `key-${n}`, arguments: { orderId: `o-${n}`, amountMinor } });

/** Every counter of a budget, summed up from the events of all calls and from nothing else. */
async function fromEvents(): Promise<Record<string, number>> {
  const events = await opened.store.read.eventsAfter(-1, 100_000, null);
  const streams = new Map<string, CommittedEvent[]>();
  for (const event of events) {
    if (event.envelope.streamKind !== 'call') continue;
    streams.set(event.envelope.streamId, [...(streams.get(event.envelope.streamId) ?? []), event]);
  }
  const sums: Record<string, number> = {};
  for (const stream of streams.values()) {
    const state = foldToolCall(
      null,
      stream.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload)),
    );
    for (const { key, add } of state === null ? [] : heldReservations(state)) sums[key] = (sums[key] ?? 0) + add;
  }
  return sums;
}

/** The same as the counters say it, those that hold nothing left out. */
async function fromCounters(): Promise<Record<string, number>> {
  const rows = await opened.store.read.endedCounters(LIMIT_KEY_PREFIX, '9', 1000);
  const keys = new Set([...Object.keys(await fromEvents()), ...rows.map(({ counter_key }) => counter_key)]);
  const values = await Promise.all(
    [...keys].map(async (key) => [key, await opened.store.read.counter(TENANT, key)] as const),
  );
  return Object.fromEntries(values.filter(([, value]) => value !== 0));
}

const spendOf = (sums: Record<string, number>): number =>
  Object.entries(sums).reduce((sum, [key, value]) => (key.includes('/spend.day/') ? sum + value : sum), 0);

/** Ends a call of which nothing was sent: one that waits is closed, one that was about to be sent fails. */
async function end(id: string): Promise<void> {
  const call = await parts.call(id);
  const draft = parts.desk.beginAbout(call.row, { lane: 'settle', causeKind: 'event' });
  const next = new CallInUnit(draft, call);
  if (call.state.status === 'authorized') next.do({ kind: 'close', closing: { reason: 'cancelled' } });
  else {
    const unsent = failure({ effect: 'none', basis: 'not_sent' });
    next.do({ kind: 'fail', failure: unsent, acceptedAt: parts.desk.now(), sentAt: null });
  }
  await parts.desk.commit(draft);
}

describe('one budget and 200 proposals at the same moment', () => {
  it('lets through exactly what fits, denies the rest on record, and is whole again when nothing happened', async () => {
    const ids = await Promise.all(Array.from({ length: PROPOSALS }, (_, n) => propose(n)));
    const calls = await Promise.all(ids.map((id) => parts.call(id)));
    const isDenied = calls.map(({ state }) => state.status === 'denied');
    expect(tally(isDenied.map((denied) => (denied ? 'denied' : 'let through')))).toEqual({
      denied: PROPOSALS - FITTING,
      'let through': FITTING,
    });
    expect(spendOf(await fromCounters())).toBe(FITTING * AMOUNT);
    expect(await fromCounters()).toEqual(await fromEvents());

    const through = calls.filter(({ state }) => state.status !== 'denied').map(({ row }) => row.tool_call_id);
    await Promise.all(through.map(end));
    expect(await fromEvents()).toEqual({});
    expect(await fromCounters()).toEqual({});

    expect((await parts.call(await propose(PROPOSALS, BUDGET))).state.status).not.toBe('denied');
    expect((await parts.call(await propose(PROPOSALS + 1, 1))).state.status).toBe('denied');
    expect(spendOf(await fromCounters())).toBe(BUDGET);
  });

  it('is remembered across a restart', async () => {
    const id = await propose(1, BUDGET - 1);
    const { reserved } = (await parts.call(id)).state;
    opened = await opened.reopen();
    parts = await Parts.over(opened.store, {}, await BudgetPolicy.create());
    expect((await parts.call(id)).state.reserved).toEqual(reserved);
    expect((await parts.call(await propose(2, 2))).state.status).toBe('denied');
    expect((await parts.call(await propose(3, 1))).state.status).not.toBe('denied');
    expect(await fromCounters()).toEqual(await fromEvents());
  });
});
