import type { RunToolCall, SessionRunState } from './session-state.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The state of a run while facts are folded onto it. */
export interface RunDraft {
  readonly sessionId: string;
  lastEventId: string | null;
  /** What run.* events say; waits are computed when the draft ends. */
  status: string;
  readonly run: Mutable<Omit<SessionRunState['run'], 'status'>>;
  runtime: SessionRunState['runtime'];
  reasoning: SessionRunState['reasoning'];
  readonly approvals: Map<string, Mutable<SessionRunState['pendingApprovals'][number]>>;
  readonly calls: Map<string, Mutable<RunToolCall>>;
  readonly artifacts: Set<string>;
  readonly subagents: Map<string, string>;
  readonly feedback: Set<string>;
}

export const NO_RUNTIME: SessionRunState['runtime'] = {
  harnessVersion: null,
  modelVersion: null,
  executionEnvironmentId: null,
};

const WAITING: readonly string[] = ['awaiting_reconciliation', 'waiting_for_approval', 'waiting_for_plan_review'];
const UNKNOWN: readonly string[] = ['result_unknown', 'reconciling'];

export function newRun(sessionId: string, runId: string, runtime: SessionRunState['runtime']): RunDraft {
  return {
    sessionId,
    lastEventId: null,
    status: 'running',
    run: { runId, goalRef: null, currentTurnId: null, checkpointId: null, contextBuildId: null },
    runtime,
    reasoning: null,
    approvals: new Map(),
    calls: new Map(),
    artifacts: new Set(),
    subagents: new Map(),
    feedback: new Set(),
  };
}

export function beginRunDraft(state: SessionRunState): RunDraft {
  const { status, ...run } = state.run;
  return {
    sessionId: state.session.sessionId,
    lastEventId: state.session.lastEventId,
    status: WAITING.includes(status) ? 'running' : status,
    run: { ...run },
    runtime: state.runtime,
    reasoning: state.reasoning,
    approvals: new Map(state.pendingApprovals.map((approval) => [approval.approvalId, { ...approval }])),
    calls: new Map(state.toolCalls.map((call) => [call.toolCallId, { ...call }])),
    artifacts: new Set(state.artifactRefs),
    subagents: new Map(state.subagentRefs.map(({ subagentId, status }) => [subagentId, status])),
    feedback: new Set(state.outcomeVerification.feedbackRefs),
  };
}

export function endRunDraft(draft: RunDraft): SessionRunState {
  const { runId, ...run } = draft.run;
  const calls = [...draft.calls.values()];
  return {
    stateSchemaVersion: 2,
    session: { sessionId: draft.sessionId, lastEventId: draft.lastEventId },
    run: { runId, status: statusOf(draft, calls), ...run },
    runtime: draft.runtime,
    reasoning: draft.reasoning,
    pendingApprovals: [...draft.approvals.values()],
    toolCalls: calls,
    artifactRefs: [...draft.artifacts],
    subagentRefs: [...draft.subagents].map(([subagentId, status]) => ({ subagentId, status })),
    outcomeVerification: { status: outcomeOf(calls), feedbackRefs: [...draft.feedback] },
  };
}

/** Several waits may hold together; the run shows the first of them. A run that is not running shows that before any wait. */
function statusOf({ status, approvals, run }: RunDraft, calls: readonly RunToolCall[]): string {
  if (status !== 'running') return status;
  if (calls.some((call) => UNKNOWN.includes(call.status))) return 'awaiting_reconciliation';
  if ([...approvals.values()].some((approval) => approval.status === 'pending')) return 'waiting_for_approval';
  return run.planReviewId === undefined ? 'running' : 'waiting_for_plan_review';
}

const OUTCOMES = ['confirmed_failure', 'pending', 'inconclusive', 'confirmed_success'] as const;

/** The worst that is known of the outcomes of the run's calls; the execution of a call says nothing about it. */
function outcomeOf(calls: readonly RunToolCall[]): string {
  return OUTCOMES.find((outcome) => calls.some(({ outcomeStatus }) => outcomeStatus === outcome)) ?? 'not_observed';
}
