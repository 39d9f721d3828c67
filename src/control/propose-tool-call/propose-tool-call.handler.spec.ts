import { describe, expect, it, jest } from '@jest/globals';
import {
  AGENT,
  callerWith,
  Installation,
  proposalWith,
  refundCapability,
  REVISION,
  TENANT,
} from '../../../test/builders/installation.js';
import { READ } from '../../../test/contract/capabilities/manifest-examples.js';
import { PAUSE_REVISION } from '../../capabilities/pause-board.js';
import { downstreamKeyFor } from '../../domain/digests/digests.js';
import { reasonedRun } from '../../../test/builders/run-chain-examples.js';
import type { Caller } from '../../identity/caller.js';
import type { Unit } from '../../storage/unit.js';
import { ProposeToolCall, type Proposal } from './propose-tool-call.command.js';

const propose = (installation: Installation, more: Partial<Proposal> = {}, caller: Caller = AGENT) =>
  installation.proposing.execute(new ProposeToolCall(caller, proposalWith(more)));

/** Lets something happen right before the next unit is applied, once. */
function before(installation: Installation, happen: (unit: Unit) => void): void {
  installation.store.beforeCommit = (unit) => {
    installation.store.beforeCommit = () => {};
    happen(unit);
  };
}

describe('a proposal that the policy allows', () => {
  it('opens its run, is judged and leaves, all in one unit where a slot is free', async () => {
    const installation = new Installation();
    const { toolCallId, replayed } = await propose(installation);
    expect(replayed).toBe(false);
    expect(installation.store.units).toHaveLength(1);
    expect(installation.store.lastTypes).toEqual([
      'run.started',
      'tool.call.proposed',
      'policy.decided',
      'capability.authorized',
      'tool.call.dispatching',
    ]);
    expect((await installation.call(toolCallId)).state).toMatchObject({ status: 'dispatching', attempt: 1, fence: 1 });
    expect(installation.slots.counts().inFlight).toBe(1);
  });

  it('waits authorized where no slot is free', async () => {
    const installation = new Installation();
    const id = await installation.authorized();
    expect(installation.store.lastTypes).not.toContain('tool.call.dispatching');
    expect((await installation.call(id)).state).toMatchObject({
      status: 'authorized',
      basis: 'policy',
      executeBy: '2031-01-01T10:15:00.000Z',
    });
  });

  it('is not dispatched by a process that is stopping', async () => {
    const installation = new Installation();
    installation.gate.slots.close();
    await propose(installation);
    expect(installation.store.lastTypes.at(-1)).toBe('capability.authorized');
  });

  it('sends the key that follows from its id, until the deadline of the manifest', async () => {
    const installation = new Installation();
    const { toolCallId } = await propose(installation);
    const dispatching = installation.store.events.at(-1)?.payload;
    const { timeoutMs } = installation.capabilities[0]?.manifest ?? { timeoutMs: 0 };
    expect(dispatching).toMatchObject({
      downstreamKey: downstreamKeyFor(toolCallId),
      owner: 'ins_1',
      ownerEpoch: 2,
      dispatchIntentAt: installation.clock.iso,
      deadline: new Date(installation.clock.now() + timeoutMs).toISOString(),
    });
  });

  it('is authorized no longer than its caller wants it to run', async () => {
    const installation = new Installation();
    const id = await installation.authorized({ executeBefore: '2031-01-01T10:01:00.000Z' });
    expect((await installation.call(id)).state).toMatchObject({ executeBy: '2031-01-01T10:01:00.000Z' });
  });

  it('comes through the lane that back-pressure refuses, with everything it rests on guarded', async () => {
    const installation = new Installation();
    await propose(installation);
    await propose(installation, { idempotencyKey: 'key-2', arguments: { orderId: 'o-2', amountMinor: 5 } });
    const unit = installation.store.units.at(-1);
    expect(unit?.lane).toBe('admit');
    expect(unit?.guards.map(({ name }) => name)).toEqual(['run_open', 'pauses', 'capability', 'policy', 'instance']);
  });
});

