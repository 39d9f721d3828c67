import { refuse } from '../errors/error-codes.js';
import { decided } from '../events/decided.js';
import { millisOf, timeAt } from '../events/instant.js';
import type { FeedbackVerdict } from '../events/outcome-events.js';
import type { JsonObject } from '../json/json-value.js';
import type { Feedback, OutcomeCommandOf } from './outcome.commands.js';
import type { DecidedOutcome, OutcomeEvent } from './outcome.place.js';
import type { OutcomeState, SeenEvidence } from './outcome.state.js';

/** A feedback that has passed its checks. */
interface Voice {
  readonly basis: 'source' | 'operator';
  readonly feedback: Feedback;
  /** What it shows of the kinds that the criteria need. */
  readonly shown: readonly SeenEvidence[];
  /** A person who answers for it, or evidence of every needed kind: decides by itself. */
  readonly decisive: boolean;
  readonly authoritative: boolean;
}

/** F1–F3, O7: an eligible source, evidence of kinds it may give, the criteria in question. The surface checks the time. */
export function takeFeedback(state: OutcomeState, command: OutcomeCommandOf<'take_feedback'>): DecidedOutcome {
  const { feedback, rights, now } = command;
  if (rights === null) return refuse('feedback_source_missing', 'This source is not on the list of the capability.');
  if (feedback.criteriaId !== state.criteriaId || feedback.criteriaVersion !== state.criteriaVersion) {
    return refuse('feedback_criteria_unknown', 'These are not the success criteria that the call is verified by.');
  }
  if (feedback.evidence.length === 0 || feedback.evidence.some(({ digest }) => digest === null)) {
    return refuse('feedback_evidence_missing', 'Feedback rests on evidence, each with its digest.');
  }
  if (feedback.evidence.some(({ kind }) => !rights.kinds.includes(kind))) {
    return refuse('feedback_source_missing', 'This source may not give evidence of this kind.');
  }
  const shown = shownBy(state, feedback);
  return heard(state, { basis: 'source', feedback, shown, decisive: false, authoritative: rights.authoritative }, now);
}

/** A person who has looked and says so with evidence; that there is some is the rule of the handoff. */
export function takeFinding(state: OutcomeState, command: OutcomeCommandOf<'take_finding'>): DecidedOutcome {
  const { criteriaId, criteriaVersion } = state;
  const feedback = { ...command.feedback, criteriaId, criteriaVersion };
  const shown = state.needs.map((kind) => ({ kind, feedbackId: feedback.feedbackId }));
  return heard(state, { basis: 'operator', feedback, shown, decisive: true, authoritative: true }, command.now);
}

function heard(state: OutcomeState, voice: Voice, now: string): DecidedOutcome {
  switch (state.status) {
    case 'pending':
      return decided(received(voice, null), ...verdictOn(state, voice));
    case 'inconclusive':
      return decided(received(voice, afresh(state, now)), ...verdictOn(state, voice));
    case 'confirmed_success':
      return onConfirmed(state, voice, 'failed', now);
    case 'confirmed_failure':
      return onConfirmed(state, voice, 'met', now);
  }
}

/** O2–O4. Evidence that the criteria do not ask for is kept and decides nothing. */
function verdictOn(state: OutcomeState, voice: Voice): readonly OutcomeEvent[] {
  const { feedback, shown, decisive } = voice;
  const { criteriaId, criteriaVersion } = state;
  const { source, verifiedAt } = feedback;
  const evidenceRefs = refsOf(feedback);
  switch (feedback.verdict) {
    case 'inconclusive':
      return [{ type: 'feedback.inconclusive', payload: { reason: 'evidence_insufficient' } }];
    case 'failed': {
      if (shown.length === 0) return [];
      const payload = { basis: voice.basis, criteriaId, criteriaVersion, source, evidenceRefs, verifiedAt };
      return [{ type: 'feedback.success_criteria_failed', payload }];
    }
    case 'met': {
      const seen = seenWith(state.seen, shown);
      if (!decisive && state.needs.some((kind) => !seen.some((item) => item.kind === kind))) return [];
      const feedbackIds = [...new Set([...seen.map((item) => item.feedbackId), feedback.feedbackId])];
      const payload = { criteriaId, criteriaVersion, source, evidenceRefs, feedbackIds, verifiedAt };
      return [{ type: 'feedback.success_criteria_met', payload }];
    }
  }
}

/** O6: what was confirmed is put in doubt by an authoritative voice with needed evidence; everything else is kept beside it. */
function onConfirmed(
  state: OutcomeState & { readonly status: 'confirmed_success' | 'confirmed_failure' },
  voice: Voice,
  contrary: FeedbackVerdict,
  now: string,
): DecidedOutcome {
  const { feedback } = voice;
  if (feedback.verdict !== contrary || voice.shown.length === 0) return decided(received(voice, null));
  if (!voice.authoritative) {
    return refuse('feedback_source_missing', 'Only an authoritative source may contradict a confirmed outcome.');
  }
  const payload = {
    earlierStatus: state.status,
    source: feedback.source,
    evidenceRefs: refsOf(feedback),
    deadline: afresh(state, now),
  };
  return decided(received(voice, null), { type: 'feedback.contradiction_recorded', payload });
}

function received({ basis, feedback }: Voice, deadline: string | null): OutcomeEvent {
  const { feedbackId, source, verdict, criteriaId, criteriaVersion, verifiedAt, note } = feedback;
  const payload = {
    feedbackId,
    basis,
    source,
    verdict,
    criteriaId,
    criteriaVersion,
    evidenceRefs: refsOf(feedback),
    verifiedAt,
    note,
    deadline,
  };
  return { type: 'feedback.received', payload };
}

function shownBy({ needs }: OutcomeState, { evidence, feedbackId }: Feedback): readonly SeenEvidence[] {
  return needs.filter((kind) => evidence.some((item) => item.kind === kind)).map((kind) => ({ kind, feedbackId }));
}

/** The first feedback that showed a kind stands for it. */
export function seenWith(seen: readonly SeenEvidence[], shown: readonly SeenEvidence[]): readonly SeenEvidence[] {
  return [...seen, ...shown.filter(({ kind }) => !seen.some((item) => item.kind === kind))];
}

function refsOf({ evidence }: Feedback): readonly JsonObject[] {
  return evidence.map(({ kind, ref, digest }) => ({ kind, ref, ...(digest === null ? {} : { digest }) }));
}

const afresh = ({ withinMs }: OutcomeState, now: string): string => timeAt(millisOf(now) + withinMs);
