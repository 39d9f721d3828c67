import type { JsonObject, JsonValue } from '../json/json-value.js';
import type { MessageDisposition } from './session-catalogue.js';

export const AGENT_STATE_VERSION = 3;
export const RUN_STATE_VERSION = 2;
export const SNAPSHOT_ENVELOPE_VERSION = 1;

/** One part of a message: `{type: 'text', text}` or another type of the harness. Never holds binary media on disk. */
export type MessagePart = { readonly type: string } & JsonObject;

export interface AssistantToolCall {
  /** The model provider's id. */
  readonly callId: string;
  readonly name: string;
  readonly arguments: JsonValue;
}

/** One message of the conversation. Immutable, so copies of a state share it. */
export interface HistoryMessage {
  readonly messageId: string;
  /** `user`, `assistant`, `tool`, `notice`; a word of a newer version is kept as it is. */
  readonly role: string;
  readonly contents: readonly MessagePart[];
  /** Of an assistant. */
  readonly toolCalls?: readonly AssistantToolCall[];
  /** Of a tool: which call it answers, and what became of it. */
  readonly callId?: string;
  readonly toolCallId?: string;
  readonly disposition?: MessageDisposition;
  /** Cut off; kept, and shown to no model. */
  readonly incomplete?: true;
  /** Of a notice: what it is about. */
  readonly about?: string;
  readonly createdAt: string;
}

export interface Episode {
  readonly episodeId: string;
  readonly messages: readonly HistoryMessage[];
}

/** Where a run can go on: the latest checkpoint of a run that has not ended. */
export interface PendingRunCheckpoint {
  readonly checkpointId: string;
  readonly runId: string;
  readonly turnId?: string;
  readonly kind: string;
  readonly seq: number;
  readonly createdAt: string;
  readonly reason: string;
}

export interface PendingApprovalItem {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly capabilityId: string;
  readonly capabilityVersion: string;
  readonly argsDigest: string;
  /** The arguments as people are shown them; null where they are redacted or erased. */
  readonly frozenArgs: JsonValue;
  readonly policyDecisionId: string;
  readonly risk: string;
  readonly reason: string;
  readonly status: string;
  readonly expiresAt: string;
}

/** The approvals created in one step, frozen together and decided apart (U-18). */
export interface PendingApprovalBatch {
  readonly approvalBatchId: string;
  readonly runId: string;
  readonly turnId: string | null;
  readonly stepId: string | null;
  readonly frozenAt: string;
  readonly items: readonly PendingApprovalItem[];
}

export interface PendingPlanReview {
  readonly planReviewId: string;
  readonly runId: string;
  readonly turnId: string | null;
  readonly plan: JsonValue;
  readonly planDigest: string;
  readonly requestedAt: string;
  readonly status: string;
  readonly expiresAt?: string;
}

export interface LastError {
  readonly layer: string;
  readonly code: string;
  readonly message: string;
  readonly retryability: string;
}

/** What a harness needs to go on with a conversation; a reduction of the session's facts and nothing else. */
export interface AgentState {
  readonly schemaVersion: typeof AGENT_STATE_VERSION;
  readonly sessionId: string;
  readonly history: { readonly messages: readonly HistoryMessage[]; readonly episodicMemories: readonly Episode[] };
  readonly usages: readonly JsonObject[];
  readonly metadata: JsonObject;
  readonly plan?: JsonValue;
  readonly activeSkills?: readonly JsonValue[];
  /** An unfinished run exists that may be resumed. Says nothing about anybody being connected. */
  readonly isRunning: boolean;
  readonly totalLoopCount: number;
  readonly currentLoopCount: number;
  readonly currentLoopUsages: readonly JsonObject[];
  readonly lastError?: LastError;
  readonly systemReminders: Readonly<Record<string, string>>;
  readonly systemPromptHistory: readonly JsonObject[];
  readonly toolsHistory: readonly JsonObject[];
  readonly pendingRunCheckpoint?: PendingRunCheckpoint;
  readonly pendingApproval?: PendingApprovalBatch;
  readonly pendingPlanReview?: PendingPlanReview;
  readonly planReviewApproved: boolean;
}

/** The state of the session's latest run, in the three classes continuity, causality and control of side effects. */
export interface SessionRunState {
  readonly stateSchemaVersion: typeof RUN_STATE_VERSION;
  readonly session: { readonly sessionId: string; readonly lastEventId: string | null };
  readonly run: {
    readonly runId: string;
    readonly status: string;
    readonly goalRef: string | null;
    readonly currentTurnId: string | null;
    readonly checkpointId: string | null;
    readonly contextBuildId: string | null;
    /** The plan review that is open; absent while none is. */
    readonly planReviewId?: string;
  };
  readonly runtime: {
    readonly harnessVersion: string | null;
    readonly modelVersion: string | null;
    readonly executionEnvironmentId: string | null;
  };
  readonly reasoning: {
    readonly reasoningObjectId: string;
    readonly conclusion: string;
    readonly knowledgeRefs: readonly JsonValue[];
    readonly risk: string;
  } | null;
  readonly pendingApprovals: readonly {
    readonly approvalId: string;
    readonly capabilityId: string;
    readonly toolCallId: string;
    readonly policyDecisionId: string;
    readonly status: string;
    readonly expiresAt: string;
  }[];
  readonly toolCalls: readonly RunToolCall[];
  readonly artifactRefs: readonly string[];
  readonly subagentRefs: readonly { readonly subagentId: string; readonly status: string }[];
  readonly outcomeVerification: { readonly status: string; readonly feedbackRefs: readonly string[] };
}

export interface RunToolCall {
  readonly toolCallId: string;
  readonly callId: string | null;
  readonly capabilityId: string;
  readonly status: string;
  readonly idempotencyKey: string | null;
  readonly externalRequestId: string | null;
  readonly dispatchedAt: string | null;
  readonly acceptedAt: string | null;
  readonly resultRef: string | null;
  readonly reconciliationStatus: string;
  readonly lastError: string | null;
  /** What feedback says of its effect; absent while no verification was opened. */
  readonly outcomeStatus?: string;
}

/** A snapshot stands at one row of the log; it is a cache of what the log says up to there, and never says more. */
export interface SessionSnapshot {
  readonly envelopeVersion: typeof SNAPSHOT_ENVELOPE_VERSION;
  readonly tenant: string;
  readonly sessionId: string;
  /** Null only in a state file of an earlier layout, which had no log. */
  readonly position: {
    readonly lastSeq: number;
    readonly lastEventId: string;
    readonly sessionFormatVersion: number;
  } | null;
  readonly agentState: AgentState;
  readonly runState: SessionRunState | null;
  /** `countersign/… events/… schema/…` of the program that wrote it. */
  readonly versionSetId: string;
}
