import { describe, expect, it } from '@jest/globals';
import { ApprovalDeskBench, codeOf, person } from '../../../test/builders/approval-desk.js';
import {
  AGENT,
  APPROVER,
  callerWith,
  OPERATOR,
  refundCapability,
  TENANT,
} from '../../../test/builders/installation.js';
import { ORDER_PATH, preconditionWith, restsOn } from '../../../test/builders/precondition-examples.js';
import { failure } from '../../../test/builders/tool-call-examples.js';
import { foldApproval } from '../../domain/approval/approval.evolve.js';
import { domainEventOf } from '../../domain/events/domain-event.js';
import { EscalationTimer } from '../../policy/approvals/escalation-timer.js';
import { SuspendRun } from '../suspend-run/suspend-run.command.js';
import { SuspendRunHandler } from '../suspend-run/suspend-run.handler.js';
import type { ApprovalAct } from './act-on-approval.command.js';
import type { DelegationTerms } from './standing-right.command.js';
import { RetryToolCall } from '../retry-tool-call/retry-tool-call.command.js';
import { RetryToolCallHandler } from '../retry-tool-call/retry-tool-call.handler.js';
import { DecideApprovals } from './decide-approvals.command.js';
import { DecideApprovalsHandler } from './decide-approvals.handler.js';

const TWO = [{ group: 'finance', count: 2, notRequester: true }];
const FRED = person('fred', 'finance');
const DORA = person('dora');
const BEA = person('bea', 'board');
const EVA = person('eva', 'incident');
const delegate: ApprovalAct = { kind: 'delegate', to: 'dora', until: null, groups: null, reason: null };
const TO_THE_BOARD: ApprovalAct = { kind: 'escalate', group: 'board', reason: 'nobody is here' };
const withdraw: ApprovalAct = { kind: 'withdraw_vote', reason: 'wrong order' };

async function foldOf(bench: ApprovalDeskBench, id: string) {
  const { row } = await bench.approval(id);
  const { read } = bench.installation.store;
  const events = await read.streamEvents(TENANT, { kind: 'approval', id: row.approval_id });
  return foldApproval(
    null,
    events.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload)),
  );
}

describe('a vote that is withdrawn', () => {
  it('leaves an open question open, and may be cast again', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked(TWO);
    await bench.decide(id);
    await bench.act(id, withdraw);
    expect(bench.types).toEqual(['control.accepted', 'approval.vote_withdrawn']);
    expect((await bench.approval(id)).state).toMatchObject({ status: 'pending', votes: [] });
    await bench.decide(id);
    expect((await bench.approval(id)).state.votes).toHaveLength(1);
  });

  it('takes the grant with it also while the run rests: what was taken back is not sent when it goes on', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked();
    await bench.decide(id);
    const { desk, commands, settings } = bench.installation;
    const { run_id: runId } = (await bench.installation.call(id)).row;
    await new SuspendRunHandler(desk, commands, settings).execute(new SuspendRun(AGENT, runId, null, null));
    expect((await bench.installation.store.read.run(TENANT, runId))?.status).toBe('suspended');
    await bench.act(id, withdraw);
    expect(await bench.statusOf(id)).toBe('proposed');
    expect((await bench.approval(id)).state).toMatchObject({ status: 'pending', votes: [] });
  });

  it('takes the grant with it, and the policy judges the call anew in the same unit', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked();
    await bench.decide(id);
    const before = (await bench.approval(id)).row.approval_id;
    await bench.act(id, withdraw);
    expect(bench.types).toEqual([
      'control.accepted',
      'approval.vote_withdrawn',
      'approval.invalidated',
      'capability.authorization_withdrawn',
      'policy.decided',
      'approval.required',
    ]);
    expect((await bench.approval(id)).row).toMatchObject({ status: 'pending', supersedes_approval_id: before });
    expect(await bench.dispatch(id)).toBe('closed');
    expect(await bench.statusOf(id)).toBe('proposed');
  });

  it('counts also while the policy cannot be asked: the call ends', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked();
    await bench.decide(id);
    bench.installation.policy.answer = { outcome: 'deny', denyCode: 'engine_error', engineErrors: ['gone'] };
    await bench.act(id, withdraw);
    expect(await bench.statusOf(id)).toBe('not_executed');
  });

  it('is nobody else’s to withdraw, and cannot be once the call was sent', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked();
    await bench.decide(id);
    expect(await codeOf(bench.act(id, withdraw, FRED))).toBe('approver_not_allowed');
    bench.installation.policy.allow();
    expect(await bench.dispatch(id)).toBe('dispatching');
    expect(await codeOf(bench.act(id, withdraw))).toBe('approval_already_consumed');
  });
});

