import { feedbackBody, feedbackRepresentation } from '../client/contract/feedback.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

export const GIVE_FEEDBACK = {
  id: 'giveFeedback',
  tag: 'Outcomes',
  summary: 'Say what the world shows of a call',
  description:
    'For sources that the manifest of the capability lists. Moves the outcome of the call and nothing of its execution. The same `feedbackId` is recorded once; a refusal is on record.',
  body: feedbackBody,
  answers: { 200: { means: 'The feedback is recorded.', body: feedbackRepresentation } },
  refusals: [
    'tool_call_not_found',
    'outcome_not_open',
    'feedback_source_missing',
    'feedback_evidence_missing',
    'feedback_criteria_unknown',
    'feedback_id_conflict',
    'invalid_timestamp',
    ...RECORDING,
  ],
} as const satisfies Operation;
