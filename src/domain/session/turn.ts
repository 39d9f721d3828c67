import type { ErrorCode } from '../errors/error-codes.js';
import type { StepOutcome, TurnOutcome } from './session-catalogue.js';
import { isOpenTurn, type TurnState } from './turn.state.js';

/** What a harness or the runtime wants of a turn. May be refused. */
export type TurnCommand =
  | { readonly kind: 'begin_turn'; readonly runId: string; readonly turnId: string }
  | { readonly kind: 'record_context'; readonly contextBuildId: string }
  | { readonly kind: 'begin_step'; readonly stepId: string; readonly contextBuildId: string | null }
  | { readonly kind: 'stream' }
  /** `calls`: call ids of the model, in order. A cut message lists calls that nobody will carry out, and so none. */
  | { readonly kind: 'finish_message'; readonly calls: readonly string[]; readonly isIncomplete: boolean }
  | { readonly kind: 'answer'; readonly callId: string }
  | { readonly kind: 'end_step'; readonly outcome: StepOutcome }
  | { readonly kind: 'end_turn'; readonly outcome: TurnOutcome };

/** What the store says happened in the turn. Never refused. */
export type TurnFact =
  | { readonly kind: 'call_opened' | 'call_sent' | 'call_left' | 'call_closed'; readonly id: string }
  | { readonly kind: 'approval_opened' | 'approval_closed'; readonly id: string }
  | { readonly kind: 'review_opened' | 'review_closed'; readonly id: string };

/** Null: allowed, and `evolveTurn` says what is true afterwards. */
export function decideTurn(turn: TurnState | null, command: TurnCommand): ErrorCode | null {
  if (command.kind === 'begin_turn') return isOpenTurn(turn) ? 'turn_already_open' : null;
  if (!isOpenTurn(turn)) return 'turn_not_open';
  switch (command.kind) {
    case 'record_context':
      return null;
    case 'begin_step':
      return beginStep(turn, command.contextBuildId);
    case 'stream':
    case 'finish_message':
      return turn.phase === 'model' ? null : 'step_not_open';
    case 'answer':
      return turn.unanswered.includes(command.callId) ? null : 'dangling_reference';
    case 'end_step':
      return endStep(turn, command.outcome);
    case 'end_turn':
      return endTurn(turn);
  }
}

function beginStep(turn: TurnState, contextBuildId: string | null): ErrorCode | null {
  if (turn.stepId !== null) return 'step_already_open';
  if (turn.reviews.length > 0) return 'not_at_safe_point';
  return contextBuildId === null || turn.contexts.includes(contextBuildId) ? null : 'dangling_reference';
}

function endStep(turn: TurnState, outcome: StepOutcome): ErrorCode | null {
  if (turn.stepId === null) return 'step_not_open';
  if (turn.phase === 'tools') return 'history_unpaired';
  return turn.phase === 'model' && outcome === 'completed' ? 'not_at_safe_point' : null;
}

function endTurn(turn: TurnState): ErrorCode | null {
  if (turn.phase === 'tools' || turn.openCalls.length > 0) return 'history_unpaired';
  if (turn.stepId !== null) return 'step_already_open';
  return turn.reviews.length > 0 ? 'not_at_safe_point' : null;
}

/** Never judges: what it is given has been decided or has happened. */
export function evolveTurn(turn: TurnState | null, event: TurnCommand | TurnFact): TurnState | null {
  if (event.kind === 'begin_turn') return begun(event.runId, event.turnId);
  if (!isOpenTurn(turn)) return turn;
  switch (event.kind) {
    case 'record_context':
      return { ...turn, contexts: [...turn.contexts, event.contextBuildId] };
    case 'begin_step':
      return { ...turn, phase: 'model', stepId: event.stepId };
    case 'stream':
      return turn;
    case 'finish_message':
      if (event.isIncomplete || event.calls.length === 0) return { ...turn, phase: 'settled' };
      return { ...turn, phase: 'tools', unanswered: event.calls };
    case 'answer':
      return answered(turn, event.callId);
    case 'end_step':
      return { ...turn, phase: 'settled', stepId: null };
    case 'end_turn':
      return { ...turn, phase: 'ended', outcome: event.outcome };
    case 'call_opened':
      return { ...turn, openCalls: withOne(turn.openCalls, event.id) };
    case 'call_sent':
      return { ...turn, carried: withOne(turn.carried, event.id) };
    case 'call_left':
      return { ...turn, carried: without(turn.carried, event.id) };
    case 'call_closed':
      return {
        ...turn,
        openCalls: without(turn.openCalls, event.id),
        carried: without(turn.carried, event.id),
      };
    case 'approval_opened':
      return { ...turn, approvals: withOne(turn.approvals, event.id) };
    case 'approval_closed':
      return { ...turn, approvals: without(turn.approvals, event.id) };
    case 'review_opened':
      return { ...turn, reviews: withOne(turn.reviews, event.id) };
    case 'review_closed':
      return { ...turn, reviews: without(turn.reviews, event.id) };
  }
}

function begun(runId: string, turnId: string): TurnState {
  const none: readonly string[] = [];
  const waits = { unanswered: none, openCalls: none, carried: none, approvals: none, reviews: none, contexts: none };
  return { runId, turnId, phase: 'open', stepId: null, outcome: null, ...waits };
}

function answered(turn: TurnState, callId: string): TurnState {
  const unanswered = without(turn.unanswered, callId);
  return { ...turn, unanswered, phase: turn.phase === 'tools' && unanswered.length === 0 ? 'settled' : turn.phase };
}

const without = (ids: readonly string[], id: string): readonly string[] => ids.filter((other) => other !== id);
const withOne = (ids: readonly string[], id: string): readonly string[] => (ids.includes(id) ? ids : [...ids, id]);