describe('a proposal that the policy denies', () => {
  it('is recorded with the reasons and opens no intent', async () => {
    const installation = new Installation();
    installation.policy.deny('not on sundays');
    const { toolCallId } = await propose(installation);
    expect(installation.store.lastTypes.slice(1)).toEqual(['tool.call.proposed', 'policy.decided', 'tool.call.denied']);
    expect((await installation.call(toolCallId)).state).toMatchObject({ status: 'denied', deniedBy: 'policy' });
    expect(installation.store.rows('open_intents')).toEqual([]);
    expect(installation.store.rows('idempotency')).toHaveLength(1);
    expect(installation.slots.counts().inFlight).toBe(0);
  });
});

describe('a proposal about which people are asked', () => {
  it('asks them in the same unit and waits', async () => {
    const installation = new Installation();
    installation.policy.ask();
    const { toolCallId } = await propose(installation);
    expect(installation.store.lastTypes.slice(1)).toEqual([
      'tool.call.proposed',
      'policy.decided',
      'approval.required',
    ]);
    const call = await installation.call(toolCallId);
    const approval = await installation.approvalOf(toolCallId);
    expect(call.state.status).toBe('proposed');
    expect(approval.state).toMatchObject({ status: 'pending', attempt: 1, requesterSubjects: ['alice', 'agent-7'] });
    expect(installation.slots.counts().inFlight).toBe(0);
  });
});

describe('a proposal that was made before', () => {
  it('is answered with the call that has its key, and nothing is recorded', async () => {
    const installation = new Installation();
    const first = await propose(installation);
    const again = await propose(installation);
    expect(again).toEqual({ toolCallId: first.toolCallId, replayed: true });
    expect(installation.store.units).toHaveLength(1);
  });

  it('finds its key after the call has ended, for ever', async () => {
    const installation = new Installation();
    installation.policy.deny('no');
    const first = await propose(installation);
    installation.clock.advance(400 * 86_400_000);
    expect(await propose(installation)).toEqual({ toolCallId: first.toolCallId, replayed: true });
  });

  it('is neither recorded nor sent while nobody can say whether it was made before', async () => {
    const installation = new Installation();
    jest.spyOn(installation.store.read, 'idempotency').mockRejectedValue(new Error('the page is damaged'));
    await expect(propose(installation)).rejects.toThrow('the page is damaged');
    expect(installation.store.units).toEqual([]);
    expect(installation.slots.counts().inFlight).toBe(0);
  });

  it('is refused by the record itself where the look-up for its key finds nothing', async () => {
    const installation = new Installation();
    await propose(installation);
    jest.spyOn(installation.store.read, 'idempotency').mockResolvedValue(null);
    await expect(propose(installation, { allowDuplicateIntent: true })).rejects.toMatchObject({ code: 'contended' });
    expect(installation.store.units).toHaveLength(1);
    expect(installation.slots.counts().inFlight).toBe(1);
  });

  it('is a conflict under the same key with other arguments, naming the call and no argument', async () => {
    const installation = new Installation();
    const first = await propose(installation);
    const other = propose(installation, { arguments: { orderId: 'o-2', amountMinor: 500 } });
    await expect(other).rejects.toMatchObject({
      code: 'idempotency_conflict',
      details: { toolCallId: first.toolCallId },
    });
  });

  it('is outstanding under another key while the first is not settled', async () => {
    const installation = new Installation();
    const first = await propose(installation);
    await expect(propose(installation, { idempotencyKey: 'key-2' })).rejects.toMatchObject({
      code: 'outstanding_identical_intent',
      details: { toolCallId: first.toolCallId },
    });
    await installation.record(first.toolCallId, {
      kind: 'fail',
      failure: { code: 'x', effect: 'none', basis: 'not_sent', retryable: true },
      acceptedAt: installation.clock.iso,
      sentAt: null,
    });
    expect((await propose(installation, { idempotencyKey: 'key-2' })).replayed).toBe(false);
  });

  it('may stand beside the first where the caller says so, with a number of its own', async () => {
    const installation = new Installation();
    await propose(installation);
    await propose(installation, { idempotencyKey: 'key-2', allowDuplicateIntent: true });
    expect(installation.store.rows('open_intents').map(({ ordinal }) => ordinal)).toEqual([0, 1]);
    expect(installation.policy.asked.map(({ allowDuplicateIntent }) => allowDuplicateIntent)).toEqual([false, true]);
  });

  it('is found by its callId within the turn, and only there', async () => {
    const installation = new Installation();
    const named = { turnId: 't-1', callId: 'toolu_1' };
    const first = await propose(installation, named);
    expect(await propose(installation, { ...named, idempotencyKey: 'key-2' })).toEqual({
      toolCallId: first.toolCallId,
      replayed: true,
    });
    const other = { orderId: 'o-2', amountMinor: 5 };
    await expect(propose(installation, { ...named, idempotencyKey: 'key-3', arguments: other })).rejects.toMatchObject({
      code: 'call_id_conflict',
    });
    const nextTurn = { turnId: 't-2', callId: 'toolu_1', idempotencyKey: 'key-4', arguments: other };
    expect((await propose(installation, nextTurn)).replayed).toBe(false);
  });

  it('is no repeat for another principal with the same words', async () => {
    const installation = new Installation();
    await propose(installation);
    const answer = await propose(installation, {}, callerWith({ actor: { sub: 'bob', act: { sub: 'agent-7' } } }));
    expect(answer.replayed).toBe(false);
  });

  it('never holds reads to be the same', async () => {
    const installation = new Installation({ capabilities: [refundCapability(READ)] });
    await propose(installation, { idempotencyKey: null });
    await propose(installation, { idempotencyKey: null });
    expect(installation.store.rows('tool_calls')).toHaveLength(2);
    expect(installation.store.rows('open_intents')).toEqual([]);
  });
});

