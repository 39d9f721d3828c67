import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { timeAt } from '../../domain/events/instant.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import { workRefusal } from '../../domain/run/run.admission.js';
import { requesters, type Caller } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import {
  changePlanReview,
  hasNoPendingPlanReview,
  loadedPlanReview,
  planReviewToBe,
} from '../../storage/units/plan-review-in-unit.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { recordCheckpoint } from '../../storage/units/wait-checkpoint.js';
import { beginInRun, loadOwnRun, type LoadedRun } from '../own-run.js';

const TRIES_MAX = 3;

export interface RequiredPlanReview {
  readonly planReviewId: string;
  /** False: the same plan is asked about, or has been approved, already. */
  readonly isNew: boolean;
}

/** A harness wants people to see its plan before it goes on. */
export class RequirePlanReview extends Command<RequiredPlanReview> {
  constructor(
    readonly caller: Caller,
    readonly runId: string,
    readonly plan: JsonValue,
    /** Milliseconds; null: as long as people have for approvals. */
    readonly decideWithinMs: number | null,
  ) {
    super();
  }
}

/**
 * R4. One review of a run is open at a time: another plan invalidates the one that is, in the same unit. The same plan again
 * finds its review, also the one that was approved.
 */
@CommandHandler(RequirePlanReview)
export class RequirePlanReviewHandler implements ICommandHandler<RequirePlanReview> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
  ) {}

  async execute(command: RequirePlanReview): Promise<RequiredPlanReview> {
    const { caller, runId, plan } = command;
    const planDigest = jsonDigest(plan);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const run = await loadOwnRun(this.desk.read, caller, runId);
      if (run.row.principal !== principalKey(principalOf(caller.actor))) {
        throw new CountersignError('run_not_found', 'only the harness of a run shows its plans');
      }
      const latest = await this.desk.read.latestPlanReview(caller.tenant, runId);
      if (latest !== null && stillSaysSo(latest, planDigest, this.desk.now())) {
        return { planReviewId: latest.plan_review_id, isNew: false };
      }
      const refusal = workRefusal(run.state.status);
      if (refusal !== null) throw new CountersignError(refusal.code, refusal.message);
      try {
        return { planReviewId: await this.require(command, run, latest, planDigest), isNew: true };
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    throw new CountersignError('contended', 'other writers changed the same records three times in a row');
  }

  private async require(
    { caller, plan, decideWithinMs }: RequirePlanReview,
    run: LoadedRun,
    latest: TableRow<'plan_reviews'> | null,
    planDigest: string,
  ): Promise<string> {
    const now = this.desk.now();
    const planReviewId = this.desk.newId(ID_PREFIXES.planReview);
    const draft = beginInRun(this.desk, caller, run.row, { lane: 'govern', now });
    if (latest?.status === 'pending') changePlanReview(draft, loadedPlanReview(latest), { kind: 'invalidate' });
    else draft.guard(hasNoPendingPlanReview(run.row.run_id));
    const expiresAt = timeAt(this.desk.clock.now() + (decideWithinMs ?? this.settings.policy.decideWithinMs));
    const question = { planReviewId, plan, planDigest, expiresAt, requesterSubjects: requesters(caller) };
    changePlanReview(draft, planReviewToBe(run.row, planReviewId, now), { kind: 'require', question });
    recordCheckpoint(draft, { runId: run.row.run_id, sessionId: run.row.session_id }, 'awaiting_plan_review');
    await this.desk.commit(draft.guard(runIsOpen(run.row.run_id)));
    return planReviewId;
  }
}

/** An open question whose time is over asks nobody any more. */
function stillSaysSo(latest: TableRow<'plan_reviews'>, planDigest: string, now: string): boolean {
  if (latest.plan_digest !== planDigest) return false;
  return latest.status === 'approved' || (latest.status === 'pending' && now < latest.decide_by);
}