describe('a right that is lent', () => {
  it('for one question lets the deputy decide there, once with its lender', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked(TWO);
    expect(await codeOf(bench.decide(id, DORA))).toBe('approver_not_allowed');
    await bench.act(id, delegate);
    await bench.decide(id, DORA);
    await bench.decide(id, APPROVER);
    expect((await bench.approval(id)).state.status).toBe('pending');
    await bench.decide(id, FRED);
    expect((await bench.approval(id)).state.status).toBe('granted');
    expect(await foldOf(bench, id)).toEqual((await bench.approval(id)).state);
  });

  it('for one question may be taken back there, by whoever lent it', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked(TWO);
    await bench.act(id, delegate);
    const back: ApprovalAct = { kind: 'revoke_delegation', to: 'dora', reason: 'here again' };
    expect(await codeOf(bench.act(id, back, FRED))).toBe('approver_not_allowed');
    await bench.act(id, back);
    expect(bench.types).toEqual(['control.accepted', 'approval.delegation_revoked']);
    expect(await codeOf(bench.decide(id, DORA))).toBe('approver_not_allowed');
    expect((await bench.approval(id)).state.delegations).toEqual([]);
    expect(await foldOf(bench, id)).toEqual((await bench.approval(id)).state);
  });

  it('is not lent to the requester, nor to an agent that is known as one, and the attempt is on record', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked();
    for (const to of ['alice', 'agent-7']) {
      expect(await codeOf(bench.act(id, { ...delegate, to } as ApprovalAct))).toBe('delegate_not_allowed');
      expect(bench.types).toEqual(['control.rejected']);
    }
    const terms = { kind: 'delegation', to: 'agent-7', groups: null, until: '2031-01-02T10:00:00.000Z', reason: null };
    expect(await codeOf(bench.give(terms as DelegationTerms))).toBe('delegate_not_allowed');
    expect(bench.types).toEqual(['control.rejected']);
  });

  it('that stands lets the deputy decide until it is revoked', async () => {
    const bench = new ApprovalDeskBench();
    const terms = {
      kind: 'delegation',
      to: 'dora',
      groups: null,
      until: '2031-01-02T10:00:00.000Z',
      reason: null,
    } as const;
    const { id: delegationId } = await bench.give(terms);
    const [first, second] = [
      await bench.asked(),
      await bench.asked([{ group: 'finance', count: 1, notRequester: true }], {
        arguments: { orderId: 'o-2', amountMinor: 1 },
      }),
    ];
    await bench.decide(first, DORA);
    expect((await bench.approval(first)).state.votes).toEqual([
      { sub: 'dora', decision: 'allow', groups: ['finance'], onBehalfOf: ['fay'] },
    ]);
    await bench.revoke('delegation', delegationId);
    expect(await codeOf(bench.decide(second, DORA))).toBe('approver_not_allowed');
  });

  it('that was revoked while its deputy was deciding does not count', async () => {
    const bench = new ApprovalDeskBench();
    const terms = {
      kind: 'delegation',
      to: 'dora',
      groups: null,
      until: '2031-01-02T10:00:00.000Z',
      reason: null,
    } as const;
    const { id: delegationId } = await bench.give(terms);
    const id = await bench.asked();
    const { read } = bench.installation.store;
    const delegationsTo = read.delegationsTo.bind(read);
    const stale = await delegationsTo(TENANT, 'dora');
    await bench.revoke('delegation', delegationId);
    let reads = 0;
    read.delegationsTo = async (...args) => (reads++ === 0 ? stale : delegationsTo(...args));
    expect(await codeOf(bench.decide(id, DORA))).toBe('approver_not_allowed');
    expect(reads).toBe(2);
    expect((await bench.approval(id)).state).toMatchObject({ status: 'pending', escalations: [] });
  });

  it('is for votes alone: whoever acts for another asks nobody else and lends nothing on', async () => {
    const bench = new ApprovalDeskBench();
    const until = '2031-01-02T10:00:00.000Z';
    await bench.give({ kind: 'delegation', to: 'dora', groups: null, until, reason: null });
    const id = await bench.asked();
    const lendOn: ApprovalAct = { ...delegate, to: 'bea' };
    for (const act of [TO_THE_BOARD, lendOn])
      expect(await codeOf(bench.act(id, act, DORA))).toBe('approver_not_allowed');
    expect((await bench.approval(id)).state).toMatchObject({ delegations: [], escalations: [] });
    await bench.decide(id, DORA);
    expect((await bench.approval(id)).state.status).toBe('granted');
  });
});

