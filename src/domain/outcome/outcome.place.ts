import type { Decided } from '../events/decided.js';
import type { EventIn } from '../events/domain-event.js';

export type OutcomeEvent = EventIn<'outcome'>;
export type DecidedOutcome = Decided<OutcomeEvent>;
