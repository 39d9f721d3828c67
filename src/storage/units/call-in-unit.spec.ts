import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MemoryStore } from '../../../test/builders/memory-store.js';
import { countedIds, ManualClock } from '../../../test/builders/manual-clock.js';
import {
  CALL_ROWS,
  authorization,
  completion,
  decision,
  dispatching,
  proposal,
} from '../../../test/builders/tool-call-examples.js';
import { domainEventOf } from '../../domain/events/domain-event.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { decideToolCall } from '../../domain/tool-call/tool-call.decide.js';
import { foldToolCall } from '../../domain/tool-call/tool-call.evolve.js';
import { isTerminal } from '../../domain/tool-call/tool-call.state.js';
import { toolCallFacts, toolCallRow, type ToolCallFacts } from '../rows/tool-call.row.js';
import { GuardFailed } from '../unit.js';
import { CallInUnit, type CallBefore } from './call-in-unit.js';
import { intentIsOpen } from './call-rows.js';
import { loadCall, type LoadedCall } from './load.js';
import { UnitDraft } from './unit-draft.js';

const START = '2031-01-01T09:59:00.000Z';
const ID = 'call_1';

const FACTS: ToolCallFacts = {
  tool_call_id: ID,
  tenant: 'acme',
  run_id: 'run_1',
  session_id: 'run_1',
  turn_id: 'turn-1',
  call_id: 'toolu_1',
  correlation_id: 'intent-1',
  reasoning_object_id: null,
  skill_id: null,
  version: 0,
  policy_decision_id: null,
  policy_revision: null,
  approval_id: null,
  lease_id: null,
  proposed_event_id: '',
  decided_event_id: null,
  settled_event_id: null,
  resolution_event_id: null,
  last_event_id: '',
  created_at: START,
  updated_at: START,
};

/** One call in a store of its own, moved by one unit per command. */
class OneCall {
  readonly clock = new ManualClock(START);
  readonly store = new MemoryStore(this.clock);
  private readonly ids = countedIds(this.clock);

  draft(): UnitDraft {
    return new UnitDraft(this.ids, {
      tenant: 'acme',
      lane: 'settle',
      actor: { sub: 'alice' },
      correlationId: ID,
      occurredAt: this.clock.iso,
      causationId: null,
      causeKind: 'external',
    });
  }

  load(): Promise<LoadedCall | null> {
    return loadCall(this.store.read, 'acme', ID);
  }

  async loaded(): Promise<LoadedCall> {
    const call = await this.load();
    if (call === null) throw new Error('the call has not been proposed');
    return call;
  }

  /** Records the commands as one unit. */
  async unit(...commands: readonly ToolCallCommand[]): Promise<CallInUnit> {
    const before: CallBefore = (await this.load()) ?? { state: null, facts: FACTS };
    this.clock.advance(1);
    const draft = this.draft();
    const call = new CallInUnit(draft, before);
    for (const command of commands) call.do(command);
    if (!draft.isEmpty) await this.store.commit(draft.build());
    return call;
  }
}

const PROPOSE: ToolCallCommand = { kind: 'propose', proposal: proposal() };
const DECIDE: ToolCallCommand = { kind: 'record_decision', decision: decision('propose') };
const AUTHORIZE: ToolCallCommand = { kind: 'authorize', authorization: authorization() };
const DISPATCH: ToolCallCommand = { kind: 'dispatch', dispatch: dispatching(), now: '2031-01-01T10:00:00.000Z' };
const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null };
const START_LOOKING: ToolCallCommand = {
  kind: 'start_reconciliation',
  start: { strategy: 'query_by_idempotency_key', deadline: '2031-01-01T11:00:00.000Z' },
};
const HAND_OFF: ToolCallCommand = {
  kind: 'hand_off',
  handoff: { reason: 'attempts_exhausted', evidenceRefs: [] },
  opened: { handoffId: 'hnd_1', packet: {} },
};
const FOUND: ToolCallCommand = {
  kind: 'resolve_handoff',
  finding: { handoffId: 'hnd_1', finding: 'not_happened', evidenceRefs: ['e-1'], resolvedBy: { sub: 'olga' } },
};
const COMPLETE: ToolCallCommand = {
  kind: 'complete',
  completion: completion('direct'),
  acceptedAt: '2031-01-01T10:00:02.000Z',
  sentAt: '2031-01-01T10:00:01.000Z',
};

async function callAfter(...units: readonly (readonly ToolCallCommand[])[]): Promise<OneCall> {
  const one = new OneCall();
  for (const commands of units) await one.unit(...commands);
  return one;
}

