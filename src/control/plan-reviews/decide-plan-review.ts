import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Caller } from '../../identity/caller.js';
import { changePlanReview, loadedPlanReview } from '../../storage/units/plan-review-in-unit.js';
import { runTakesDecisions } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { voterOf } from '../approvals/speaker.js';
import { AlreadyDone, CommandLog, type Acknowledged } from '../command-log.js';

export interface PlanDecision {
  readonly planReviewId: string;
  readonly decision: 'approved' | 'rejected';
  /** Of the plan that was shown. */
  readonly digest: string;
  readonly reason: string | null;
}

export class DecidePlanReview extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly word: PlanDecision,
    readonly commandId: string | null,
  ) {
    super();
  }
}

/** R5. Records a person's word about a plan; what is refused is recorded as well. */
@CommandHandler(DecidePlanReview)
export class DecidePlanReviewHandler implements ICommandHandler<DecidePlanReview> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly settings: Settings,
  ) {}

  execute({ caller, word, commandId }: DecidePlanReview): Promise<Acknowledged> {
    const { planReviewId, decision, digest, reason } = word;
    const details = { decision, digest, reason };
    const asked = { type: 'decide_plan_review', target: { planReviewId }, details, commandId };
    return this.log.carryOut(caller, asked, async (start, now) => {
      const row = await this.desk.read.planReview(caller.tenant, planReviewId);
      if (row === null) throw new CountersignError('plan_review_not_found', 'there is no such plan review');
      const draft = start({ correlationId: row.run_id, runId: row.run_id, sessionId: row.session_id });
      const voter = voterOf(caller);
      const groups = voter.groups.filter((group) => this.settings.policy.approverGroups.includes(group));
      const said = { kind: 'decide', voter: { ...voter, groups }, decision, planDigest: digest, reason, now } as const;
      if (!changePlanReview(draft, loadedPlanReview(row), said)) throw new AlreadyDone(await this.firstCommand(row));
      return draft.guard(runTakesDecisions(row.run_id));
    });
  }

  /** The command by which this person said it first: theirs is the newest event. */
  private async firstCommand(row: { readonly tenant: string; readonly last_event_id: string }): Promise<string | null> {
    const event = await this.desk.read.event(row.tenant, row.last_event_id);
    return event?.envelope.commandId ?? null;
  }
}
