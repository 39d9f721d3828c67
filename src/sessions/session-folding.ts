import { emptyAgentState, foldAgentState } from '../domain/session/agent-state.js';
import { toolCallsPaired } from '../domain/session/history/tool-pairing.js';
import { foldRunState } from '../domain/session/run-state.js';
import type { SessionFold } from './session-fold.js';

/** The reductions of the domain, as live sessions use them. */
export const SESSION_FOLD: SessionFold = {
  start: (sessionId) => ({ agentState: emptyAgentState(sessionId), runState: null }),
  fold: ({ agentState, runState }, facts) => ({
    agentState: foldAgentState(agentState, facts),
    runState: foldRunState(runState, facts, agentState.sessionId),
  }),
  pairingProblem: ({ history: { messages } }, mayEndOpen) =>
    toolCallsPaired(messages, mayEndOpen) ? null : 'a tool call of the history has no answer, or one too many',
};
