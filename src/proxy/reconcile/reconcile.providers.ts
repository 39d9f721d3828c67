import { LeaseCredentials } from '../connectors/lease-credentials.js';
import { AcceptedPolling } from './accepted-polling.js';
import { Inquiry } from './inquiry.js';
import { LateApplication } from './late-application.js';
import { LateMatching } from './late-matching.js';
import { LateResults } from './late-results.worker.js';
import { LateWatch } from './late-watch.js';
import { Reconciler } from './reconciler.worker.js';
import { Reconciliation } from './reconciliation.js';
import { RestoredCalls } from './restored-calls.js';

/** What finds out about results that nobody knows: by asking, with what it takes to ask, and by what comes of itself. */
export const RECONCILE = [
  AcceptedPolling,
  Inquiry,
  Reconciliation,
  Reconciler,
  LateApplication,
  LateMatching,
  LateResults,
  LateWatch,
  RestoredCalls,
  LeaseCredentials,
];
