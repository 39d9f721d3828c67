import { beforeEach, describe, expect, it } from '@jest/globals';
import { codeOf } from '../../../test/builders/approval-desk.js';
import { AGENT, APPROVER, callerWith, Installation, OPERATOR, TENANT } from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import { domainEventOf } from '../../domain/events/domain-event.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import { foldPlanReview } from '../../domain/plan-review/plan-review.evolve.js';
import { PlanReviewExpiry } from '../../policy/approvals/plan-review-expiry.js';
import {
  GetPlanReview,
  GetPlanReviewHandler,
  ListPlanReviews,
  ListPlanReviewsHandler,
} from '../../runtime/queries/plan-review.queries.js';
import { GetRun, GetRunHandler } from '../../runtime/queries/run.queries.js';
import { SessionDesk } from '../../sessions/session-desk.js';
import { planReviewState } from '../../storage/rows/plan-review.row.js';
import { EndRun, type RunEnding } from '../end-run/end-run.command.js';
import { EndRunHandler } from '../end-run/end-run.handler.js';
import { DecidePlanReview, DecidePlanReviewHandler, type PlanDecision } from './decide-plan-review.js';
import { RequirePlanReview, RequirePlanReviewHandler } from './require-plan-review.js';

const PLAN = ['look up the order', 'refund it'];
const REVIEW_TYPES = /^plan_review\./;

class Bench {
  readonly settings = settingsWith({ policy: { ...settingsWith().policy, approverGroups: ['finance'] } });
  readonly installation = new Installation({ settings: this.settings });
  runId = '';

  async begin(): Promise<this> {
    const id = await this.installation.propose();
    this.runId = (await this.installation.call(id)).row.run_id;
    return this;
  }

  require(plan: JsonValue = PLAN, caller = AGENT, decideWithinMs: number | null = null) {
    const handler = new RequirePlanReviewHandler(this.installation.desk, this.settings);
    return handler.execute(new RequirePlanReview(caller, this.runId, plan, decideWithinMs));
  }

  decide(planReviewId: string, caller = APPROVER, more: Partial<PlanDecision> = {}, commandId: string | null = null) {
    const { desk, commands } = this.installation;
    const word: PlanDecision = { planReviewId, decision: 'approved', digest: jsonDigest(PLAN), reason: null, ...more };
    return new DecidePlanReviewHandler(desk, commands, this.settings).execute(
      new DecidePlanReview(caller, word, commandId),
    );
  }

  sweep() {
    return new PlanReviewExpiry(this.installation.desk, this.installation.log).tick();
  }

  end(ending: RunEnding) {
    const handler = new EndRunHandler(this.installation.desk, {} as SessionDesk);
    return handler.execute(new EndRun(AGENT, this.runId, ending));
  }

  run() {
    return new GetRunHandler(this.installation.store).execute(new GetRun(AGENT, this.runId));
  }

  async row(id: string) {
    const row = await this.installation.store.read.planReview(TENANT, id);
    if (row === null) throw new Error('there is no such review');
    return row;
  }

  get types(): readonly string[] {
    return this.installation.store.lastTypes;
  }
}

let bench: Bench;
beforeEach(async () => {
  bench = await new Bench().begin();
});

