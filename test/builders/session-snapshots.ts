import { emptyAgentState } from '../../src/domain/session/agent-state.js';
import { sealSnapshot } from '../../src/domain/session/codec/snapshot-codec.js';
import type { SessionKey } from '../../src/domain/session/session-key.js';
import type {
  AgentState,
  HistoryMessage,
  SessionRunState,
  SessionSnapshot,
} from '../../src/domain/session/session-state.js';

const AT = '2031-01-01T00:00:00.000Z';
const text = (words: string): HistoryMessage['contents'] => [{ type: 'text', text: words }];

export const KEY: SessionKey = { tenant: 'acme', sessionId: 'ses-1' };

/** A state in which every field has a value of its own. */
export function fullAgentState(sessionId = KEY.sessionId): AgentState {
  const asks: HistoryMessage = {
    messageId: 'm2',
    role: 'assistant',
    contents: [],
    toolCalls: [{ callId: 'c1', name: 'pay', arguments: { amount: 5, to: ['bob'] } }],
    createdAt: AT,
  };
  return {
    schemaVersion: 3,
    sessionId,
    history: {
      messages: [
        { messageId: 'm1', role: 'user', contents: text('pay bob'), createdAt: AT },
        asks,
        {
          messageId: 'm3',
          role: 'tool',
          contents: text('paid'),
          callId: 'c1',
          toolCallId: 'tool-1',
          disposition: 'completed',
          createdAt: AT,
        },
        {
          messageId: 'm4',
          role: 'notice',
          contents: text('late'),
          toolCallId: 'tool-0',
          about: 'tool-0',
          createdAt: AT,
        },
        { messageId: 'm5', role: 'assistant', contents: text('I ha'), incomplete: true, createdAt: AT },
      ],
      episodicMemories: [
        { episodeId: 'ep1', messages: [{ messageId: 'm0', role: 'user', contents: text('hi'), createdAt: AT }] },
      ],
    },
    usages: [{ model: 'model-1', tokens: { in: 10, out: 2 } }],
    metadata: { lang: 'en', nested: { deep: [1, null, true] } },
    plan: { steps: ['look', 'pay'] },
    activeSkills: [{ skillId: 'refunds', version: '2' }],
    isRunning: true,
    totalLoopCount: 7,
    currentLoopCount: 3,
    currentLoopUsages: [{ model: 'model-1', tokens: { in: 4, out: 1 } }],
    lastError: { layer: 'provider', code: 'timeout', message: 'no answer', retryability: 'always' },
    systemReminders: { tone: 'be kind' },
    systemPromptHistory: [{ promptDigest: 'p1', version: '1', since: AT }],
    toolsHistory: [{ toolsDigest: 't1', tools: [{ name: 'pay' }], since: AT }],
    pendingRunCheckpoint: {
      checkpointId: 'cp1',
      runId: 'run-1',
      turnId: 'turn-1',
      kind: 'awaiting_approval',
      seq: 12,
      createdAt: AT,
      reason: 'an approval',
    },
    pendingApproval: {
      approvalBatchId: 'step-1',
      runId: 'run-1',
      turnId: 'turn-1',
      stepId: null,
      frozenAt: AT,
      items: [
        {
          approvalId: 'apr-1',
          toolCallId: 'tool-2',
          capabilityId: 'pay@1',
          capabilityVersion: '1',
          argsDigest: 'd1',
          frozenArgs: { amount: 900 },
          policyDecisionId: 'pd-1',
          risk: 'high',
          reason: 'large amount',
          status: 'pending',
          expiresAt: '2031-01-02T00:00:00.000Z',
        },
      ],
    },
    pendingPlanReview: {
      planReviewId: 'pr-1',
      runId: 'run-1',
      turnId: null,
      plan: ['look', 'pay'],
      planDigest: 'd2',
      requestedAt: AT,
      status: 'pending',
      expiresAt: '2031-01-03T00:00:00.000Z',
    },
    planReviewApproved: true,
  };
}

export function fullRunState(sessionId = KEY.sessionId): SessionRunState {
  return {
    stateSchemaVersion: 2,
    session: { sessionId, lastEventId: 'evt-12' },
    run: {
      runId: 'run-1',
      status: 'awaiting_reconciliation',
      goalRef: 'goal-1',
      currentTurnId: 'turn-1',
      checkpointId: 'cp1',
      contextBuildId: 'ctx-1',
      planReviewId: 'pr-1',
    },
    runtime: { harnessVersion: 'h1', modelVersion: 'model-1', executionEnvironmentId: 'env-1' },
    reasoning: { reasoningObjectId: 'ro-1', conclusion: 'pay', knowledgeRefs: ['k1', { id: 'k2' }], risk: 'high' },
    pendingApprovals: [
      {
        approvalId: 'apr-1',
        capabilityId: 'pay@1',
        toolCallId: 'tool-2',
        policyDecisionId: 'pd-1',
        status: 'pending',
        expiresAt: '2031-01-02T00:00:00.000Z',
      },
    ],
    toolCalls: [
      {
        toolCallId: 'tool-1',
        callId: 'c1',
        capabilityId: 'pay@1',
        status: 'result_unknown',
        idempotencyKey: 'key-1',
        externalRequestId: 'ext-1',
        dispatchedAt: AT,
        acceptedAt: null,
        resultRef: null,
        reconciliationStatus: 'pending',
        lastError: 'response_timeout',
        outcomeStatus: 'pending',
      },
    ],
    artifactRefs: ['art-1'],
    subagentRefs: [{ subagentId: 'sub-1', status: 'running' }],
    outcomeVerification: { status: 'pending', feedbackRefs: ['f1'] },
  };
}

export function fullSnapshot(key: SessionKey = KEY, more: Partial<SessionSnapshot> = {}): SessionSnapshot {
  return {
    envelopeVersion: 1,
    ...key,
    position: { lastSeq: 12, lastEventId: 'evt-12', sessionFormatVersion: 1 },
    agentState: fullAgentState(key.sessionId),
    runState: fullRunState(key.sessionId),
    versionSetId: 'countersign/1 events/1 schema/1',
    ...more,
  };
}

/** A snapshot that tells which save it was. */
export function savedAs(n: number, key: SessionKey = KEY): SessionSnapshot {
  const agentState = { ...emptyAgentState(key.sessionId, { n }), isRunning: true };
  return fullSnapshot(key, { agentState, runState: null });
}

/** The text of a file as some program might have left it: any fields, with the digest that fits them. */
export function fileOf(fields: object): string {
  return sealSnapshot(JSON.stringify(fields));
}
