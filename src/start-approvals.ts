import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApprovalExpiry } from './policy/approvals/approval-expiry.js';
import { EscalationTimer } from './policy/approvals/escalation-timer.js';
import { ReviewWatch } from './policy/approvals/review-watch.js';
import { StaleQuestions } from './policy/approvals/stale-questions.js';
import { GrantBoard } from './policy/grants/grant-board.js';
import { StandingExpiry } from './policy/grants/standing-expiry.js';

interface Chore {
  readonly name: string;
  tick(): Promise<number>;
}

/** What memory knows of standing rights and owed reviews is read, and the sweep looks after their times. */
export async function approvalChores(app: NestFastifyApplication): Promise<readonly Chore[]> {
  await app.get(GrantBoard).reload();
  await app.get(ReviewWatch).reload();
  return [
    { name: 'approval expiry', tick: () => app.get(ApprovalExpiry).tick() },
    { name: 'stale questions', tick: () => app.get(StaleQuestions).tick() },
    { name: 'escalations', tick: () => app.get(EscalationTimer).tick() },
    { name: 'standing rights', tick: () => app.get(StandingExpiry).tick() },
  ];
}
