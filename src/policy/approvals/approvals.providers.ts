import { Store } from '../../storage/store.js';
import { GrantBoard } from '../grants/grant-board.js';
import { GrantBook } from '../grants/grant-book.js';
import { StandingExpiry } from '../grants/standing-expiry.js';
import { ApprovalChores } from './approval-chores.js';
import { EscalationTimer } from './escalation-timer.js';
import { ReviewWatch } from './review-watch.js';

/** Approvals beyond votes: what stands, what waits too long, what is owed. */
export const APPROVALS = [
  { provide: GrantBoard, useFactory: (store: Store) => new GrantBoard(store.read, store.feed), inject: [Store] },
  GrantBook,
  StandingExpiry,
  EscalationTimer,
  ReviewWatch,
  ApprovalChores,
];
