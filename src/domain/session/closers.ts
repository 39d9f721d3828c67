import { NEVER_PROPOSED } from './call-end.js';
import { owedAnswers } from './call-answers.js';
import { waitsDurably, type SessionCore } from './session-core.js';
import type { NewSessionEvent } from './session.append.js';
import { isDurableWait, isOpenTurn, type TurnState } from './turn.state.js';

/**
 * What is missing at the end of a log whose turn nobody will go on with: answers to its calls, the end of its step, its own
 * end. Derived from what is on record and from nothing else, so a second asking after the first was appended gives nothing;
 * no model and no tool is run. None while the turn is in a durable wait.
 */
export function closersOf(
  core: SessionCore,
  outcome: 'interrupted' | 'stopped' = 'interrupted',
): readonly NewSessionEvent[] {
  const turn = core.turn;
  if (!isOpenTurn(turn) || mustStayOpen(core, turn, outcome)) return [];
  const cause = { causationId: core.lastEventId };
  const place = { runId: turn.runId, turnId: turn.turnId };
  const closers = missingAnswers(core, turn);
  if (turn.stepId !== null) {
    closers.push({ eventType: 'step.ended', ...place, stepId: turn.stepId, ...cause, payload: { outcome } });
  }
  closers.push({ eventType: 'turn.ended', ...place, ...cause, payload: { outcome } });
  return closers;
}

/**
 * What ends the step of a turn that its harness did not bring to a safe point in time: answers to the calls nobody carries
 * out, and the end of the step. The turn stays open, for whoever resumes the run.
 */
export function cutsOf(core: SessionCore): readonly NewSessionEvent[] {
  const turn = core.turn;
  if (!isOpenTurn(turn) || turn.stepId === null) return [];
  const place = { runId: turn.runId, turnId: turn.turnId, stepId: turn.stepId };
  const end: NewSessionEvent = {
    eventType: 'step.ended',
    ...place,
    causationId: core.lastEventId,
    payload: { outcome: 'cut' },
  };
  return [...missingAnswers(core, turn), end];
}

function missingAnswers(core: SessionCore, turn: TurnState): NewSessionEvent[] {
  const cause = { causationId: core.lastEventId };
  const answers: NewSessionEvent[] = owedAnswers(core).map((event) => ({ ...event, ...cause }));
  const answered = new Set(answers.map((event) => event.payload['callId']));
  for (const callId of turn.unanswered) {
    if (!answered.has(callId)) answers.push({ ...neverProposed(core, turn, callId), ...cause });
  }
  return answers;
}

/** A stop closes the turns of a run that is stopping; what is still being carried out keeps them open all the same. */
function mustStayOpen(core: SessionCore, turn: TurnState, outcome: 'interrupted' | 'stopped'): boolean {
  const isStop = outcome === 'stopped' && core.runs.get(turn.runId) === 'stopping';
  return isStop ? isDurableWait(turn, 'running') : waitsDurably(core, turn);
}

/**
 * Such a call has no record in the store, and so its answer names no tool call. Where the ids of the model were erased from the
 * calls of this turn, which of them it was is not known, and nothing is claimed.
 */
function neverProposed(core: SessionCore, turn: TurnState, callId: string): NewSessionEvent {
  const isErased = [...core.calls.values()].some((call) => call.turnId === turn.turnId && call.callId === null);
  const text = isErased ? 'What became of the call is not known any more.' : NEVER_PROPOSED;
  return {
    eventType: 'tool.message',
    runId: turn.runId,
    turnId: turn.turnId,
    payload: {
      messageId: freshId(core, `answer-${turn.turnId}-${callId}`),
      callId,
      contents: [{ type: 'text', text }],
      disposition: isErased ? 'result_unknown' : 'not_executed',
    },
  };
}

function freshId(core: SessionCore, id: string): string {
  return core.messages.has(id) ? freshId(core, `${id}-again`) : id;
}
