import { Injectable } from '@nestjs/common';
import { Store } from '../../storage/store.js';
import { Logger } from '../../system/logger.js';
import { Readiness, type ReadinessReason } from '../../system/readiness.js';

const TYPES = ['approval.break_glass_used', 'approval.review_recorded'];

/** Emergencies that were let pass and that nobody has looked at yet: said in readiness until somebody has, and alarmed at once. */
@Injectable()
export class ReviewWatch {
  private owed = 0;

  constructor(
    private readonly store: Store,
    private readonly logger: Logger,
    readiness: Readiness,
  ) {
    readiness.watch(() => this.reasons());
    store.feed.subscribe('review-watch', ({ unit }) => {
      const types = unit.appends.flatMap(({ events }) => events.map(({ type }) => type));
      if (!types.some((type) => TYPES.includes(type))) return;
      if (types.includes('approval.break_glass_used')) {
        this.logger.warn('a call was let pass in an emergency; a review is owed', { unitId: unit.unitId });
      }
      // What cannot be read now is read with the next sweep.
      this.reload().catch(() => undefined);
    });
  }

  /** Whatever was missed is found with the next sweep, the first of which is at the start. */
  async tick(): Promise<number> {
    await this.reload();
    return 0;
  }

  private async reload(): Promise<void> {
    this.owed = await this.store.read.owedReviewCount();
  }

  private reasons(): readonly ReadinessReason[] {
    if (this.owed === 0) return [];
    const detail = `${this.owed} emergency approvals (break-glass) have not been reviewed`;
    return [{ name: 'owed_reviews', weight: 'information', detail }];
  }
}
