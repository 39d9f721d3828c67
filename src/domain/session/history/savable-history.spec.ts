import { describe, expect, it } from '@jest/globals';
import { fullAgentState, fullRunState } from '../../../../test/builders/session-snapshots.js';
import { emptyAgentState } from '../agent-state.js';
import type { AgentState, HistoryMessage, SessionRunState } from '../session-state.js';
import { isSavable, isWaiting } from './savable-history.js';

const asks: HistoryMessage = {
  messageId: 'a',
  role: 'assistant',
  contents: [],
  toolCalls: [{ callId: 'c1', name: 'pay', arguments: {} }],
  createdAt: '2031-01-01T00:00:00.000Z',
};
const OPEN: AgentState = { ...emptyAgentState('ses-1'), history: { messages: [asks], episodicMemories: [] } };
const { pendingApproval, pendingPlanReview } = fullAgentState();

function runIn(status: string, callStatus: string): SessionRunState {
  const run = fullRunState();
  return {
    ...run,
    run: { ...run.run, status },
    toolCalls: run.toolCalls.map((call) => ({ ...call, status: callStatus })),
  };
}

describe('a history with an open call', () => {
  it.each<[string, AgentState, SessionRunState | null]>([
    ['a question is open', { ...OPEN, ...(pendingApproval === undefined ? {} : { pendingApproval }) }, null],
    ['a plan is reviewed', { ...OPEN, ...(pendingPlanReview === undefined ? {} : { pendingPlanReview }) }, null],
    ['a call has not ended', OPEN, runIn('running', 'authorized')],
    ['a call is unknown', OPEN, runIn('awaiting_reconciliation', 'result_unknown')],
    ['the run is suspended', OPEN, runIn('suspended', 'completed')],
    ['the run is stopping', OPEN, runIn('stopping', 'completed')],
  ])('may be kept while %s [A-95, A-97, U-02]', (_, agentState, runState) => {
    expect(isWaiting(agentState, runState)).toBe(true);
    expect(isSavable(agentState, runState)).toBe(true);
  });

  it.each(['completed', 'failed', 'manual_handoff', 'denied', 'not_executed'])(
    'may not be kept when its run waits for nothing, the last call being %s [A-97]',
    (status) => {
      expect(isSavable(OPEN, null)).toBe(false);
      expect(isSavable(OPEN, runIn('running', status))).toBe(false);
    },
  );
});
