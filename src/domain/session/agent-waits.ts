import type { JsonObject } from '../json/json-value.js';
import type { AgentDraft } from './agent-draft.js';
import { deepCopy, deepFreeze } from './deep-freeze.js';
import { countIn, listIn, objectIn, textIn, textsIn, type ReadFact } from './fact-reading.js';
import { lastErrorOf } from './last-error.js';
import type { AgentState, PendingApprovalItem } from './session-state.js';

type Apply = (draft: AgentDraft, fact: ReadFact) => void;

/** An approval that may still lead to an effect. */
const LIVE: readonly string[] = ['pending', 'granted'];
const YES: readonly string[] = ['allow', 'allowed', 'approve', 'approved', 'granted'];

/** What the runtime says of the session's run and of what it waits for. */
const WAITS: Readonly<Record<string, Apply>> = {
  'session.imported': (draft, { payload }) => importState(draft, payload),
  'run.started': (draft) => {
    const { state } = draft;
    state.isRunning = true;
    state.planReviewApproved = false;
    delete state.lastError;
    delete state.pendingRunCheckpoint;
    delete state.pendingApproval;
    delete state.pendingPlanReview;
  },
  /** A stop that was asked for cannot be resumed any more, even before it has ended. */
  'stop.requested': (draft) => {
    draft.state.isRunning = false;
  },
  'run.completed': (draft) => endRun(draft),
  'run.stopped': (draft) => endRun(draft),
  'run.handed_off': (draft) => endRun(draft),
  'run.marked_not_resumable': (draft) => endRun(draft),
  'run.failed': (draft, { payload }) => {
    endRun(draft);
    draft.state.lastError = lastErrorOf(objectIn(payload, 'lastError') ?? {});
  },
  'checkpoint.created': (draft, fact) => {
    const { payload, refs, occurredAt, seq } = fact;
    const checkpointId = textIn(payload, 'checkpointId');
    if (checkpointId === undefined || !draft.state.isRunning) return;
    const kind = textIn(payload, 'kind') ?? '';
    draft.state.pendingRunCheckpoint = {
      checkpointId,
      runId: refs.runId ?? '',
      ...(refs.turnId === undefined ? {} : { turnId: refs.turnId }),
      kind,
      seq: countIn(payload, 'seq') ?? seq,
      createdAt: occurredAt,
      reason: textIn(payload, 'reason') ?? kind,
    };
  },
  'checkpoint.archived': (draft, { payload }) => {
    const { pendingRunCheckpoint } = draft.state;
    if (pendingRunCheckpoint?.checkpointId === payload['checkpointId']) delete draft.state.pendingRunCheckpoint;
  },
  'approval.required': (draft, fact) => freezeApproval(draft, fact),
  'approval.granted': (draft, { refs, payload }) =>
    decideApproval(draft, refs.approvalId, 'granted', textIn(payload, 'executeBy')),
  'approval.denied': (draft, { refs }) => decideApproval(draft, refs.approvalId, 'denied'),
  'approval.expired': (draft, { refs }) => decideApproval(draft, refs.approvalId, 'expired'),
  'approval.invalidated': (draft, { refs }) => decideApproval(draft, refs.approvalId, 'invalidated'),
  'approval.consumed': (draft, { refs }) => decideApproval(draft, refs.approvalId, 'consumed'),
  'approval.closed': (draft, { refs }) => decideApproval(draft, refs.approvalId, 'closed'),
  'plan_review.required': (draft, { payload, refs, occurredAt }) => {
    const expiresAt = textIn(payload, 'expiresAt');
    draft.state.planReviewApproved = false;
    draft.state.pendingPlanReview = {
      planReviewId: textIn(payload, 'planReviewId') ?? '',
      runId: refs.runId ?? '',
      turnId: refs.turnId ?? null,
      plan: payload['plan'] ?? null,
      planDigest: textIn(payload, 'planDigest') ?? '',
      requestedAt: occurredAt,
      status: 'pending',
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
  },
  'plan_review.decided': (draft, { payload }) => {
    if (!endReview(draft, payload)) return;
    draft.state.planReviewApproved = YES.includes(textIn(payload, 'decision') ?? '');
  },
  'plan_review.closed': (draft, { payload }) => void endReview(draft, payload),
};

export function applyWait(draft: AgentDraft, fact: ReadFact): void {
  if (Object.hasOwn(WAITS, fact.type)) WAITS[fact.type]?.(draft, fact);
}

function endRun({ state }: AgentDraft): void {
  state.isRunning = false;
  delete state.pendingRunCheckpoint;
}

function endReview({ state }: AgentDraft, payload: JsonObject): boolean {
  if (state.pendingPlanReview?.planReviewId !== payload['planReviewId']) return false;
  delete state.pendingPlanReview;
  return true;
}

/**
 * Everything that the state of another installation held. Its run is not one of ours: there is nothing here that could be resumed.
 * The payload was checked by the codec before it was recorded.
 */
function importState(draft: AgentDraft, payload: JsonObject): void {
  const imported = objectIn(payload, 'agentState');
  const history = imported === undefined ? undefined : objectIn(imported, 'history');
  if (imported === undefined || history === undefined) return;
  const { history: _, sessionId: __, schemaVersion: ___, ...fields } = imported as unknown as AgentState;
  Object.assign(draft.state, fields, { isRunning: false });
  delete draft.state.pendingRunCheckpoint;
  draft.messages = deepFreeze(deepCopy(listIn(history, 'messages'))) as unknown as typeof draft.messages;
  draft.episodes = listIn(history, 'episodicMemories') as unknown as typeof draft.episodes;
  draft.owned.clear();
  draft.open = null;
}

/** One step's questions are one batch. While one of them may still lead to an effect, a further question joins it. */
function freezeApproval({ state }: AgentDraft, { payload, refs, occurredAt }: ReadFact): void {
  const shown = objectIn(payload, 'shown') ?? {};
  const item: PendingApprovalItem = {
    approvalId: refs.approvalId ?? '',
    toolCallId: refs.toolCallId ?? '',
    capabilityId: refs.capabilityId ?? capabilityOf(payload),
    capabilityVersion: textIn(payload, 'capabilityVersion') ?? '',
    argsDigest: textIn(payload, 'argsDigest') ?? '',
    frozenArgs: deepFreeze(shown['arguments'] ?? null),
    policyDecisionId: refs.policyDecisionId ?? '',
    risk: textIn(payload, 'risk') ?? '',
    reason: reasonOf(payload, shown),
    status: 'pending',
    expiresAt: textIn(payload, 'expiresAt') ?? '',
  };
  const batch = state.pendingApproval;
  if (batch !== undefined) {
    state.pendingApproval = { ...batch, items: [...batch.items, item] };
    return;
  }
  state.pendingApproval = {
    approvalBatchId: textIn(payload, 'approvalBatchId') ?? refs.stepId ?? refs.turnId ?? item.approvalId,
    runId: refs.runId ?? '',
    turnId: refs.turnId ?? null,
    stepId: refs.stepId ?? null,
    frozenAt: occurredAt,
    items: [item],
  };
}

function capabilityOf(payload: JsonObject): string {
  const name = textIn(payload, 'capability');
  return name === undefined ? '' : `${name}@${textIn(payload, 'capabilityVersion') ?? ''}`;
}

function reasonOf(payload: JsonObject, shown: JsonObject): string {
  const reasons = textsIn(payload, 'reasons');
  return reasons.length > 0 ? reasons.join('; ') : (textIn(shown, 'agentReason') ?? '');
}

/** The batch is gone once none of its items can lead to an effect any more. */
function decideApproval({ state }: AgentDraft, approvalId: string | undefined, status: string, by?: string): void {
  const batch = state.pendingApproval;
  if (batch === undefined) return;
  const items = batch.items.map((item) =>
    item.approvalId === approvalId ? { ...item, status, ...(by === undefined ? {} : { expiresAt: by }) } : item,
  );
  if (items.some((item) => LIVE.includes(item.status))) state.pendingApproval = { ...batch, items };
  else delete state.pendingApproval;
}