describe('a question that is widened', () => {
  it('by an approver lets the wider group decide', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked();
    expect(await codeOf(bench.act(id, { kind: 'escalate', group: 'legal', reason: 'x' }))).toBe('approver_not_allowed');
    expect(bench.types).toEqual(['control.rejected']);
    await bench.act(id, { kind: 'escalate', group: 'board', reason: 'beyond us' });
    await bench.decide(id, BEA);
    expect((await bench.approval(id)).state).toMatchObject({ status: 'granted', decidedBy: ['bea'] });
  });

  it('by its policy is widened at its time without anybody reading it [F03]', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked([
      { group: 'finance', count: 1, notRequester: true, escalation: { group: 'board', afterMs: 600_000 } },
    ]);
    const { desk, log, clock } = bench.installation;
    const timer = new EscalationTimer(desk, log);
    await timer.tick();
    expect((await bench.approval(id)).state.escalations).toEqual([]);
    clock.moveTo('2031-01-01T10:10:00.000Z');
    await timer.tick();
    expect(bench.types).toEqual(['approval.escalated']);
    expect((await bench.approval(id)).row).toMatchObject({ escalate_at: null, status: 'pending' });
    expect(await foldOf(bench, id)).toEqual((await bench.approval(id)).state);
    const units = bench.installation.store.units.length;
    await timer.tick();
    expect(bench.installation.store.units).toHaveLength(units);
  });
});

