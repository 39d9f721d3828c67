import { Injectable } from '@nestjs/common';
import { StandingExpiry } from '../grants/standing-expiry.js';
import { ApprovalExpiry } from './approval-expiry.js';
import { EscalationTimer } from './escalation-timer.js';
import { ReviewWatch } from './review-watch.js';
import { StaleQuestions } from './stale-questions.js';

interface Chore {
  readonly name: string;
  /** Answers how many could not be looked after. */
  tick(): Promise<number>;
}

/** What the sweep does about approvals: times that come without anybody reading, and what memory must know of them. */
@Injectable()
export class ApprovalChores {
  constructor(
    private readonly expiry: ApprovalExpiry,
    private readonly stale: StaleQuestions,
    private readonly escalations: EscalationTimer,
    private readonly standing: StandingExpiry,
    private readonly reviews: ReviewWatch,
  ) {}

  list(): readonly Chore[] {
    return [
      { name: 'approval expiry', tick: () => this.expiry.tick() },
      { name: 'stale questions', tick: () => this.stale.tick() },
      { name: 'escalations', tick: () => this.escalations.tick() },
      { name: 'standing rights', tick: () => this.standing.tick() },
      { name: 'owed reviews', tick: () => this.reviews.tick() },
    ];
  }
}
