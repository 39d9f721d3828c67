import { AuthorizedCalls } from './authorized-calls.js';
import { EndedWindows } from './ended-windows.js';
import { IdleRuns } from './idle-runs.js';
import { LeftBehind } from './left-behind.js';
import { OrphanedAttempts } from './orphaned-attempts.js';
import { OutcomeDeadlines } from './outcome-deadlines.js';
import { Ownership } from './ownership.js';
import { Patience } from './patience.js';
import { UnmatchedEvidence } from './unmatched-evidence.js';

/** What looks, at every start and from time to time, for work that nobody else will end. */
export const SWEEP = [
  IdleRuns,
  AuthorizedCalls,
  OrphanedAttempts,
  OutcomeDeadlines,
  Ownership,
  UnmatchedEvidence,
  EndedWindows,
  LeftBehind,
  Patience,
];