describe('the run of a proposal', () => {
  it('is one per principal and day where the caller names none', async () => {
    const installation = new Installation();
    await installation.propose({ arguments: { orderId: 'a', amountMinor: 1 } });
    await installation.propose({ arguments: { orderId: 'b', amountMinor: 1 } });
    await installation.propose({}, callerWith({ actor: { sub: 'bob' } }));
    installation.clock.moveTo('2031-01-02T00:00:00.000Z');
    await installation.propose({ arguments: { orderId: 'c', amountMinor: 1 } });
    expect(installation.store.rows('runs').map(({ label, principal }) => [label, principal])).toEqual([
      ['day:2031-01-01', '["alice","agent-7"]'],
      ['day:2031-01-01', '["bob"]'],
      ['day:2031-01-02', '["alice","agent-7"]'],
    ]);
  });

  it('is the one of the caller’s label, which no day can be taken for', async () => {
    const installation = new Installation();
    await installation.propose({ runLabel: 'day:2031-01-01', arguments: { orderId: 'a', amountMinor: 1 } });
    await installation.propose({ arguments: { orderId: 'b', amountMinor: 1 } });
    expect(installation.store.rows('runs').map(({ label }) => label)).toEqual([
      'label:day:2031-01-01',
      'day:2031-01-01',
    ]);
  });

  it('is the one that the body names, of this principal alone', async () => {
    const installation = new Installation();
    const first = await installation.call(await installation.propose());
    const { run_id: runId } = first.row;
    const second = await installation.propose({ runId, arguments: { orderId: 'b', amountMinor: 1 } });
    expect((await installation.call(second)).row.run_id).toBe(runId);
    const other = callerWith({ actor: { sub: 'bob' } });
    await expect(installation.propose({ runId }, other)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(installation.propose({ runId }, callerWith({ tenant: 'globex' }))).rejects.toMatchObject({
      code: 'run_not_found',
    });
  });

  it.each([
    ['stopping', 'run_stopping'],
    ['suspended', 'run_suspended'],
    ['completed', 'run_already_ended'],
  ] as const)('takes nothing while it is %s', async (status, code) => {
    const installation = new Installation();
    const { row } = await installation.call(await installation.propose());
    const [run] = installation.store.rows('runs');
    if (run === undefined) throw new Error('no run');
    installation.store.seed('runs', { ...run, status });
    await expect(
      installation.propose({ runId: row.run_id, arguments: { orderId: 'b', amountMinor: 1 } }),
    ).rejects.toMatchObject({ code });
  });

  it('is a new one where the remembered one has ended', async () => {
    const installation = new Installation();
    await installation.propose();
    const [run] = installation.store.rows('runs');
    if (run === undefined) throw new Error('no run');
    installation.store.seed('runs', { ...run, status: 'completed' });
    const id = await installation.propose({ arguments: { orderId: 'b', amountMinor: 1 } });
    expect((await installation.call(id)).row.run_id).not.toBe(run.run_id);
  });

  it('is the winner’s where two proposals open the same one', async () => {
    const installation = new Installation();
    const [a, b] = await Promise.all([
      installation.propose({ arguments: { orderId: 'a', amountMinor: 1 } }),
      installation.propose({ arguments: { orderId: 'b', amountMinor: 1 } }),
    ]);
    expect(installation.store.rows('runs')).toHaveLength(1);
    expect((await installation.call(a)).row.run_id).toBe((await installation.call(b)).row.run_id);
  });
});

describe('a proposal that meets another writer', () => {
  it('is answered as the repeat it is when its other copy was faster', async () => {
    const installation = new Installation();
    const [a, b] = await Promise.all([propose(installation), propose(installation)]);
    expect(a.toolCallId).toBe(b.toolCallId);
    expect([a, b].filter(({ replayed }) => replayed)).toHaveLength(1);
    expect(installation.slots.counts().inFlight).toBe(1);
  });

  it('is judged again when the policy changed under it', async () => {
    const installation = new Installation();
    before(installation, () => {
      const [row] = installation.store.rows('policy_active');
      if (row === undefined) throw new Error('no policy');
      installation.store.seed('policy_active', { ...row, revision: 'sha256:policy-2' });
      installation.policy.inForce = 'sha256:policy-2';
      installation.policy.deny('no longer');
    });
    const { toolCallId } = await propose(installation);
    expect((await installation.call(toolCallId)).row).toMatchObject({
      status: 'denied',
      policy_revision: 'sha256:policy-2',
    });
    expect(installation.slots.counts().inFlight).toBe(0);
  });

  it('is refused when a pause is set, and seen here, while the policy is being asked', async () => {
    const installation = new Installation();
    const decide = installation.policy.decide.bind(installation.policy);
    installation.policy.decide = async (request) => {
      installation.store.seed('meta', { name: PAUSE_REVISION, value: 'paused-meanwhile' });
      installation.store.seed('pauses', {
        tenant: '*',
        target_kind: 'all',
        target: '',
        reason: null,
        set_event_id: 'evt_pause',
        set_at: '2031-01-01T00:00:00.000Z',
      });
      await installation.gate.lookAgain();
      return decide(request);
    };
    await expect(installation.propose()).rejects.toMatchObject({ code: 'paused' });
    expect(installation.store.rows('tool_calls')).toEqual([]);
  });

  it('is refused when a pause was set under it', async () => {
    const installation = new Installation();
    before(installation, () => {
      installation.store.seed('meta', { name: PAUSE_REVISION, value: '1' });
      installation.store.seed('pauses', {
        tenant: TENANT,
        target_kind: 'tenant',
        target: TENANT,
        reason: null,
        set_event_id: 'evt_1',
        set_at: installation.clock.iso,
      });
    });
    await expect(propose(installation)).rejects.toMatchObject({
      code: 'paused',
      details: { retryAfterSeconds: expect.any(Number) },
    });
    expect(installation.slots.counts().inFlight).toBe(0);
  });

  it.each([
    ['held', 'capability_held'],
    ['superseded', 'capability_version_changed'],
  ] as const)('is refused when its capability is %s', async (state, code) => {
    const installation = new Installation();
    const [row] = installation.store.rows('capabilities');
    if (row === undefined) throw new Error('no capability');
    installation.store.seed('capabilities', { ...row, state });
    await expect(propose(installation)).rejects.toMatchObject({ code });
    expect(installation.slots.counts().inFlight).toBe(0);
  });

  it('gives up after three times and gives its slots back', async () => {
    const installation = new Installation();
    let tries = 0;
    installation.store.beforeCommit = () => {
      tries += 1;
      installation.store.seed('policy_active', {
        scope: '*',
        revision: `sha256:${tries}`,
        schema_digest: 's',
        stream_version: 0,
        activated_event_id: null,
        activated_at: installation.clock.iso,
      });
    };
    await expect(propose(installation)).rejects.toMatchObject({ code: 'contended' });
    expect(tries).toBe(3);
    expect(installation.store.units).toEqual([]);
    expect(installation.slots.counts().inFlight).toBe(0);
  });

  it('gives its slot back when the store cannot write', async () => {
    const installation = new Installation();
    installation.store.beforeCommit = () => {
      throw new Error('the disk is gone');
    };
    await expect(propose(installation)).rejects.toThrow('the disk is gone');
    expect(installation.slots.counts().inFlight).toBe(0);
  });
});

describe('a proposal that comes too late', () => {
  it.each(['2031-01-01T10:00:00.000Z', '2031-01-01T09:59:59.999Z'])(
    'for %s is refused unrecorded',
    async (executeBefore) => {
      const installation = new Installation();
      await expect(propose(installation, { executeBefore })).rejects.toMatchObject({ code: 'invalid_timestamp' });
      expect(installation.store.units).toEqual([]);
    },
  );
});

describe('what the policy is asked', () => {
  it('is who, what, with which effective arguments and when', async () => {
    const installation = new Installation();
    const reasoning = await reasonedRun(installation);
    await propose(installation, { runId: reasoning.runId, reasoningObjectId: reasoning.objectId });
    expect(installation.policy.asked).toEqual([
      {
        tenant: TENANT,
        sub: 'alice',
        act: 'agent-7',
        roles: ['harness'],
        capability: 'refund.create',
        capabilityVersion: '1.0.0',
        risk: 'high',
        effect: 'probeable',
        input: { orderId: 'o-1', amountMinor: 500, currency: 'EUR' },
        approvals: {},
        attempt: 1,
        reasoningPresent: true,
        allowDuplicateIntent: false,
        nowMs: installation.clock.now(),
      },
    ]);
    expect(installation.revision).toBe(REVISION);
  });
});

describe('a proposal that rests on a judgement', () => {
  it('is caused by it and belongs to the intent that it began', async () => {
    const installation = new Installation();
    const reasoning = await reasonedRun(installation);
    await propose(installation, { runId: reasoning.runId, reasoningObjectId: reasoning.objectId });
    const [proposed] = installation.store.events.filter(({ envelope }) => envelope.eventType === 'tool.call.proposed');
    const [judged] = installation.store.events.filter(({ envelope }) => envelope.eventType === 'reasoning.recorded');
    expect(proposed?.envelope).toMatchObject({
      causationId: judged?.envelope.eventId,
      causeKind: 'event',
      correlationId: reasoning.objectId,
      reasoningObjectId: reasoning.objectId,
    });
  });

  it.each([
    ['that was never recorded', {}, 'rsn_0'],
    ['of another run', { runLabel: 'another' }, null],
  ])('%s is refused and nothing is recorded, so that none can be made up', async (_which, place, made) => {
    const installation = new Installation();
    const reasoning = await reasonedRun(installation);
    const { length } = installation.store.units;
    const proposal = { runId: 'runLabel' in place ? null : reasoning.runId, ...place };
    const answer = propose(installation, { ...proposal, reasoningObjectId: made ?? reasoning.objectId });
    await expect(answer).rejects.toMatchObject({ code: 'dangling_reference' });
    expect(installation.store.units).toHaveLength(length);
  });
});
