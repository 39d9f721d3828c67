import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ActOnApproval, type ApprovalAct } from '../../../src/control/approvals/act-on-approval.command.js';
import { ActOnApprovalHandler } from '../../../src/control/approvals/act-on-approval.handler.js';
import { ConsentGround } from '../../../src/control/approvals/consent-ground.js';
import {
  GiveStandingRight,
  RevokeStandingRight,
  type DelegationTerms,
  type GrantTerms,
} from '../../../src/control/approvals/standing-right.command.js';
import {
  GiveStandingRightHandler,
  RevokeStandingRightHandler,
} from '../../../src/control/approvals/standing-right.handlers.js';
import { CommandLog } from '../../../src/control/command-log.js';
import { DecideApproval } from '../../../src/control/decide-approval/decide-approval.command.js';
import { DecidePlanReview, DecidePlanReviewHandler } from '../../../src/control/plan-reviews/decide-plan-review.js';
import { RequirePlanReview, RequirePlanReviewHandler } from '../../../src/control/plan-reviews/require-plan-review.js';
import { foldApproval } from '../../../src/domain/approval/approval.evolve.js';
import { jsonDigest } from '../../../src/domain/digests/digests.js';
import type { DomainEvent, StreamKind } from '../../../src/domain/events/catalogue.js';
import { domainEventOf } from '../../../src/domain/events/domain-event.js';
import { foldPlanReview } from '../../../src/domain/plan-review/plan-review.evolve.js';
import { foldStanding } from '../../../src/domain/standing/standing.evolve.js';
import type { Caller } from '../../../src/identity/caller.js';
import { PlanReviewExpiry } from '../../../src/policy/approvals/plan-review-expiry.js';
import { planReviewState } from '../../../src/storage/rows/plan-review.row.js';
import { delegationState, grantState } from '../../../src/storage/rows/standing.row.js';
import { AGENT, APPROVER, TENANT } from '../../builders/installation.js';
import { codeOf, person } from '../../builders/approval-desk.js';
import { settingsWith } from '../../builders/settings-examples.js';
import { Parts } from './dispatch-crowd.js';
import { openSqlite, type OpenedStore } from './opened-store.js';
import { tally } from './outcomes.js';

const PEOPLE = Array.from({ length: 10 }, (_, n) => person(`p${n}`, 'finance'));
const WORDS_EACH = 100;
const QUORUM = 7;
const RACES = 100;
const FINANCE = { group: 'finance', notRequester: true };
const { policy } = settingsWith();
const SETTINGS = settingsWith({ policy: { ...policy, approverGroups: ['finance'], escalationGroups: ['board'] } });

let opened: OpenedStore;
let parts: Parts;
let asked = 0;
beforeEach(async () => {
  opened = await openSqlite();
  parts = await Parts.over(opened.store);
  asked = 0;
});
afterEach(() => opened.discard());

async function question(count: number): Promise<string> {
  asked += 1;
  parts.policy.ask({ rules: [{ ...FINANCE, count }] });
  const args = { orderId: `o-${asked}`, amountMinor: 500 };
  return parts.propose({ idempotencyKey: `key-${asked}`, arguments: args });
}

/** Says a word until it is answered with something else than "try again". */
async function insist(id: string, caller: Caller, decision: 'allow' | 'deny' = 'allow'): Promise<string> {
  const { row, state } = await parts.approvalOf(id);
  const digest = state.consentDigest;
  const word = { approvalId: row.approval_id, decision, digest, reason: null, expectedVersion: null };
  for (;;) {
    const code = String(await codeOf(parts.deciding.execute(new DecideApproval(caller, word, null))));
    if (code !== 'contended') return code;
  }
}

async function act(id: string, what: ApprovalAct): Promise<void> {
  const { desk, gate, judge, lostGround, rejudgement } = parts;
  const ground = new ConsentGround(gate, judge, lostGround);
  const { row } = await parts.approvalOf(id);
  const handler = new ActOnApprovalHandler(desk, new CommandLog(desk), ground, rejudgement, SETTINGS);
  await handler.execute(new ActOnApproval(APPROVER, row.approval_id, what, null));
}

async function events(kind: StreamKind, id: string): Promise<DomainEvent[]> {
  const stream = await opened.store.read.streamEvents(TENANT, { kind, id });
  return stream.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload));
}

const approvalEvents = async (id: string): Promise<DomainEvent[]> =>
  events('approval', (await parts.approvalOf(id)).row.approval_id);

describe('1,000 votes by ten people at the same moment, on the real store', () => {
  it('count each person once, grant exactly at the quorum, and grant once [G07]', async () => {
    const id = await question(QUORUM);
    const words = Array.from({ length: WORDS_EACH }, () => PEOPLE).flat();
    const codes = await Promise.all(words.map((who) => insist(id, who)));
    const { state } = await parts.approvalOf(id);
    expect(state.status).toBe('granted');
    expect(new Set(state.votes.map(({ sub }) => sub)).size).toBe(QUORUM);
    const types = (await approvalEvents(id)).map(({ type }) => type);
    expect(tally(types)).toEqual({ 'approval.required': 1, 'approval.vote_recorded': QUORUM, 'approval.granted': 1 });
    expect(tally(codes)).toEqual({
      recorded: QUORUM * WORDS_EACH,
      approval_already_decided: (PEOPLE.length - QUORUM) * WORDS_EACH,
    });
    expect(foldApproval(null, await approvalEvents(id))).toEqual(state);
  });
});

