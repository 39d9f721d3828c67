import { Injectable } from '@nestjs/common';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { changePlanReview, loadedPlanReview } from '../../storage/units/plan-review-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';

/** Plan reviews whose time is over, or whose run has ended, close as events, without anybody reading them. */
@Injectable()
export class PlanReviewExpiry {
  constructor(
    private readonly desk: UnitDesk,
    private readonly logger: Logger,
  ) {}

  tick(): Promise<number> {
    const now = this.desk.now();
    return sweepRows({
      read: (limit) => this.desk.read.planReviewsToClose(now, limit),
      idOf: (row) => row.plan_review_id,
      look: (row) => this.close(row, now),
    });
  }

  private async close(row: TableRow<'plan_reviews'>, now: string): Promise<boolean> {
    try {
      const draft = this.desk.beginAbout(row, { lane: 'govern', causeKind: 'timer', occurredAt: now });
      const isOver = row.decide_by <= now;
      changePlanReview(
        draft,
        loadedPlanReview(row),
        isOver ? { kind: 'expire', now } : { kind: 'end_run' },
        'recovery',
      );
      await this.desk.commit(draft);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true;
      this.logger.error('plan review could not close', { planReviewId: row.plan_review_id, error: errorName(error) });
      return false;
    }
  }
}
