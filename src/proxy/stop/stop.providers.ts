import { Cancellation } from '../cancel/cancellation.js';
import { Canceller } from '../cancel/canceller.worker.js';
import { StopLegs } from './stop-legs.js';
import { StoppingRuns } from './stopping-runs.worker.js';

/** What sees a stop through: the legs of its calls, and the asking of tools. */
export const STOPPING = [Cancellation, Canceller, StopLegs, StoppingRuns];
