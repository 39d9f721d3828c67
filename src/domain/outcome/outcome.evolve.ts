import type { DomainEvent, EventPayload } from '../events/catalogue.js';
import { isIn, type EventIn } from '../events/domain-event.js';
import { readTexts } from '../events/payload-reading.js';
import { isJsonObject } from '../json/json-value.js';
import { seenWith } from './outcome.feedback.js';
import type { OutcomeState, OutcomeVerification } from './outcome.state.js';

/**
 * The state of an outcome after one more event of its stream. Never judges; throws a plain `Error` only where no state
 * can be made: an event of another stream, or one before the verification was opened.
 */
export function evolveOutcome(state: OutcomeState | null, event: DomainEvent): OutcomeState {
  if (!isIn('outcome', event)) throw new Error(`${event.type} is not an event of an outcome`);
  if (event.type === 'outcome.verification_opened') return opened(event.payload);
  if (state === null) throw new Error(`${event.type} cannot be the first event of an outcome`);
  return evolve(state, event);
}

/** Folds events onto a state; `null` with the whole stream gives what the stored row must say. */
export function foldOutcome(state: OutcomeState | null, events: readonly DomainEvent[]): OutcomeState | null {
  return events.reduce<OutcomeState | null>(evolveOutcome, state);
}

type LaterEvent = Exclude<EventIn<'outcome'>, { readonly type: 'outcome.verification_opened' }>;

function evolve(state: OutcomeState, event: LaterEvent): OutcomeState {
  switch (event.type) {
    case 'feedback.received':
      return heard(state, event.payload);
    case 'feedback.rejected':
      return state;
    case 'feedback.success_criteria_met':
      return { ...verificationOf(state), status: 'confirmed_success' };
    case 'feedback.success_criteria_failed':
      return { ...verificationOf(state), status: 'confirmed_failure', basis: event.payload.basis };
    case 'feedback.inconclusive':
      return { ...verificationOf(state), status: 'inconclusive', reason: event.payload.reason };
    case 'feedback.contradiction_recorded':
      return { ...verificationOf(state), deadline: event.payload.deadline, seen: [], status: 'pending' };
  }
}

/** Evidence for a success is kept until a verdict; an inconclusive verification is taken up again by any valid feedback. */
function heard(state: OutcomeState, feedback: EventPayload<'feedback.received'>): OutcomeState {
  if (state.status === 'confirmed_success' || state.status === 'confirmed_failure') return state;
  const kinds = feedback.evidenceRefs.map((item) => (isJsonObject(item) ? item['kind'] : null));
  const shown = state.needs
    .filter((kind) => feedback.basis === 'operator' || kinds.includes(kind))
    .map((kind) => ({ kind, feedbackId: feedback.feedbackId }));
  return {
    ...verificationOf(state),
    deadline: feedback.deadline ?? state.deadline,
    seen: feedback.verdict === 'met' ? seenWith(state.seen, shown) : state.seen,
    status: 'pending',
  };
}

function opened(opening: EventPayload<'outcome.verification_opened'>): OutcomeState {
  const { criteriaId, criteriaVersion, withinMs, attempt, deadline } = opening;
  const needs = readTexts(opening.needs);
  return { criteriaId, criteriaVersion, needs, withinMs, attempt, deadline, seen: [], status: 'pending' };
}

function verificationOf(state: OutcomeState): OutcomeVerification {
  const { criteriaId, criteriaVersion, needs, withinMs, attempt, deadline, seen } = state;
  return { criteriaId, criteriaVersion, needs, withinMs, attempt, deadline, seen };
}