describe('an emergency', () => {
  it('grants nothing when what the call rests on is not as it was shown [K-97]', async () => {
    const bench = new ApprovalDeskBench([refundCapability(restsOn(preconditionWith()))]);
    const { world } = bench.installation;
    world.values.set(ORDER_PATH, { status: 'open' });
    const id = await bench.asked();
    world.values.set(ORDER_PATH, { status: 'held' });
    expect(await codeOf(bench.breakGlass(id, EVA))).toBe('precondition_changed');
    expect(bench.installation.store.events.map(({ envelope }) => envelope.eventType)).not.toContain(
      'approval.break_glass_used',
    );
    expect(await bench.statusOf(id)).toBe('proposed');
    expect(await codeOf(bench.breakGlass(id, EVA))).toBe('recorded');
  });

  it('lets the call pass alone, the policy sees that it is one, and a review is owed', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked(TWO);
    await bench.breakGlass(id, EVA);
    expect(bench.types).toEqual([
      'control.accepted',
      'approval.break_glass_used',
      'approval.granted',
      'capability.authorized',
    ]);
    bench.installation.policy.allow();
    expect(await bench.dispatch(id)).toBe('dispatching');
    expect(bench.installation.policy.asked.at(-1)).toMatchObject({
      breakGlass: true,
      approvals: { finance: { count: 2, includesRequester: false } },
    });
    expect((await bench.approval(id)).row.review_owed).toBe(1);
    const review: ApprovalAct = { kind: 'review', finding: 'justified', reason: 'it was' };
    expect(await codeOf(bench.act(id, review, callerWith({ ...EVA, roles: ['approver'] })))).toBe(
      'approver_not_allowed',
    );
    await bench.act(id, review, OPERATOR);
    expect((await bench.approval(id)).row).toMatchObject({ review_owed: 0, reviewed_by: 'olga' });
    expect(await foldOf(bench, id)).toEqual((await bench.approval(id)).state);
    expect(await codeOf(bench.act(id, review, FRED))).toBe('review_not_owed');
  });

  it('is of one attempt: the next is judged without it, and people are asked', async () => {
    const bench = new ApprovalDeskBench();
    const { policy, desk, commands, gate, judge } = bench.installation;
    const scripted = policy.decide.bind(policy);
    policy.decide = (request) => {
      if (request.breakGlass === true) policy.allow();
      else policy.ask({ rules: TWO });
      return scripted(request);
    };
    const id = await bench.installation.propose();
    await bench.breakGlass(id, EVA);
    expect(await bench.dispatch(id)).toBe('dispatching');
    const times = { acceptedAt: '2031-01-01T10:00:02.000Z', sentAt: null };
    await bench.installation.record(id, { kind: 'fail', failure: failure({ basis: 'not_sent' }), ...times });
    const retry = new RetryToolCall(AGENT, id, null, null);
    await new RetryToolCallHandler(desk, commands, gate, judge).execute(retry);
    expect(policy.asked.at(-1)).not.toHaveProperty('breakGlass');
    expect(await bench.statusOf(id)).toBe('proposed');
  });

  it('can still be refused by the policy when it is sent', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked();
    await bench.breakGlass(id, EVA);
    bench.installation.policy.deny('not even then');
    expect(await bench.dispatch(id)).toBe('closed');
    expect(await bench.statusOf(id)).toBe('denied');
  });

  it.each([
    ['an approver who is not trusted with it', APPROVER],
    ['the requester', callerWith({ ...EVA, actor: { sub: 'alice' } })],
    ['an agent', callerWith({ ...EVA, isAgent: true })],
    ['somebody trusted with it whose token is for feedback', callerWith({ ...EVA, roles: ['feedback'] })],
  ])('is not for %s', async (_, caller) => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked();
    expect(await codeOf(bench.breakGlass(id, caller))).toBe('approver_not_allowed');
    expect(bench.types).toEqual(['control.rejected']);
    expect((await bench.approval(id)).state.status).toBe('pending');
  });
});

describe('many decisions at once', () => {
  const word = async (bench: ApprovalDeskBench, id: string, more = {}) => {
    const { row, state } = await bench.approval(id);
    return {
      approvalId: row.approval_id,
      decision: 'allow' as const,
      digest: state.consentDigest,
      reason: null,
      expectedVersion: null,
      ...more,
    };
  };

  it('decide exactly what is listed, each by itself [E11]', async () => {
    const bench = new ApprovalDeskBench();
    const ids = [];
    for (const n of [1, 2, 3, 4])
      ids.push(await bench.asked(undefined, { arguments: { orderId: `o-${n}`, amountMinor: 1 } }));
    const [a, b, c, d] = ids as [string, string, string, string];
    const words = [
      await word(bench, a),
      await word(bench, b, { digest: 'sha256:other' }),
      await word(bench, c, { decision: 'deny' }),
    ];
    const results = await new DecideApprovalsHandler(bench.deciding).execute(
      new DecideApprovals(APPROVER, words, 'bulk-1'),
    );
    expect(results.map(({ result }) => result)).toEqual(['recorded', 'refused', 'recorded']);
    expect(results[1]).toMatchObject({ code: 'action_digest_mismatch' });
    expect(await Promise.all([a, b, c, d].map((id) => bench.statusOf(id)))).toEqual([
      'authorized',
      'proposed',
      'denied',
      'proposed',
    ]);
  });

  it('refuse a question that is listed twice, and record nothing', async () => {
    const bench = new ApprovalDeskBench();
    const one = await word(bench, await bench.asked());
    const units = bench.installation.store.units.length;
    const twice = new DecideApprovals(APPROVER, [one, { ...one, decision: 'deny' }], null);
    expect(await codeOf(new DecideApprovalsHandler(bench.deciding).execute(twice))).toBe('invalid_request');
    expect(bench.installation.store.units).toHaveLength(units);
  });
});
