import type { JsonValue } from '../../json/json-value.js';
import { RUN_STATE_VERSION, type RunToolCall, type SessionRunState } from '../session-state.js';
import type { FieldReader } from './field-reader.js';

/** The known fields of the state of a run. Words of statuses are kept as they are. The caller has checked the version. */
export function readRunState(fields: FieldReader): SessionRunState {
  const session = fields.reader('session');
  const outcome = fields.reader('outcomeVerification');
  return {
    stateSchemaVersion: RUN_STATE_VERSION,
    session: { sessionId: session.text('sessionId'), lastEventId: session.textOrNull('lastEventId') },
    run: readRun(fields.reader('run')),
    runtime: readRuntime(fields.reader('runtime')),
    reasoning: fields.raw('reasoning') === null ? null : readReasoning(fields.reader('reasoning')),
    pendingApprovals: fields.items('pendingApprovals', (item) => ({
      approvalId: item.text('approvalId'),
      capabilityId: item.text('capabilityId'),
      toolCallId: item.text('toolCallId'),
      policyDecisionId: item.text('policyDecisionId'),
      status: item.text('status'),
      expiresAt: item.text('expiresAt'),
    })),
    toolCalls: fields.items('toolCalls', readCall),
    artifactRefs: fields.texts('artifactRefs'),
    subagentRefs: fields.items('subagentRefs', (item) => ({
      subagentId: item.text('subagentId'),
      status: item.text('status'),
    })),
    outcomeVerification: { status: outcome.text('status'), feedbackRefs: outcome.texts('feedbackRefs') },
  };
}

function readRun(run: FieldReader): SessionRunState['run'] {
  return {
    runId: run.text('runId'),
    status: run.text('status'),
    goalRef: run.textOrNull('goalRef'),
    currentTurnId: run.textOrNull('currentTurnId'),
    checkpointId: run.textOrNull('checkpointId'),
    contextBuildId: run.textOrNull('contextBuildId'),
    ...run.optionalText('planReviewId'),
  };
}

function readRuntime(runtime: FieldReader): SessionRunState['runtime'] {
  return {
    harnessVersion: runtime.textOrNull('harnessVersion'),
    modelVersion: runtime.textOrNull('modelVersion'),
    executionEnvironmentId: runtime.textOrNull('executionEnvironmentId'),
  };
}

function readReasoning(reasoning: FieldReader): SessionRunState['reasoning'] {
  return {
    reasoningObjectId: reasoning.text('reasoningObjectId'),
    conclusion: reasoning.text('conclusion'),
    knowledgeRefs: reasoning.list('knowledgeRefs') as readonly JsonValue[],
    risk: reasoning.text('risk'),
  };
}

function readCall(call: FieldReader): RunToolCall {
  return {
    toolCallId: call.text('toolCallId'),
    callId: call.textOrNull('callId'),
    capabilityId: call.text('capabilityId'),
    status: call.text('status'),
    idempotencyKey: call.textOrNull('idempotencyKey'),
    externalRequestId: call.textOrNull('externalRequestId'),
    dispatchedAt: call.textOrNull('dispatchedAt'),
    acceptedAt: call.textOrNull('acceptedAt'),
    resultRef: call.textOrNull('resultRef'),
    reconciliationStatus: call.text('reconciliationStatus'),
    lastError: call.textOrNull('lastError'),
    ...call.optionalText('outcomeStatus'),
  };
}
