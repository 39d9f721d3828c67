import { refuse } from '../errors/error-codes.js';
import { decided, mustHold } from '../events/decided.js';
import { isBefore, millisOf, timeAt } from '../events/instant.js';
import type { OutcomeCommand, OutcomeCommandOf } from './outcome.commands.js';
import { takeFeedback, takeFinding } from './outcome.feedback.js';
import type { DecidedOutcome } from './outcome.place.js';
import type { OutcomeState } from './outcome.state.js';

/** Who speaks when the call itself turns out to have had no effect. */
export const COUNTERSIGN_SOURCE = 'countersign';

/**
 * What a command makes true of an outcome, or why it is refused: state-machines §5. `outcome.transitions.ts` says the
 * same as a table. Nothing here looks at what a tool answered: only feedback confirms.
 */
export function decideOutcome(state: OutcomeState | null, command: OutcomeCommand): DecidedOutcome {
  if (command.kind === 'open') return open(state, command);
  if (state === null) return refuse('outcome_not_open', 'No verification of this call has been opened.');
  switch (command.kind) {
    case 'take_feedback':
      return takeFeedback(state, command);
    case 'take_finding':
      return takeFinding(state, command);
    case 'reject':
      return decided({ type: 'feedback.rejected', payload: command.rejection });
    case 'expire':
      return expire(state, command.now);
    case 'note_no_effect':
      return noteNoEffect(state, command.now);
  }
}

/** O1. Once per attempt: what is open is left alone, and what an earlier attempt brought is no answer about a later one. */
function open(state: OutcomeState | null, { opening, now }: OutcomeCommandOf<'open'>): DecidedOutcome {
  mustHold(opening.needs.length > 0, 'success criteria need some evidence');
  mustHold(opening.withinMs > 0, 'a verification has time');
  if (state !== null && opening.attempt <= state.attempt) return decided();
  const deadline = timeAt(millisOf(now) + opening.withinMs);
  return decided({ type: 'outcome.verification_opened', payload: { ...opening, deadline } });
}

/** O4: time alone proves nothing, in either direction. */
function expire(state: OutcomeState, now: string): DecidedOutcome {
  if (state.status !== 'pending') return refuse('outcome_not_open', `The outcome is ${state.status}.`);
  if (isBefore(now, state.deadline))
    return refuse('version_stale', 'The deadline that is in force now has not passed.');
  return decided({ type: 'feedback.inconclusive', payload: { reason: 'deadline_passed' } });
}

/** O8: what is proven to have had no effect cannot have succeeded; a success that was confirmed before is in doubt. */
function noteNoEffect(state: OutcomeState, now: string): DecidedOutcome {
  const { criteriaId, criteriaVersion, withinMs } = state;
  switch (state.status) {
    case 'confirmed_failure':
      return decided();
    case 'confirmed_success': {
      const deadline = timeAt(millisOf(now) + withinMs);
      const payload = { earlierStatus: state.status, source: COUNTERSIGN_SOURCE, evidenceRefs: [], deadline };
      return decided({ type: 'feedback.contradiction_recorded', payload });
    }
    case 'pending':
    case 'inconclusive': {
      const payload = {
        basis: 'not_executed',
        criteriaId,
        criteriaVersion,
        source: COUNTERSIGN_SOURCE,
        evidenceRefs: [],
        verifiedAt: now,
      } as const;
      return decided({ type: 'feedback.success_criteria_failed', payload });
    }
  }
}
