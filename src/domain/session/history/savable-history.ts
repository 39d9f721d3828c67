import type { AgentState, SessionRunState } from '../session-state.js';
import { toolCallsPaired } from './tool-pairing.js';

const ENDED: readonly string[] = ['completed', 'failed', 'manual_handoff', 'denied', 'not_executed'];
const HALTED: readonly string[] = ['suspended', 'stopping'];

/**
 * Whether the session is in a wait that outlives a restart: a call of its run has not ended, a question or a review is open, or
 * the run is suspended or stopping.
 */
export function isWaiting(agentState: AgentState, runState: SessionRunState | null): boolean {
  if (agentState.pendingApproval !== undefined || agentState.pendingPlanReview !== undefined) return true;
  if (runState === null) return false;
  return HALTED.includes(runState.run.status) || runState.toolCalls.some(({ status }) => !ENDED.includes(status));
}

/** Whether a snapshot of this may be kept: what is on disk is paired, except for the last batch while it waits. */
export function isSavable(agentState: AgentState, runState: SessionRunState | null): boolean {
  return toolCallsPaired(agentState.history.messages, isWaiting(agentState, runState));
}
