import type { TurnOutcome } from './session-catalogue.js';

export const TURN_STATUSES = [
  'open',
  'model_active',
  'tools_pending',
  'awaiting_approval',
  'awaiting_plan_review',
  'settled',
  'ended',
] as const;
export type TurnStatus = (typeof TURN_STATUSES)[number];

/** One turn of a session, and the step inside it. Immutable. */
export interface TurnState {
  readonly runId: string;
  readonly turnId: string;
  /** Where the conversation stands; what people are waited for is beside it, so that a wait ends where it began. */
  readonly phase: 'open' | 'model' | 'tools' | 'settled' | 'ended';
  /** Null between steps. */
  readonly stepId: string | null;
  readonly outcome: TurnOutcome | null;
  /** Call ids of the model that an assistant message listed and no message has answered. */
  readonly unanswered: readonly string[];
  /** Governed calls of the turn that are not terminal, by their tool call id. */
  readonly openCalls: readonly string[];
  /** Those of them that are being carried out right now: sent, and neither answered, taken on for later nor given up as unknown. */
  readonly carried: readonly string[];
  /** Approvals and plan reviews of the turn that nobody has decided yet. */
  readonly approvals: readonly string[];
  readonly reviews: readonly string[];
  /** Context builds that were recorded for the turn. */
  readonly contexts: readonly string[];
}

/** The word of the turn machine for a turn. */
export function turnStatusOf(turn: TurnState): TurnStatus {
  switch (turn.phase) {
    case 'open':
      return 'open';
    case 'model':
      return 'model_active';
    case 'tools':
      if (turn.reviews.length > 0) return 'awaiting_plan_review';
      return turn.approvals.length > 0 ? 'awaiting_approval' : 'tools_pending';
    case 'settled':
      return turn.reviews.length > 0 ? 'awaiting_plan_review' : 'settled';
    case 'ended':
      return 'ended';
  }
}

export function isOpenTurn(turn: TurnState | null): turn is TurnState {
  return turn !== null && turn.phase !== 'ended';
}

/**
 * The turn may stay open over a restart: something of it is decided or carried out elsewhere, or its run is paused or being
 * stopped. Nothing of such a turn is closed by a load.
 */
export function isDurableWait(turn: TurnState, runStatus: string): boolean {
  if (runStatus === 'suspended' || runStatus === 'stopping') return true;
  return turn.openCalls.length > 0 || turn.approvals.length > 0 || turn.reviews.length > 0;
}

/** A run may be suspended here: nothing is streaming, no tool is running, and no batch of tools is half done. */
export function isSafePoint(turn: TurnState | null, runStatus: string): boolean {
  if (turn === null || turn.phase === 'ended' || turn.phase === 'open' || turn.phase === 'settled') return true;
  return turn.phase === 'tools' && turn.carried.length === 0 && isDurableWait(turn, runStatus);
}
