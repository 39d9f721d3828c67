import { describe, expect, it } from '@jest/globals';
import { ApprovalDeskBench, codeOf, person } from '../../../test/builders/approval-desk.js';
import { AGENT, APPROVER, callerWith, OPERATOR, proposalWith, TENANT } from '../../../test/builders/installation.js';
import { failure } from '../../../test/builders/tool-call-examples.js';
import { domainEventOf } from '../../domain/events/domain-event.js';
import { foldStanding } from '../../domain/standing/standing.evolve.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { GrantBoard } from '../../policy/grants/grant-board.js';
import { StandingExpiry } from '../../policy/grants/standing-expiry.js';
import { grantState } from '../../storage/rows/standing.row.js';
import { ProposeToolCall } from '../propose-tool-call/propose-tool-call.command.js';
import { RetryToolCall } from '../retry-tool-call/retry-tool-call.command.js';
import { RetryToolCallHandler } from '../retry-tool-call/retry-tool-call.handler.js';
import type { GrantTerms } from './standing-right.command.js';

const GRANT: GrantTerms = {
  kind: 'grant',
  capability: 'refund.create',
  group: 'finance',
  principalSub: null,
  principalAct: 'agent-7',
  argumentsEqual: null,
  until: '2031-01-01T11:00:00.000Z',
  reason: 'this hour',
};

const NOT_SENT: ToolCallCommand = {
  kind: 'fail',
  failure: failure({ basis: 'not_sent' }),
  acceptedAt: '2031-01-01T10:00:02.000Z',
  sentAt: null,
};

/** A policy that asks finance unless enough of them allow already. */
function asking(count = 1): ApprovalDeskBench {
  const bench = new ApprovalDeskBench();
  const { policy } = bench.installation;
  const scripted = policy.decide.bind(policy);
  policy.decide = (request) => {
    if ((request.approvals['finance']?.count ?? 0) >= count) policy.allow();
    else policy.ask({ rules: [{ group: 'finance', count, notRequester: true }] });
    return scripted(request);
  };
  return bench;
}