describe('a call in a unit', () => {
  it('is one row that says what its stream says, with the ids of the events it shows', async () => {
    const one = await callAfter([PROPOSE, DECIDE, AUTHORIZE], [DISPATCH], [COMPLETE]);
    const { row } = await one.loaded();
    const ids = new Map(one.store.events.map(({ envelope }) => [envelope.eventType, envelope.eventId]));
    expect(row).toMatchObject({
      status: 'completed',
      version: 7,
      proposed_event_id: ids.get('tool.call.proposed'),
      decided_event_id: ids.get('policy.decided'),
      settled_event_id: ids.get('tool.call.completed'),
      last_event_id: ids.get('tool.call.completed'),
      policy_revision: 'sha256:policy',
      created_at: START,
      updated_at: one.clock.iso,
    });
  });

  it('refers to its run, its turn and its capability in every event after the first', async () => {
    const one = await callAfter([PROPOSE, DECIDE]);
    expect(one.store.events[1]?.envelope).toMatchObject({
      toolCallId: ID,
      runId: 'run_1',
      sessionId: 'run_1',
      turnId: 'turn-1',
      capabilityId: 'refund.create@1.0.0',
    });
  });

  it('refuses with the code of the transition table and the id of the call', async () => {
    const one = await callAfter([PROPOSE, DECIDE]);
    await expect(one.unit(COMPLETE)).rejects.toMatchObject({
      code: 'tool_call_not_ready',
      details: { toolCallId: ID },
    });
    expect(one.store.units).toHaveLength(1);
  });

  it('writes nothing for a command that finds its work already done', async () => {
    const one = await callAfter([PROPOSE, DECIDE, AUTHORIZE], [DISPATCH]);
    const ask: ToolCallCommand = {
      kind: 'request_cancellation',
      cancellation: { deadline: '2031-01-01T10:00:20.000Z' },
    };
    await one.unit(ask);
    const units = one.store.units.length;
    await one.unit(ask);
    expect(one.store.units).toHaveLength(units);
  });

  it('lets one of two writers win who began with the same version', async () => {
    const one = await callAfter([PROPOSE, DECIDE, AUTHORIZE]);
    const before = await one.loaded();
    const [first, second] = [one.draft(), one.draft()];
    new CallInUnit(first, before).do({ kind: 'close', closing: { reason: 'cancelled' } });
    new CallInUnit(second, before).do(DISPATCH);
    await one.store.commit(first.build());
    await expect(one.store.commit(second.build())).rejects.toThrow(GuardFailed);
    expect((await one.loaded()).state.status).toBe('not_executed');
  });

  it('guards its row by the version it was loaded at', async () => {
    const one = await callAfter([PROPOSE, DECIDE, AUTHORIZE]);
    const set =
      (await one.unit(DISPATCH)) && one.store.units.at(-1)?.writes.find(({ table }) => table === 'tool_calls');
    expect(set).toMatchObject({ op: 'set', where: { tool_call_id: ID, version: 3 }, guard: 'tool_call' });
  });

  it('has no state before it was proposed', () => {
    const call = new CallInUnit(new OneCall().draft(), { state: null, facts: FACTS });
    expect(() => call.state).toThrow('has not been proposed');
  });

  it('forgets its approval with a retry, since an approval authorises one attempt', async () => {
    const one = await callAfter([PROPOSE, DECIDE]);
    const draft = one.draft();
    new CallInUnit(draft, await one.loaded())
      .do({ kind: 'authorize', authorization: { ...authorization(), basis: 'approval' } })
      .boundTo('apr_1');
    await one.store.commit(draft.build());
    expect((await one.loaded()).row.approval_id).toBe('apr_1');
    await one.unit({ kind: 'close', closing: { reason: 'authorization_expired' } });
    await one.unit({ kind: 'accept_retry', retry: { attempt: 2, previousStatus: 'not_executed' } });
    expect((await one.loaded()).row).toMatchObject({ approval_id: null, attempt: 2, status: 'proposed' });
  });
});

