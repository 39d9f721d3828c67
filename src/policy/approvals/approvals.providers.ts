import { Store } from '../../storage/store.js';
import { GrantBoard } from '../grants/grant-board.js';
import { GrantBook } from '../grants/grant-book.js';
import { StandingExpiry } from '../grants/standing-expiry.js';
import { ApprovalChores, type Chore } from './approval-chores.js';
import { ApprovalExpiry } from './approval-expiry.js';
import { EscalationTimer } from './escalation-timer.js';
import { PlanReviewExpiry } from './plan-review-expiry.js';
import { ReviewWatch } from './review-watch.js';
import { StaleQuestions } from './stale-questions.js';

/** What the sweep does, in this order; each is a provider that has a `tick`. */
const CHORES = [
  { name: 'approval expiry', by: ApprovalExpiry },
  { name: 'stale questions', by: StaleQuestions },
  { name: 'escalations', by: EscalationTimer },
  { name: 'standing rights', by: StandingExpiry },
  { name: 'plan reviews', by: PlanReviewExpiry },
  { name: 'owed reviews', by: ReviewWatch },
] as const;

const choresOf = (...ticking: readonly Pick<Chore, 'tick'>[]): ApprovalChores =>
  new ApprovalChores(ticking.map((one, n) => ({ name: CHORES[n]?.name ?? '', tick: () => one.tick() })));

/** Approvals beyond votes: what stands, what waits too long, what is owed. */
export const APPROVALS = [
  { provide: GrantBoard, useFactory: (store: Store) => new GrantBoard(store.read, store.feed), inject: [Store] },
  GrantBook,
  StandingExpiry,
  EscalationTimer,
  PlanReviewExpiry,
  ReviewWatch,
  { provide: ApprovalChores, useFactory: choresOf, inject: CHORES.map(({ by }) => by) },
];