describe('a standing grant', () => {
  it('stands for its owner’s allow where the policy is asked, and the call goes on by itself', async () => {
    const bench = asking();
    await bench.give(GRANT);
    const id = await bench.installation.propose();
    expect(await bench.statusOf(id)).toBe('dispatching');
    expect(bench.installation.policy.asked.at(-1)?.approvals).toEqual({
      finance: { count: 1, includesRequester: false },
    });
  });

  it.each([
    ['another agent', { ...GRANT, principalAct: 'agent-8' }],
    ['another person', { ...GRANT, principalSub: 'bob' }],
    ['other arguments', { ...GRANT, argumentsEqual: { '/amountMinor': 501 } }],
    ['an argument that is not there', { ...GRANT, argumentsEqual: { '/no': 1 } }],
  ])('for %s covers nothing', async (_, terms) => {
    const bench = asking();
    await bench.give(terms);
    expect(await bench.statusOf(await bench.installation.propose())).toBe('proposed');
  });

  it('covers exactly the arguments that it names', async () => {
    const bench = asking();
    await bench.give({ ...GRANT, argumentsEqual: { '/amountMinor': 500 } });
    expect(await bench.statusOf(await bench.installation.propose())).toBe('dispatching');
    const other = await bench.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 499 } });
    expect(await bench.statusOf(other)).toBe('proposed');
  });

  it('of one person counts once, and of two people as two', async () => {
    const bench = asking(2);
    await bench.give(GRANT);
    await bench.give({ ...GRANT, reason: 'again' });
    expect(await bench.statusOf(await bench.installation.propose())).toBe('proposed');
    await bench.give(GRANT, person('fred', 'finance'));
    const id = await bench.installation.propose({ arguments: { orderId: 'o-2', amountMinor: 5 } });
    expect(await bench.statusOf(id)).toBe('dispatching');
  });

  it('of the requester counts nothing for their own requests', async () => {
    const bench = asking();
    await bench.give(GRANT, callerWith({ ...APPROVER, actor: { sub: 'alice' } }));
    expect(await bench.statusOf(await bench.installation.propose())).toBe('proposed');
  });

  it('that was revoked before the call is sent does not count there: people are asked', async () => {
    const bench = asking();
    const { id: grantId } = await bench.give(GRANT);
    const id = await bench.installation.authorized();
    expect(await bench.statusOf(id)).toBe('authorized');
    await bench.revoke('grant', grantId);
    expect(await bench.dispatch(id)).toBe('closed');
    expect(await bench.statusOf(id)).toBe('proposed');
    expect((await bench.approval(id)).state.status).toBe('pending');
  });

  it('counts beside the votes of another group when the call is sent', async () => {
    const bench = new ApprovalDeskBench();
    const { policy } = bench.installation;
    const scripted = policy.decide.bind(policy);
    policy.decide = (request) => {
      const missing = ['board', 'finance'].filter((group) => (request.approvals[group]?.count ?? 0) < 1);
      if (missing.length === 0) policy.allow();
      else policy.ask({ rules: missing.map((group) => ({ group, count: 1, notRequester: true })) });
      return scripted(request);
    };
    const { id: grantId } = await bench.give(GRANT);
    const id = await bench.installation.propose();
    expect((await bench.approval(id)).state.rules.map(({ group }) => group)).toEqual(['board']);
    await bench.decide(id, person('bea', 'board'));
    expect(await bench.dispatch(id)).toBe('dispatching');
    const other = await bench.installation.propose({ arguments: { orderId: 'o-2', amountMinor: 5 } });
    await bench.decide(other, person('bea', 'board'));
    await bench.revoke('grant', grantId);
    expect(await bench.dispatch(other)).toBe('closed');
    expect((await bench.approval(other)).state.rules.map(({ group }) => group)).toEqual(['board', 'finance']);
  });

  it.each([
    ['another person gave it', { granted_by: 'mallory' }],
    ['it lasts longer', { until: '2031-12-31T00:00:00.000Z' }],
    ['another group gave it', { approver_group: 'board' }],
  ])('whose row was changed to say that %s allows nothing', async (_, changed) => {
    const bench = asking();
    const { id } = await bench.give(GRANT);
    const { store, policy } = bench.installation;
    const row = store.rows('grants').find(({ grant_id }) => grant_id === id);
    Object.assign(row ?? {}, changed);
    expect(await bench.statusOf(await bench.installation.propose())).toBe('proposed');
    expect(policy.asked.at(-1)?.approvals).toEqual({});
  });

  it('covers also the next attempt of a call that it covered', async () => {
    const bench = asking();
    const { id: grantId } = await bench.give(GRANT);
    const id = await bench.installation.propose();
    const { desk, commands, gate, judge } = bench.installation;
    const retry = () =>
      new RetryToolCallHandler(desk, commands, gate, judge).execute(new RetryToolCall(AGENT, id, null, null));
    await bench.installation.record(id, NOT_SENT);
    await retry();
    expect(await bench.statusOf(id)).toBe('authorized');
    expect(await bench.dispatch(id)).toBe('dispatching');
    await bench.revoke('grant', grantId);
    await bench.installation.record(id, NOT_SENT);
    await retry();
    expect(await bench.statusOf(id)).toBe('proposed');
  });

  it('that is revoked between the judgement and the unit fails the unit', async () => {
    const bench = asking();
    const { id: grantId } = await bench.give(GRANT);
    const { policy } = bench.installation;
    const decide = policy.decide.bind(policy);
    let revoked = false;
    policy.decide = async (request) => {
      const decision = await decide(request);
      if (!revoked) {
        revoked = true;
        await bench.revoke('grant', grantId);
      }
      return decision;
    };
    expect(await bench.statusOf(await bench.installation.propose())).toBe('proposed');
  });

  it('ends at its time as an event, and no later', async () => {
    const bench = asking();
    const { id: grantId } = await bench.give(GRANT);
    const { desk, log, clock, store } = bench.installation;
    clock.moveTo('2031-01-01T11:00:00.000Z');
    expect(await bench.statusOf(await bench.installation.propose())).toBe('proposed');
    await new StandingExpiry(desk, log, new GrantBoard(store.read, store.feed)).tick();
    expect(bench.types).toEqual(['grant.expired']);
    const row = await store.read.grant(TENANT, grantId);
    const events = await store.read.streamEvents(TENANT, { kind: 'grant', id: grantId });
    const folded = foldStanding(events.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload)));
    expect(row === null ? null : grantState(row)).toEqual(folded);
    expect(folded?.status).toBe('expired');
  });

  it('is given and taken back by people of its group and by operators only', async () => {
    const bench = asking();
    expect(await codeOf(bench.give(GRANT, person('otto', 'sales')))).toBe('approver_not_allowed');
    expect(await codeOf(bench.give(GRANT, callerWith({ ...APPROVER, isAgent: true })))).toBe('approver_not_allowed');
    expect(await codeOf(bench.give({ ...GRANT, capability: 'no.such' }))).toBe('capability_unknown');
    expect(await codeOf(bench.give({ ...GRANT, argumentsEqual: { amountMinor: 1 } }))).toBe('invalid_request');
    expect(await codeOf(bench.give({ ...GRANT, until: '2031-01-09T11:00:00.000Z' }))).toBe('invalid_timestamp');
    const { id } = await bench.give(GRANT);
    expect(await codeOf(bench.revoke('grant', id, person('otto', 'sales')))).toBe('approver_not_allowed');
    expect(await codeOf(bench.revoke('grant', id, AGENT))).toBe('approver_not_allowed');
    await bench.revoke('grant', id, OPERATOR);
    expect(await codeOf(bench.revoke('grant', id, OPERATOR))).toBe('recorded');
    expect(await codeOf(bench.revoke('grant', id))).toBe('standing_right_ended');
  });

  it('is made once for one command, however often it is sent', async () => {
    const bench = asking();
    const first = await bench.give(GRANT, APPROVER, 'cmd-1');
    expect(await bench.give(GRANT, APPROVER, 'cmd-1')).toEqual(first);
    expect(bench.installation.store.rows('grants')).toHaveLength(1);
  });

  it('costs no read where nobody has given any', async () => {
    const bench = asking();
    const { read } = bench.installation.store;
    read.activeGrants = () => Promise.reject(new Error('asked for grants'));
    expect(await bench.statusOf(await bench.installation.propose())).toBe('proposed');
  });
});