describe('the rows around a call', () => {
  const AUTHORIZED = [PROPOSE, DECIDE, AUTHORIZE];

  it('have no work while people are asked', async () => {
    expect((await callAfter([PROPOSE, DECIDE])).store.rows('work')).toEqual([]);
  });

  it('have work to execute once it is authorized, claimed by nobody', async () => {
    const one = await callAfter(AUTHORIZED);
    expect(one.store.rows('work')).toEqual([
      expect.objectContaining({ kind: 'execute', fence: 0, owner: null, claim_until: null, next_at: one.clock.iso }),
    ]);
  });

  it('have an attempt, and work claimed by its owner until the deadline, while it is on the wire', async () => {
    const one = await callAfter(AUTHORIZED, [DISPATCH]);
    expect(one.store.rows('attempts')).toEqual([
      {
        tool_call_id: ID,
        attempt: 1,
        tenant: 'acme',
        nonce: 'nonce-1',
        fence: 3,
        owner: 'ins_1',
        owner_epoch: 2,
        deadline: '2031-01-01T10:00:30.000Z',
        dispatch_intent_at: '2031-01-01T10:00:00.000Z',
        state: 'dispatching',
        settled_at: null,
      },
    ]);
    expect(one.store.rows('work')[0]).toMatchObject({
      kind: 'observe',
      fence: 3,
      owner: 'ins_1',
      owner_epoch: 2,
      claim_until: '2031-01-01T10:00:30.000Z',
    });
  });

  it('follow the attempt: sent, and settled with the time of its end', async () => {
    const one = await callAfter(AUTHORIZED, [DISPATCH]);
    await one.unit({ kind: 'record_sent', sent: { dispatchedAt: '2031-01-01T10:00:01.000Z' } });
    expect(one.store.rows('attempts')[0]).toMatchObject({ state: 'sent', settled_at: null });
    await one.unit(COMPLETE);
    expect(one.store.rows('attempts')[0]).toMatchObject({ state: 'settled', settled_at: one.clock.iso });
    expect(one.store.rows('work')).toEqual([]);
  });

  it('free the claim of an unknown result and say when to look', async () => {
    const one = await callAfter(AUTHORIZED, [DISPATCH]);
    const draft = one.draft();
    new CallInUnit(draft, await one.loaded()).do(UNKNOWN).workAt({ nextAt: '2031-01-01T10:00:35.000Z' });
    await one.store.commit(draft.build());
    expect(one.store.rows('work')[0]).toMatchObject({
      kind: 'reconcile',
      owner: null,
      owner_epoch: null,
      claim_until: null,
      next_at: '2031-01-01T10:00:35.000Z',
      tries: 0,
    });
    expect(one.store.rows('attempts')[0]).toMatchObject({ state: 'unknown', settled_at: null });
  });

  it('count the look-ups and keep the time of the next', async () => {
    const one = await callAfter(AUTHORIZED, [DISPATCH], [UNKNOWN], [START_LOOKING]);
    await one.unit({
      kind: 'record_query',
      query: { n: 1, result: 'inconclusive', nextAt: '2031-01-01T10:05:00.000Z' },
    });
    expect(one.store.rows('work')[0]).toMatchObject({ tries: 1, next_at: '2031-01-01T10:05:00.000Z' });
    expect((await one.loaded()).row).toMatchObject({ reconciliation_queries: 1 });
  });

  it('settle the attempt when reconciliation finds what became of it', async () => {
    const one = await callAfter(AUTHORIZED, [DISPATCH], [UNKNOWN], [START_LOOKING]);
    await one.unit({
      kind: 'resolve_happened',
      resolution: { verdict: 'happened', evidenceRefs: ['probe-1'] },
      completion: completion('reconciliation'),
    });
    expect(one.store.rows('attempts')[0]).toMatchObject({ state: 'settled' });
    expect(one.store.rows('work')).toEqual([]);
  });

  it('open a handoff with its reason and close it with the finding', async () => {
    const one = await callAfter(AUTHORIZED, [DISPATCH], [UNKNOWN], [HAND_OFF]);
    const opened = one.store.events.find(({ envelope }) => envelope.eventType === 'manual.handoff_opened');
    expect(one.store.rows('work')).toEqual([]);
    expect(one.store.rows('handoffs')).toEqual([
      expect.objectContaining({
        handoff_id: 'hnd_1',
        reason: 'attempts_exhausted',
        finding: null,
        opened_event_id: opened?.envelope.eventId,
        resolved_at: null,
      }),
    ]);
    await one.unit(FOUND);
    const resolved = one.store.events.at(-1)?.envelope.eventId;
    expect(one.store.rows('handoffs')[0]).toMatchObject({
      finding: 'not_happened',
      resolved_event_id: resolved,
      resolved_at: one.clock.iso,
    });
    expect((await one.loaded()).row).toMatchObject({ resolution_event_id: resolved, status: 'manual_handoff' });
  });

  it('keep one attempt for each dispatch', async () => {
    const one = await callAfter(
      AUTHORIZED,
      [DISPATCH],
      [
        {
          kind: 'fail',
          failure: { code: 'not_sent', effect: 'none', basis: 'not_sent', retryable: true },
          acceptedAt: '2031-01-01T10:00:02.000Z',
          sentAt: null,
        },
      ],
    );
    await one.unit(
      { kind: 'accept_retry', retry: { attempt: 2, previousStatus: 'failed' } },
      { kind: 'record_decision', decision: decision('retry', 2) },
      { kind: 'authorize', authorization: authorization(2) },
    );
    expect(one.store.rows('work')[0]).toMatchObject({ kind: 'execute', fence: 1 });
    await one.unit({ kind: 'dispatch', dispatch: dispatching(2), now: '2031-01-01T10:00:00.000Z' });
    expect(one.store.rows('attempts').map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, 'settled'],
      [2, 'dispatching'],
    ]);
  });
});

