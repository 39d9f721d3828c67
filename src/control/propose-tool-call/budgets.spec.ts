import { describe, expect, it } from '@jest/globals';
import { LimitingPolicy, spent } from '../../../test/builders/budgets.js';
import { AGENT, APPROVER, Installation, TENANT } from '../../../test/builders/installation.js';
import { completion, failure } from '../../../test/builders/tool-call-examples.js';
import { ApprovalExpiry } from '../../policy/approvals/approval-expiry.js';
import { Dispatcher } from '../../proxy/executor/dispatcher.js';
import { GuardFailed } from '../../storage/unit.js';
import { closeUnsent } from '../../storage/units/close-unsent.js';
import { DecideApproval } from '../decide-approval/decide-approval.command.js';
import { DecideApprovalHandler } from '../decide-approval/decide-approval.handler.js';
import { LostGround } from '../decide-approval/lost-ground.js';
import { RetryToolCall } from '../retry-tool-call/retry-tool-call.command.js';
import { RetryToolCallHandler } from '../retry-tool-call/retry-tool-call.handler.js';

const TIMES = { acceptedAt: '2031-01-01T10:00:02.000Z', sentAt: null };
const UNKNOWN = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null } as const;
const fail = (effect: 'none' | 'partial' | 'full') =>
  ({ kind: 'fail', failure: failure({ effect, basis: 'rejected' }), ...TIMES }) as const;

class Budgeted {
  readonly policy = new LimitingPolicy();
  readonly installation = new Installation({ policy: this.policy });
  private orders = 0;

  propose(amountMinor: number): Promise<string> {
    this.orders += 1;
    return this.installation.propose({ arguments: { orderId: `o-${this.orders}`, amountMinor } });
  }

  authorized(amountMinor: number): Promise<string> {
    this.orders += 1;
    return this.installation.authorized({
      idempotencyKey: `a-${this.orders}`,
      arguments: { orderId: `o-${this.orders}`, amountMinor },
    });
  }

  dispatch(id: string) {
    const { desk, gate, judge, rejudgement, leases } = this.installation;
    return new Dispatcher(desk, gate, judge, rejudgement, leases.authority).dispatch(TENANT, id);
  }

  retry(id: string) {
    const { desk, commands, gate, judge } = this.installation;
    return new RetryToolCallHandler(desk, commands, gate, judge).execute(new RetryToolCall(AGENT, id, null, null));
  }

  async vote(id: string, decision: 'allow' | 'deny'): Promise<void> {
    const { desk, commands, gate, judge, rejudgement, log } = this.installation;
    const { row, state } = await this.installation.approvalOf(id);
    const word = { approvalId: row.approval_id, decision, digest: state.consentDigest, reason: null };
    const lostGround = new LostGround(desk, new ApprovalExpiry(desk, log), rejudgement);
    const handler = new DecideApprovalHandler(desk, commands, gate, judge, lostGround);
    await handler.execute(new DecideApproval(APPROVER, { ...word, expectedVersion: null }, null));
  }

  async changePolicy(): Promise<void> {
    const [row] = this.installation.store.rows('policy_active');
    if (row === undefined) throw new Error('no policy');
    this.installation.store.seed('policy_active', { ...row, revision: 'sha256:policy-2' });
    this.policy.inForce = 'sha256:policy-2';
  }

  get spent(): readonly number[] {
    return spent(this.installation);
  }

  async stateOf(id: string) {
    return (await this.installation.call(id)).state;
  }
}