describe('an explicit no', () => {
  it('beats a grant for a call that may be sent, and for the same intent ever after [E12]', async () => {
    const bench = asking();
    await bench.give(GRANT);
    const id = await bench.installation.authorized();
    await bench.refuse(id);
    expect(bench.types).toEqual(['control.accepted', 'capability.authorization_withdrawn', 'tool.call.denied']);
    expect(await bench.dispatch(id)).toBe('closed');
    expect(await bench.statusOf(id)).toBe('denied');
    expect(await bench.statusOf(await bench.installation.propose())).toBe('proposed');
    const other = await bench.installation.propose({ arguments: { orderId: 'o-9', amountMinor: 1 } });
    expect(await bench.statusOf(other)).toBe('dispatching');
  });

  it('that a question got is one too: the same again is not covered by a later grant [E10]', async () => {
    const bench = asking();
    const id = await bench.installation.propose();
    await bench.decide(id, APPROVER, { decision: 'deny' });
    await bench.give(GRANT);
    expect(await bench.statusOf(await bench.installation.propose())).toBe('proposed');
  });

  it('between the judgement and the unit fails the unit', async () => {
    const bench = asking();
    await bench.give(GRANT);
    const { policy, store, clock } = bench.installation;
    const decide = policy.decide.bind(policy);
    policy.decide = async (request) => {
      const decision = await decide(request);
      const digest = store.rows('open_intents')[0]?.intent_digest ?? 'none';
      store.seed('refused_intents', {
        tenant: TENANT,
        intent_digest: digest,
        tool_call_id: 'c',
        refused_at: clock.iso,
      });
      return decision;
    };
    const first = await bench.installation.authorized();
    const held = await bench.dispatch(first);
    expect(held).not.toBe('dispatching');
  });

  it('takes the consent with it where the call rested on one, and is for approvers only', async () => {
    const bench = asking();
    const id = await bench.installation.propose();
    expect(await codeOf(bench.refuse(id))).toBe('tool_call_not_ready');
    await bench.decide(id);
    expect(await codeOf(bench.refuse(id, AGENT))).toBe('approver_not_allowed');
    expect(await codeOf(bench.refuse(id, person('otto', 'sales')))).toBe('approver_not_allowed');
    await bench.refuse(id);
    expect((await bench.approval(id)).state).toMatchObject({ status: 'closed', reason: 'refused' });
    expect(await codeOf(bench.refuse(id))).toBe('tool_call_already_ended');
  });
});