describe('the open intent of a call', () => {
  it('closes with the call and opens again with a retry', async () => {
    const one = await callAfter([PROPOSE, DECIDE]);
    await one.unit({ kind: 'accept_retry', retry: { attempt: 2, previousStatus: 'proposed' } }).catch(() => undefined);
    expect(one.store.rows('open_intents')).toEqual([]);
    await one.unit({ kind: 'close', closing: { reason: 'cancelled' } });
    await one.unit({ kind: 'accept_retry', retry: { attempt: 2, previousStatus: 'not_executed' } });
    expect(one.store.rows('open_intents')).toEqual([
      {
        tenant: 'acme',
        principal: '["alice","agent-7"]',
        capability: 'refund.create',
        intent_digest: 'sha256:intent',
        ordinal: 0,
        tool_call_id: ID,
      },
    ]);
    await one.unit({ kind: 'close', closing: { reason: 'cancelled' } });
    expect(one.store.rows('open_intents')).toEqual([]);
  });

  it('never exists for a read', async () => {
    const read: ToolCallCommand = { kind: 'propose', proposal: proposal({ effect: 'read_only' }) };
    const one = await callAfter([read, DECIDE], [{ kind: 'close', closing: { reason: 'cancelled' } }]);
    await one.unit({ kind: 'accept_retry', retry: { attempt: 2, previousStatus: 'not_executed' } });
    expect(one.store.rows('open_intents')).toEqual([]);
  });

  it('stays open through a handoff until somebody has found out', async () => {
    const one = await callAfter([PROPOSE, DECIDE, AUTHORIZE], [DISPATCH], [UNKNOWN], [HAND_OFF]);
    expect(intentIsOpen((await one.loaded()).state)).toBe(true);
    await one.unit(FOUND);
    expect(intentIsOpen((await one.loaded()).state)).toBe(false);
  });
});

describe('any sequence of commands to a call', () => {
  const draws = fc.array(fc.noBias(fc.nat({ max: 9_999 })), { minLength: 1, maxLength: 30, size: 'max' });

  /** Plays the choices; each picks among the commands that the machine takes in the state at hand. */
  async function play(choices: readonly number[], check: (one: OneCall) => Promise<void>): Promise<void> {
    const one = await callAfter([PROPOSE, DECIDE]);
    for (const choice of choices) {
      const { state } = await one.loaded();
      const open = CALL_ROWS.filter(({ trial }) => decideToolCall(state, trial.command(state)).ok);
      const row = open[choice % open.length];
      if (row === undefined) return;
      await one.unit(row.trial.command(state));
      await check(one);
    }
  }

  it('leaves the row that folding the stream gives', async () => {
    await fc.assert(
      fc.asyncProperty(draws, (choices) =>
        play(choices, async (one) => {
          const { row } = await one.loaded();
          const events = one.store.events.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload));
          const folded = foldToolCall(null, events);
          if (folded === null) throw new Error('no state');
          expect(row).toEqual(toolCallRow(toolCallFacts(row), folded));
          expect(row.version).toBe(events.length);
        }),
      ),
      { numRuns: 60 },
    );
  });

  it('leaves the state that folding the stream gives, but for evidence that stays sealed', async () => {
    await fc.assert(
      fc.asyncProperty(draws, (choices) =>
        play(choices, async (one) => {
          const { state } = await one.loaded();
          const events = one.store.events.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload));
          const folded = foldToolCall(null, events);
          const unsealed =
            folded?.status === 'manual_handoff' && folded.resolution !== null
              ? { ...folded, resolution: { ...folded.resolution, evidenceRefs: [] } }
              : folded;
          expect(state).toEqual(unsealed);
        }),
      ),
      { numRuns: 60 },
    );
  });

  it('keeps work exactly while somebody must still do something, and one attempt per number', async () => {
    await fc.assert(
      fc.asyncProperty(draws, (choices) =>
        play(choices, async (one) => {
          const { state } = await one.loaded();
          const waits = !isTerminal(state.status) && state.status !== 'proposed';
          expect(one.store.rows('work')).toHaveLength(waits ? 1 : 0);
          const attempts = one.store.rows('attempts').map(({ attempt }) => attempt);
          expect(new Set(attempts).size).toBe(attempts.length);
          const onTheWire = ['dispatching', 'dispatched', 'accepted'].includes(state.status);
          const open = one.store.rows('attempts').filter((row) => ['dispatching', 'sent'].includes(row.state));
          expect(open).toHaveLength(onTheWire ? 1 : 0);
        }),
      ),
      { numRuns: 60 },
    );
  });
});
