import { readFact } from './fact-reading.js';
import { beginRunDraft, endRunDraft, newRun, NO_RUNTIME, type RunDraft } from './run-draft.js';
import { applyToRun } from './run-facts.js';
import type { SessionFact } from './session-row.js';
import type { SessionRunState } from './session-state.js';

/**
 * The state of the session's latest run after more facts, in order of `seq`; null until a run has started. Never judges and never
 * throws. `sessionId` is needed only where no state is there yet. A state at one row and the facts behind it give what all facts
 * give. Facts about earlier runs change nothing.
 */
export function foldRunState(
  state: SessionRunState | null,
  facts: readonly SessionFact[],
  sessionId: string = state?.session.sessionId ?? '',
): SessionRunState | null {
  if (facts.length === 0) return state;
  let draft: RunDraft | null = state === null ? null : beginRunDraft(state);
  for (const fact of facts) {
    const read = readFact(fact);
    const { runId } = read.refs;
    if (read.type === 'run.started' && runId !== undefined && runId !== draft?.run.runId) {
      draft = newRun(sessionId, runId, draft?.runtime ?? NO_RUNTIME);
    }
    if (draft === null) continue;
    draft.lastEventId = read.eventId;
    if (runId === undefined || runId === draft.run.runId) applyToRun(draft, read);
  }
  return draft === null ? null : endRunDraft(draft);
}

/** What each part of the state is for: to go on, to say why, and to keep effects under control. */
export const RUN_STATE_CLASSES = {
  stateSchemaVersion: 'continuity',
  session: 'continuity',
  run: 'continuity',
  runtime: 'continuity',
  pendingApprovals: 'continuity',
  subagentRefs: 'continuity',
  reasoning: 'causality',
  artifactRefs: 'causality',
  toolCalls: 'side_effect_control',
  outcomeVerification: 'side_effect_control',
} as const satisfies Record<keyof SessionRunState, 'continuity' | 'causality' | 'side_effect_control'>;
