import { dispositionOf, type WaitingFor } from '../../domain/disposition/disposition.js';
import { decideRun } from '../../domain/run/run.decide.js';
import { isEnded, type RunState } from '../../domain/run/run.state.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';

/** What a page about a run shows. Derived from what is on record and from nothing else; no command reads it. */
export interface RunPage {
  readonly runId: string;
  readonly isBusy: boolean;
  /** What the control plane would admit now. */
  readonly canStop: boolean;
  readonly canResume: boolean;
  /** Null unless somebody is asked something right now, whatever an agent wrote. */
  readonly approvalBanner: ApprovalBanner | null;
  readonly toolBadges: readonly ToolBadge[];
  readonly subagentProgress: readonly SubagentProgress[];
  readonly artifactPanel: readonly ArtifactEntry[];
}

export interface ApprovalBanner {
  readonly pending: number;
  /** The oldest questions first. */
  readonly approvals: readonly {
    readonly approvalId: string;
    readonly toolCallId: string;
    readonly capability: string;
    readonly risk: string;
    readonly decideBy: string;
    readonly link: string;
  }[];
}

export interface ToolBadge {
  readonly toolCallId: string;
  readonly capability: string;
  readonly status: ToolCallState['status'];
  readonly badge: Badge;
  readonly waitingFor: WaitingFor;
}

type Badge =
  | 'awaiting approval'
  | 'waiting to be sent'
  | 'in progress'
  | 'cancelling'
  | 'cannot be undone'
  | 'result unknown'
  | 'ended';

export interface SubagentProgress {
  readonly subagentId: string;
  readonly state: 'running' | 'completed' | 'failed';
}

export interface ArtifactEntry {
  readonly artifactId: string;
  readonly createdAt: string;
}

/** What is on record about a run. */
export interface RunFacts {
  readonly runId: string;
  readonly state: RunState;
  readonly openCalls: readonly { readonly toolCallId: string; readonly state: ToolCallState }[];
  readonly pendingApprovals: ApprovalBanner['approvals'];
  readonly subagents: readonly SubagentProgress[];
  readonly artifacts: readonly ArtifactEntry[];
}

export function deriveRunPage({ runId, state, openCalls, pendingApprovals, subagents, artifacts }: RunFacts): RunPage {
  return {
    runId,
    isBusy: isBusy(state, openCalls, subagents),
    canStop: canStop(state),
    canResume: canResume(state),
    approvalBanner:
      pendingApprovals.length === 0 ? null : { pending: pendingApprovals.length, approvals: pendingApprovals },
    toolBadges: openCalls.map(({ toolCallId, state: call }) => ({
      toolCallId,
      capability: call.capability,
      status: call.status,
      badge: badgeOf(call),
      waitingFor: dispositionOf(call).waitingFor,
    })),
    subagentProgress: subagents,
    artifactPanel: artifacts,
  };
}

/** Something moves without a person. A run that calls opened says nothing of its model, so an idle one is not busy. */
function isBusy(state: RunState, openCalls: RunFacts['openCalls'], subagents: readonly SubagentProgress[]): boolean {
  if (isEnded(state.status)) return false;
  if (state.status === 'stopping' || state.status === 'suspending') return true;
  if (state.status === 'running' && !state.implicit) return true;
  const moves = openCalls.some(({ state: call }) => dispositionOf(call).waitingFor !== 'approval');
  return moves || subagents.some(({ state: helper }) => helper === 'running');
}

/** The machine's own word: the same that a stop command meets. */
function canStop(state: RunState): boolean {
  return decideRun(state, { kind: 'request_stop', request: { scope: [], modelActive: false, requestedBy: '' } }).ok;
}

function canResume(state: RunState): boolean {
  return decideRun(state, { kind: 'resume', resumption: {} }).ok;
}

function badgeOf(call: ToolCallState): Badge {
  if (call.cancellationRequested) return 'cancelling';
  switch (call.status) {
    case 'proposed':
      return 'awaiting approval';
    case 'authorized':
      return 'waiting to be sent';
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
      return call.irreversible === null ? 'in progress' : 'cannot be undone';
    case 'result_unknown':
    case 'reconciling':
    case 'manual_handoff':
      return 'result unknown';
    case 'completed':
    case 'failed':
    case 'denied':
    case 'not_executed':
      return 'ended';
  }
}