describe('a plan that people are shown', () => {
  it('holds up its run until somebody approved exactly it [A-82]', async () => {
    const { planReviewId, isNew } = await bench.require();
    expect(isNew).toBe(true);
    expect(bench.types).toEqual(['plan_review.required']);
    expect(await bench.run()).toMatchObject({ status: 'waiting_for_plan_review', planReviewApproved: false });
    expect(await codeOf(bench.decide(planReviewId, APPROVER, { digest: 'sha256:other' }))).toBe(
      'action_digest_mismatch',
    );
    expect(bench.types).toEqual(['control.rejected']);
    await bench.decide(planReviewId);
    expect(bench.types).toEqual(['control.accepted', 'plan_review.decided']);
    expect(await bench.run()).toMatchObject({ status: 'running', planReviewApproved: true });
  });

  it('is asked about once, however often it is sent, also after it was approved', async () => {
    const first = await bench.require();
    const units = bench.installation.store.units.length;
    expect(await bench.require()).toEqual({ ...first, isNew: false });
    expect(bench.installation.store.units).toHaveLength(units);
    await bench.decide(first.planReviewId);
    expect(await bench.require()).toEqual({ ...first, isNew: false });
  });

  it('that was rejected may be asked about again', async () => {
    const first = await bench.require();
    await bench.decide(first.planReviewId, APPROVER, { decision: 'rejected', reason: 'not this order' });
    expect(await bench.run()).toMatchObject({ status: 'running', planReviewApproved: false });
    expect((await bench.require()).isNew).toBe(true);
  });

  it('gives way to another plan, in one unit, and can be approved no more', async () => {
    const first = await bench.require();
    await bench.require(['refund everything']);
    expect(bench.types).toEqual(['plan_review.closed', 'plan_review.required']);
    expect((await bench.row(first.planReviewId)).status).toBe('invalidated');
    expect(await codeOf(bench.decide(first.planReviewId))).toBe('approval_not_pending');
  });

  it('that was approved counts no more once another one is shown', async () => {
    await bench.decide((await bench.require()).planReviewId);
    await bench.require(['refund everything']);
    expect((await bench.run()).planReviewApproved).toBe(false);
  });

  it('leaves one open question when two are sent at the same moment', async () => {
    await Promise.all([bench.require(['a']), bench.require(['b'])]);
    const open = bench.installation.store.rows('plan_reviews').filter(({ status }) => status === 'pending');
    expect(open).toHaveLength(1);
  });

  it.each([
    ['its own agent', AGENT],
    ['the person it is for', callerWith({ ...APPROVER, actor: { sub: 'alice' } })],
    ['the agent under its own name', callerWith({ ...APPROVER, actor: { sub: 'agent-7' } })],
    ['a person of another group', callerWith({ ...APPROVER, groups: ['legal'] })],
    ['an operator', OPERATOR],
  ])('is not for %s to decide, and the attempt is on record [G02]', async (_, caller) => {
    const { planReviewId } = await bench.require();
    expect(await codeOf(bench.decide(planReviewId, caller))).toBe('approver_not_allowed');
    expect(bench.types).toEqual(['control.rejected']);
    expect((await bench.row(planReviewId)).status).toBe('pending');
  });

  it('is decided by the first word; the same one again is answered with its command', async () => {
    const { planReviewId } = await bench.require();
    await bench.decide(planReviewId, APPROVER, {}, 'first');
    expect(await bench.decide(planReviewId)).toEqual({ commandId: 'first' });
    const other = callerWith({ ...APPROVER, actor: { sub: 'otto' } });
    expect(await codeOf(bench.decide(planReviewId, other, { decision: 'rejected' }))).toBe('approval_already_decided');
  });

  it('is nobody’s but the harness of the run to show', async () => {
    expect(await codeOf(bench.require(PLAN, callerWith({ actor: { sub: 'bob' } })))).toBe('run_not_found');
    expect(await codeOf(bench.require(PLAN, OPERATOR))).toBe('run_not_found');
  });
});

describe('a plan review that nobody answers', () => {
  it('expires as an event of the sweep', async () => {
    const { planReviewId } = await bench.require(PLAN, AGENT, 60_000);
    await bench.sweep();
    expect((await bench.row(planReviewId)).status).toBe('pending');
    bench.installation.clock.moveTo('2031-01-01T10:01:00.000Z');
    expect(await codeOf(bench.decide(planReviewId))).toBe('approval_expired');
    expect(await bench.sweep()).toBe(0);
    expect(bench.types).toEqual(['plan_review.closed']);
    expect((await bench.row(planReviewId)).status).toBe('expired');
    expect((await bench.run()).status).toBe('running');
  });

  it('keeps its run from completing, and closes in the unit in which the run fails', async () => {
    const { planReviewId } = await bench.require();
    expect(await codeOf(bench.end({ how: 'complete' }))).toBe('run_has_open_work');
    await bench.end({ how: 'fail', code: 'gave_up', message: 'no plan' });
    expect(bench.types.filter((type) => REVIEW_TYPES.test(type) || type === 'run.failed')).toHaveLength(2);
    expect((await bench.row(planReviewId)).status).toBe('closed');
    expect(await codeOf(bench.require(['another']))).toBe('run_already_ended');
  });

  it('is a row that says what its events say', async () => {
    const { planReviewId } = await bench.require();
    await bench.decide(planReviewId);
    const row = await bench.row(planReviewId);
    const events = await bench.installation.store.read.streamEvents(TENANT, { kind: 'plan_review', id: planReviewId });
    const folded = foldPlanReview(events.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload)));
    expect(planReviewState(row)).toEqual(folded);
    expect(row.version).toBe(events.length);
  });
});

describe('what is shown of a plan', () => {
  it('is escaped, while the digest is over the plan as it was sent [W01]', async () => {
    const plan = ['list \u202Etxt.eton'];
    const { planReviewId } = await bench.require(plan);
    const view = await new GetPlanReviewHandler(bench.installation.store).execute(
      new GetPlanReview(APPROVER, planReviewId),
    );
    expect(view).toMatchObject({ plan: ['list \\u{202E}txt.eton'], digest: jsonDigest(plan), status: 'pending' });
  });

  it('is hidden from agents of other people, in the list as well', async () => {
    const { planReviewId } = await bench.require();
    const { store } = bench.installation;
    const bob = callerWith({ actor: { sub: 'bob' } });
    const one = new GetPlanReviewHandler(store).execute(new GetPlanReview(bob, planReviewId));
    expect(await codeOf(one)).toBe('plan_review_not_found');
    const wanted = { runId: null, status: null };
    const listed = (caller = APPROVER) =>
      new ListPlanReviewsHandler(store).execute(new ListPlanReviews(caller, wanted, 10, null));
    expect((await listed()).items.map((item) => item.planReviewId)).toEqual([planReviewId]);
    expect((await listed(bob)).items).toEqual([]);
  });
});