describe('a budget', () => {
  it('is taken from with the proposal, and what was taken stands in the record of the decision', async () => {
    const budget = new Budgeted();
    const id = await budget.propose(400);
    expect(budget.spent).toEqual([400]);
    const decided = budget.installation.store.events.find(({ envelope }) => envelope.eventType === 'policy.decided');
    expect(decided?.payload['reservations']).toEqual([
      { key: expect.stringMatching(/^limit\/2031-01-02T00:00:00.000Z\/spend\.day\//), add: 400, max: 1000 },
    ]);
    expect((await budget.stateOf(id)).reserved).toEqual(decided?.payload['reservations']);
  });

  it('is taken from as well while people are asked', async () => {
    const budget = new Budgeted();
    budget.policy.ask();
    await budget.propose(400);
    expect(budget.spent).toEqual([400]);
  });

  it('that is full denies, as a call on record, with words for the model and no number of others', async () => {
    const budget = new Budgeted();
    await budget.propose(900);
    const id = await budget.propose(101);
    expect(await budget.stateOf(id)).toMatchObject({ status: 'denied', deniedBy: 'policy', reserved: null });
    const denied = budget.installation.store.events.at(-1)?.payload;
    expect(denied?.['reasons']).toEqual(['budget_exceeded', expect.stringContaining('spend.day')]);
    expect(JSON.stringify(denied)).not.toContain('900');
    const decided = budget.installation.store.events.at(-2)?.payload;
    expect(decided).toMatchObject({ outcome: 'deny', exceeded: expect.stringContaining('/spend.day/') });
    expect(budget.spent).toEqual([900]);
    expect(budget.installation.store.rows('open_intents')).toHaveLength(1);
  });

  it('still has room to its last unit', async () => {
    const budget = new Budgeted();
    await budget.propose(900);
    expect(await budget.stateOf(await budget.propose(100))).toMatchObject({ status: 'dispatching' });
    expect(budget.spent).toEqual([1000]);
  });

  it('that others fill between the look and the unit denies too, and is no failure', async () => {
    const budget = new Budgeted();
    await budget.propose(900);
    const [row] = budget.installation.store.rows('counters');
    if (row === undefined) throw new Error('a counter');
    budget.installation.store.seed('counters', { ...row, value: 0 });
    budget.installation.store.beforeCommit = () => {
      budget.installation.store.beforeCommit = () => {};
      budget.installation.store.seed('counters', { ...row, value: 950 });
    };
    expect((await budget.stateOf(await budget.propose(100))).status).toBe('denied');
    expect(budget.spent).toEqual([950]);
    expect(budget.installation.slots.counts().inFlight).toBe(1);
  });

  it('never asks people about what it would not allow', async () => {
    const budget = new Budgeted();
    await budget.propose(900);
    budget.policy.ask();
    const id = await budget.propose(101);
    expect((await budget.stateOf(id)).status).toBe('denied');
    expect(budget.installation.store.rows('approvals')).toEqual([]);
  });

  it('belongs to its window: the next day has a new one', async () => {
    const budget = new Budgeted();
    await budget.propose(1000);
    budget.installation.clock.advance(86_400_000);
    expect((await budget.stateOf(await budget.propose(1000))).status).toBe('dispatching');
    expect(budget.spent).toEqual([1000, 1000]);
  });
});

describe('what a call took of a budget', () => {
  it('is kept when it is carried out, and while nobody knows', async () => {
    const budget = new Budgeted();
    const done = await budget.propose(300);
    await budget.installation.record(done, { kind: 'complete', completion: completion('direct'), ...TIMES });
    await budget.installation.record(await budget.propose(200), UNKNOWN);
    expect(budget.spent).toEqual([500]);
  });

  it.each([
    ['none', 0],
    ['partial', 300],
    ['full', 300],
  ] as const)('after a failure with effect %s is %i', async (effect, left) => {
    const budget = new Budgeted();
    await budget.installation.record(await budget.propose(300), fail(effect));
    expect(budget.spent).toEqual([left]);
  });

  it('is given back when people say no', async () => {
    const budget = new Budgeted();
    budget.policy.ask();
    await budget.vote(await budget.propose(300), 'deny');
    expect(budget.spent).toEqual([0]);
  });

  it('is kept when they say yes', async () => {
    const budget = new Budgeted();
    budget.policy.ask();
    await budget.vote(await budget.propose(300), 'allow');
    expect(budget.spent).toEqual([300]);
  });

  it('is given back when nobody answers in time', async () => {
    const budget = new Budgeted();
    budget.policy.ask();
    await budget.propose(300);
    budget.installation.clock.advance(3_600_000);
    await new ApprovalExpiry(budget.installation.desk, budget.installation.log).tick();
    expect(budget.spent).toEqual([0]);
  });

  it.each(['cancelled', 'stopped', 'superseded', 'run_ended'] as const)(
    'is given back when it was %s',
    async (reason) => {
      const budget = new Budgeted();
      budget.policy.ask();
      const id = await budget.propose(300);
      const { installation } = budget;
      const { row } = await installation.call(id);
      const draft = installation.desk.beginAbout(row, { lane: 'govern', causeKind: 'event' });
      closeUnsent(draft, await installation.call(id), await installation.approvalOf(id), reason, 'control-plane');
      await installation.desk.commit(draft);
      expect(budget.spent).toEqual([0]);
    },
  );

  it('is given back when a person finds that it did not happen, and not when it did', async () => {
    for (const [finding, left] of [
      ['not_happened', 0],
      ['happened', 300],
    ] as const) {
      const budget = new Budgeted();
      const id = await budget.propose(300);
      const handoff = { kind: 'hand_off', handoff: { reason: 'attempts_exhausted', evidenceRefs: [] } } as const;
      await budget.installation.record(id, UNKNOWN, { ...handoff, opened: { handoffId: 'hnd_1', packet: {} } });
      expect(budget.spent).toEqual([300]);
      const found = { handoffId: 'hnd_1', finding, evidenceRefs: ['e-1'], resolvedBy: { sub: 'olga' } };
      await budget.installation.record(id, { kind: 'resolve_handoff', finding: found });
      expect(budget.spent).toEqual([left]);
    }
  });

  it('is taken again by a retry, and there is none without room', async () => {
    const budget = new Budgeted();
    const id = await budget.propose(300);
    await budget.installation.record(id, fail('none'));
    await budget.retry(id);
    expect(budget.spent).toEqual([300]);
    expect((await budget.stateOf(id)).attempt).toBe(2);
    const other = await budget.propose(600);
    await budget.installation.record(other, fail('none'));
    await budget.propose(500);
    await budget.retry(other);
    expect(await budget.stateOf(other)).toMatchObject({ status: 'denied', attempt: 2 });
    expect(budget.spent).toEqual([800]);
  });

  it('is given back once, whoever ends it first', async () => {
    const budget = new Budgeted();
    const id = await budget.authorized(300);
    const call = await budget.installation.call(id);
    const close = { kind: 'close', closing: { reason: 'cancelled' } } as const;
    await budget.installation.recorder.record(call, close);
    await expect(budget.installation.recorder.record(call, close)).rejects.toThrow(GuardFailed);
    expect(budget.spent).toEqual([0]);
  });
});

describe('a dispatch', () => {
  it('takes nothing more: what the call holds covers it, even on the next day', async () => {
    const budget = new Budgeted();
    budget.policy.max = 300;
    budget.installation.clock.moveTo('2031-01-01T23:55:00.000Z');
    const id = await budget.authorized(300);
    budget.installation.clock.moveTo('2031-01-02T00:05:00.000Z');
    expect(await budget.dispatch(id)).toBe('dispatching');
    expect(budget.spent).toEqual([300]);
    const decided = budget.installation.store.events.at(-2);
    expect(decided?.envelope.eventType).toBe('policy.decided');
    expect(decided?.payload['reservations']).toBeUndefined();
  });

  it('takes what a policy that came meanwhile limits', async () => {
    const budget = new Budgeted();
    budget.policy.limits = false;
    const id = await budget.authorized(300);
    expect(budget.spent).toEqual([]);
    budget.policy.limits = true;
    await budget.changePolicy();
    expect(await budget.dispatch(id)).toBe('dispatching');
    expect(budget.spent).toEqual([300]);
  });

  it('is refused where that has no room, and gives back what was taken', async () => {
    const budget = new Budgeted();
    const id = await budget.authorized(300);
    budget.policy.max = 200;
    await budget.changePolicy();
    expect(await budget.dispatch(id)).toBe('closed');
    expect(await budget.stateOf(id)).toMatchObject({ status: 'denied', deniedBy: 'policy_at_dispatch' });
    expect(budget.spent).toEqual([0]);
  });
});

describe('a question that is asked anew', () => {
  it('holds what it held, once', async () => {
    const budget = new Budgeted();
    budget.policy.ask();
    const id = await budget.propose(300);
    await budget.changePolicy();
    const { installation } = budget;
    await installation.rejudgement.rejudge(
      await installation.approvalOf(id),
      await installation.call(id),
      'policy_changed',
    );
    expect(budget.spent).toEqual([300]);
    expect((await budget.stateOf(id)).reserved).toMatchObject([{ add: 300 }]);
  });

  it('holds nothing where the policy of now limits nothing', async () => {
    const budget = new Budgeted();
    budget.policy.ask();
    const id = await budget.propose(300);
    budget.policy.limits = false;
    await budget.changePolicy();
    const { installation } = budget;
    await installation.rejudgement.rejudge(
      await installation.approvalOf(id),
      await installation.call(id),
      'policy_changed',
    );
    expect(budget.spent).toEqual([0]);
  });
});
