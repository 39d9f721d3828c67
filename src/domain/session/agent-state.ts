import type { JsonObject } from '../json/json-value.js';
import { applyConversation } from './agent-conversation.js';
import { beginDraft, endDraft } from './agent-draft.js';
import { applyWait } from './agent-waits.js';
import { deepCopy, deepFreeze } from './deep-freeze.js';
import { readFact } from './fact-reading.js';
import type { SessionFact } from './session-row.js';
import { AGENT_STATE_VERSION, type AgentState } from './session-state.js';

/** The state of a session that nothing has happened in. */
export function emptyAgentState(sessionId: string, metadata: JsonObject = {}): AgentState {
  return {
    schemaVersion: AGENT_STATE_VERSION,
    sessionId,
    history: { messages: [], episodicMemories: [] },
    usages: [],
    metadata: deepFreeze(deepCopy(metadata)),
    isRunning: false,
    totalLoopCount: 0,
    currentLoopCount: 0,
    currentLoopUsages: [],
    systemReminders: {},
    systemPromptHistory: [],
    toolsHistory: [],
    planReviewApproved: false,
  };
}

/**
 * The state after more facts, in order of `seq`. Never judges and never throws: what is recorded has happened. Every field is a
 * reduction of facts, so a state at one row and the facts behind it give what all facts give. The state that came in is not
 * changed; messages and payloads are shared. One call costs time in proportion to the facts, and one copy of each list it
 * touches: hand over many facts at once where there are many.
 */
export function foldAgentState(state: AgentState, facts: readonly SessionFact[]): AgentState {
  if (facts.length === 0) return state;
  const draft = beginDraft(state);
  for (const fact of facts) {
    const read = readFact(fact);
    applyConversation(draft, read);
    applyWait(draft, read);
  }
  return endDraft(draft);
}

/** The same for one fact. */
export function evolveAgentState(state: AgentState, fact: SessionFact): AgentState {
  return foldAgentState(state, [fact]);
}

/**
 * A copy for somebody outside: every collection and every open field is its own, the frozen messages are shared. Nothing that is
 * done to it reaches the state it was made from.
 */
export function snapshotAgentState(state: AgentState): AgentState {
  const { messages, episodicMemories } = state.history;
  return {
    ...state,
    history: {
      messages: [...messages],
      episodicMemories: episodicMemories.map((episode) => ({ ...episode, messages: [...episode.messages] })),
    },
    usages: deepCopy(state.usages),
    metadata: deepCopy(state.metadata),
    currentLoopUsages: deepCopy(state.currentLoopUsages),
    systemReminders: deepCopy(state.systemReminders),
    systemPromptHistory: deepCopy(state.systemPromptHistory),
    toolsHistory: deepCopy(state.toolsHistory),
    ...(state.plan === undefined ? {} : { plan: deepCopy(state.plan) }),
    ...(state.activeSkills === undefined ? {} : { activeSkills: deepCopy(state.activeSkills) }),
    ...(state.lastError === undefined ? {} : { lastError: { ...state.lastError } }),
    ...(state.pendingRunCheckpoint === undefined ? {} : { pendingRunCheckpoint: deepCopy(state.pendingRunCheckpoint) }),
    ...(state.pendingApproval === undefined ? {} : { pendingApproval: deepCopy(state.pendingApproval) }),
    ...(state.pendingPlanReview === undefined ? {} : { pendingPlanReview: deepCopy(state.pendingPlanReview) }),
  };
}