describe('edited arguments', () => {
  const HALF = { orderId: 'o-1', amountMinor: 250 };

  it('are a new call of the same principal, judged anew; the old one ends with its question', async () => {
    const bench = asking();
    const id = await bench.installation.propose({ turnId: 'turn-1', reason: 'please' });
    const before = await bench.approval(id);
    const edited = await bench.edit(id, HALF);
    const next = await bench.installation.call(edited.toolCallId);
    expect(next.row.principal).toBe((await bench.installation.call(id)).row.principal);
    expect(await bench.statusOf(id)).toBe('not_executed');
    const { store } = bench.installation;
    expect(await store.read.approval(TENANT, before.row.approval_id)).toMatchObject({
      status: 'closed',
      status_reason: 'superseded',
    });
    const proposed = store.events.findLast(({ envelope }) => envelope.eventType === 'tool.call.proposed');
    expect(proposed?.payload).toMatchObject({
      supersedesToolCallId: id,
      arguments: HALF,
      requesterSubjects: ['alice', 'agent-7', 'fay'],
    });
    expect(proposed?.envelope.actor).toEqual({ sub: 'fay' });
    expect(edited.approvalId).not.toBeNull();
  });

  it('are not for their editor to approve', async () => {
    const bench = asking();
    const edited = await bench.edit(await bench.installation.propose(), HALF);
    expect(await codeOf(bench.decide(edited.toolCallId))).toBe('approver_not_allowed');
    await bench.decide(edited.toolCallId, person('fred', 'finance'));
    expect(await bench.statusOf(edited.toolCallId)).toBe('authorized');
  });

  it('are edited once; the same again is the same call, others are refused', async () => {
    const bench = asking();
    const id = await bench.installation.propose();
    const edited = await bench.edit(id, HALF);
    expect((await bench.edit(id, HALF)).toolCallId).toBe(edited.toolCallId);
    expect(await codeOf(bench.edit(id, { ...HALF, amountMinor: 1 }))).toBe('idempotency_conflict');
  });

  it.each([
    ['an agent', callerWith({ ...APPROVER, isAgent: true }), HALF, 'approver_not_allowed'],
    ['somebody who is not asked', person('otto', 'sales'), HALF, 'approver_not_allowed'],
    ['the requester', callerWith({ ...APPROVER, actor: { sub: 'alice' } }), HALF, 'approver_not_allowed'],
    ['an approver who changes nothing', APPROVER, { orderId: 'o-1', amountMinor: 500 }, 'outstanding_identical_intent'],
    ['an approver with arguments that do not fit', APPROVER, { orderId: 'o-1' }, 'invalid_arguments'],
  ])('of %s are refused, on record, and the question stays', async (_, caller, args, code) => {
    const bench = asking();
    const id = await bench.installation.propose();
    expect(await codeOf(bench.edit(id, args, caller))).toBe(code);
    expect(bench.types).toEqual(['control.rejected']);
    const rejected = bench.installation.store.events.at(-1);
    expect(rejected?.payload).toMatchObject({ type: 'edit', code, issuer: caller.actor });
    expect((await bench.approval(id)).state.status).toBe('pending');
    expect(await bench.statusOf(id)).toBe('proposed');
  });
});

describe('the questions of one agent', () => {
  const propose = (bench: ApprovalDeskBench, n: number) =>
    bench.installation.proposing.execute(
      new ProposeToolCall(
        AGENT,
        proposalWith({ idempotencyKey: `many-${n}`, arguments: { orderId: `o-${n}`, amountMinor: 1 } }),
      ),
    );

  it('are limited before anything is recorded, and room comes back however one ends', async () => {
    const bench = asking();
    const max = bench.installation.settings.policy.openApprovalsPerAgentMax;
    const first = (await propose(bench, 0)).toolCallId;
    for (let n = 1; n < max; n += 1) await propose(bench, n);
    const units = bench.installation.store.units.length;
    expect(await codeOf(propose(bench, max))).toBe('too_many_open_approvals');
    expect(
      bench.installation.store.events.filter(({ envelope }) => envelope.eventType === 'tool.call.proposed'),
    ).toHaveLength(max);
    expect(bench.installation.store.units.length).toBe(units);
    await bench.decide(first, APPROVER, { decision: 'deny' });
    expect(await codeOf(propose(bench, max))).toBe('recorded');
    expect(await bench.installation.store.read.counter(TENANT, 'open_approvals/agent-7')).toBe(max);
  });

  it('of one turn share a batch, and are decided apart [E01]', async () => {
    const bench = asking();
    const a = await bench.installation.propose({ turnId: 'turn-1' });
    const b = await bench.installation.propose({ turnId: 'turn-1', arguments: { orderId: 'o-2', amountMinor: 1 } });
    const c = await bench.installation.propose({ turnId: 'turn-2', arguments: { orderId: 'o-3', amountMinor: 1 } });
    const [first, second, third] = await Promise.all([a, b, c].map((id) => bench.approval(id)));
    expect(first?.state.batchId).toMatch(/^apb_[0-9a-f]{26}$/);
    expect(second?.state.batchId).toBe(first?.state.batchId);
    expect(third?.state.batchId).not.toBe(first?.state.batchId);
    await bench.decide(b);
    await bench.decide(a, APPROVER, { decision: 'deny' });
    expect([await bench.statusOf(a), await bench.statusOf(b), await bench.statusOf(c)]).toEqual([
      'denied',
      'authorized',
      'proposed',
    ]);
  });
});