describe('a hundred races on the real store', () => {
  it('of two who disagree leave one decision, a hundred times', async () => {
    const [left, right] = [person('rev-1', 'finance'), person('rev-2', 'finance')];
    for (let race = 0; race < RACES; race += 1) {
      const id = await question(1);
      const [allowing, denying] = await Promise.all([insist(id, left), insist(id, right, 'deny')]);
      expect([allowing, denying].toSorted()).toEqual(['approval_already_decided', 'recorded']);
      const { status } = (await parts.approvalOf(id)).state;
      expect(status).toBe(allowing === 'recorded' ? 'granted' : 'denied');
      expect((await parts.call(id)).state.status).toBe(status === 'granted' ? 'authorized' : 'denied');
    }
  });
});

describe('rows on the real store', () => {
  it('of a question say what its events say after every act around it', async () => {
    const id = await question(2);
    const acts: readonly ApprovalAct[] = [
      { kind: 'delegate', to: 'dora', until: null, groups: null, reason: null },
      { kind: 'escalate', group: 'board', reason: 'beyond us' },
      { kind: 'revoke_delegation', to: 'dora', reason: null },
    ];
    for (const what of acts) {
      await act(id, what);
      expect(foldApproval(null, await approvalEvents(id))).toEqual((await parts.approvalOf(id)).state);
    }
    await insist(id, person('bea', 'board'));
    await insist(id, APPROVER);
    await act(id, { kind: 'withdraw_vote', reason: 'no' });
    const first = await opened.store.read.approvals({ tenant: TENANT, statuses: ['invalidated'], limit: 1 });
    const invalidated = await events('approval', first.rows[0]?.approval_id ?? '');
    expect(foldApproval(null, invalidated)).toMatchObject({ status: 'invalidated', votes: [{ sub: 'bea' }] });
    expect(foldApproval(null, await approvalEvents(id))).toEqual((await parts.approvalOf(id)).state);
  });

  it('of grants and delegations say what their events say, while they stand and when they are revoked', async () => {
    const { desk, gate } = parts;
    const { read } = opened.store;
    const log = new CommandLog(desk);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const grant: GrantTerms = {
      kind: 'grant',
      capability: 'refund.create',
      group: 'finance',
      principalSub: null,
      principalAct: 'agent-7',
      argumentsEqual: { '/orderId': 'o-1' },
      until,
      reason: 'this hour',
    };
    const delegation: DelegationTerms = { kind: 'delegation', to: 'dora', groups: ['finance'], until, reason: null };
    for (const terms of [grant, delegation]) {
      const giving = new GiveStandingRightHandler(desk, log, gate, SETTINGS);
      const { id } = await giving.execute(new GiveStandingRight(APPROVER, terms, null));
      const stateOf = async () => {
        const [given, lent] = [await read.grant(TENANT, id), await read.delegation(TENANT, id)];
        return given === null ? lent && delegationState(lent) : grantState(given);
      };
      expect(await stateOf()).toMatchObject({ status: 'active', by: 'fay' });
      expect(foldStanding(await events(terms.kind, id))).toEqual(await stateOf());
      const revoke = new RevokeStandingRight(APPROVER, terms.kind, id, 'enough', null);
      await new RevokeStandingRightHandler(desk, log).execute(revoke);
      expect(await stateOf()).toMatchObject({ status: 'revoked', revokedBy: 'fay' });
      expect(foldStanding(await events(terms.kind, id))).toEqual(await stateOf());
    }
  });

  it('of plan reviews say what their events say, and one of a run is open at a time', async () => {
    const { desk } = parts;
    const { read } = opened.store;
    const { run_id: runId } = (await parts.call(await question(1))).row;
    const show = (plan: string) =>
      new RequirePlanReviewHandler(desk, SETTINGS).execute(new RequirePlanReview(AGENT, runId, plan, null));
    const shown = await Promise.all(['a', 'b', 'c', 'd'].map((plan) => codeOf(show(plan))));
    expect(shown).toContain('recorded');
    const open = { tenant: TENANT, limit: 10, before: null, runId, principal: null, status: 'pending' } as const;
    expect(await read.planReviews(open)).toHaveLength(1);
    const { planReviewId } = await show('the last one');
    const word = { planReviewId, decision: 'approved', digest: jsonDigest('the last one'), reason: null } as const;
    const deciding = new DecidePlanReviewHandler(desk, new CommandLog(desk), SETTINGS);
    await deciding.execute(new DecidePlanReview(APPROVER, word, null));
    await show('one that nobody answers');
    const rows = await read.planReviews({ ...open, status: null });
    for (const row of rows) {
      expect(foldPlanReview(await events('plan_review', row.plan_review_id))).toEqual(planReviewState(row));
    }
    expect(rows[1]).toMatchObject({ status: 'approved', decided_by: 'fay' });
    expect(await read.planReviewsToClose('2999-01-01T00:00:00.000Z', 10)).toEqual([rows[0]]);
    expect(await new PlanReviewExpiry(desk, parts.log).tick()).toBe(0);
    expect(await read.planReview(TENANT, rows[0]?.plan_review_id ?? '')).toMatchObject({ status: 'pending' });
  });
});
