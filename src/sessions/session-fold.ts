import type { AgentState, SessionRunState } from '../domain/session/session-state.js';
import type { SessionFact } from '../domain/session/session-row.js';

/** What the facts of a session say, reduced. Immutable. */
export interface FoldedState {
  readonly agentState: AgentState;
  readonly runState: SessionRunState | null;
}

/** How facts become state. Pure: the same facts in other portions give the same state. */
export interface SessionFold {
  start(sessionId: string): FoldedState;
  /** `facts` follow in `seq` on what `state` was folded from. */
  fold(state: FoldedState, facts: readonly SessionFact[]): FoldedState;
  /** Why a conversation may not be saved or sent to a model, or null. While a turn waits durably its last calls may be open. */
  pairingProblem(state: AgentState, mayEndOpen: boolean): string | null;
}

/** The state of a session that cannot go on, whatever its facts have left standing. */
export function withoutResumption(state: FoldedState): FoldedState {
  const { pendingRunCheckpoint: _, ...agentState } = state.agentState;
  return { ...state, agentState: { ...agentState, isRunning: false } };
}
