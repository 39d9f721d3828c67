import { define } from './event-definition.js';

export const FEEDBACK_VERDICTS = ['met', 'failed', 'inconclusive'] as const;
/** What a source says of the success criteria, judged by itself from its evidence. */
export type FeedbackVerdict = (typeof FEEDBACK_VERDICTS)[number];

/** What the world shows of a call, told by feedback alone. Part of the catalogue. */
export const OUTCOME_EVENTS = {
  'outcome.verification_opened': define('outcome', 1, ['feedback-intake'], {
    criteriaId: 'text',
    criteriaVersion: 'text',
    /** Kinds of evidence that must all be there for a success. */
    needs: 'list',
    withinMs: 'integer',
    attempt: 'integer',
    deadline: 'text',
  }),
  'feedback.received': define('outcome', 1, ['feedback-intake'], {
    feedbackId: 'text',
    basis: ['source', 'operator'],
    source: 'text',
    verdict: FEEDBACK_VERDICTS,
    criteriaId: 'text',
    criteriaVersion: 'text',
    /** `{kind, ref, digest?}` each. */
    evidenceRefs: 'list',
    verifiedAt: 'text',
    note: 'text?',
    /** The new deadline, where this takes the verification up again. */
    deadline: 'text?',
  }),
  'feedback.rejected': define('outcome', 1, ['feedback-intake'], { source: 'text', code: 'text', message: 'text' }),
  'feedback.success_criteria_met': define('outcome', 1, ['feedback-intake'], {
    criteriaId: 'text',
    criteriaVersion: 'text',
    source: 'text',
    evidenceRefs: 'list',
    /** Every feedback whose evidence was needed for this, the deciding one last. */
    feedbackIds: 'list',
    verifiedAt: 'text',
  }),
  'feedback.success_criteria_failed': define('outcome', 1, ['feedback-intake'], {
    basis: ['source', 'operator', 'not_executed'],
    criteriaId: 'text',
    criteriaVersion: 'text',
    source: 'text',
    evidenceRefs: 'list',
    verifiedAt: 'text',
  }),
  'feedback.inconclusive': define('outcome', 1, ['feedback-intake'], {
    reason: ['deadline_passed', 'evidence_insufficient'],
  }),
  'feedback.contradiction_recorded': define('outcome', 1, ['feedback-intake'], {
    earlierStatus: ['confirmed_success', 'confirmed_failure'],
    source: 'text',
    evidenceRefs: 'list',
    /** Until when the contradiction may be cleared up. */
    deadline: 'text',
  }),
} as const;
