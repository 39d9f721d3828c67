import { RUN_EDGES } from '../run/run.transitions.js';
import { callEndOf } from './call-end.js';
import { tellTurn, type GovernedCall, type SessionCore } from './session-core.js';
import type { MirroredEvent } from './session-row.js';

/** Takes a governed event into the core: what became of runs, calls, approvals and reviews. Never judges; the store has. */
export function evolveGoverned(core: SessionCore, fact: MirroredEvent): void {
  const { envelope } = fact;
  const type: string = envelope.eventType;
  core.events.add(fact.eventId);
  core.mirroredPosition = Math.max(core.mirroredPosition, fact.position);
  if (type.startsWith('session.')) moveSession(core, fact);
  if (envelope.reasoningObjectId !== undefined) core.reasoning.add(envelope.reasoningObjectId);
  if (envelope.runId !== undefined && Object.hasOwn(RUN_EDGES, type))
    moveRun(core, envelope.runId, type, envelope.producer === 'recovery');
  if (envelope.toolCallId !== undefined) moveCall(core, fact, envelope.toolCallId);
  const turnId = envelope.turnId ?? turnOfCall(core, envelope.toolCallId);
  if (envelope.approvalId !== undefined) moveApproval(core, turnId, type, envelope.approvalId);
  if (type.startsWith('plan_review.')) moveReview(core, turnId, fact);
}

function moveSession(core: SessionCore, { envelope, payload }: MirroredEvent): void {
  const type: string = envelope.eventType;
  const epoch = payload?.['ownerEpoch'];
  if (type === 'session.imported') core.isCreated = true;
  else if (type === 'session.deleted') core.isDeleted = true;
  else if (type === 'session.harness_attached' && typeof epoch === 'number') core.ownerEpoch = epoch;
}

function moveRun(core: SessionCore, runId: string, type: string, isRecovery: boolean): void {
  const from = core.runs.get(runId) ?? 'none';
  const next = RUN_EDGES[type as keyof typeof RUN_EDGES][from];
  if (next === undefined) return;
  core.runs.set(runId, next);
  core.lastRunId = runId;
  if (type === 'run.suspended' && isRecovery) core.cutRuns.add(runId);
  else if (type === 'run.resumed') core.cutRuns.delete(runId);
}

/** From when on, and until when, a call keeps its batch of tools running. */
const CARRYING: Readonly<Record<string, 'call_sent' | 'call_left'>> = {
  'tool.call.dispatching': 'call_sent',
  'tool.call.accepted': 'call_left',
  'tool.call.result_unknown': 'call_left',
};

function moveCall(core: SessionCore, fact: MirroredEvent, toolCallId: string): void {
  const type: string = fact.envelope.eventType;
  if (type === 'tool.call.proposed') {
    propose(core, fact, toolCallId);
    return;
  }
  const call = core.calls.get(toolCallId);
  if (call === undefined) return;
  if (type === 'tool.call.retry_accepted') {
    core.calls.set(toolCallId, { ...call, end: null });
    tellTurn(core, call.turnId, { kind: 'call_opened', id: toolCallId });
    return;
  }
  const moved = CARRYING[type];
  if (moved !== undefined) tellTurn(core, call.turnId, { kind: moved, id: toolCallId });
  const end = callEndOf(fact);
  if (end === null) return;
  core.calls.set(toolCallId, { ...call, end });
  tellTurn(core, call.turnId, { kind: 'call_closed', id: toolCallId });
}

function propose(core: SessionCore, fact: MirroredEvent, toolCallId: string): void {
  const { envelope, payload } = fact;
  const callId = payload?.['callId'];
  const call: GovernedCall = {
    toolCallId,
    runId: envelope.runId ?? null,
    turnId: envelope.turnId ?? null,
    callId: typeof callId === 'string' ? callId : null,
    correlationId: envelope.correlationId,
    end: null,
  };
  core.calls.set(toolCallId, call);
  if (call.callId !== null) core.callIds.set(call.callId, toolCallId);
  tellTurn(core, call.turnId, { kind: 'call_opened', id: toolCallId });
}

const turnOfCall = (core: SessionCore, toolCallId: string | undefined): string | null =>
  (toolCallId === undefined ? undefined : core.calls.get(toolCallId)?.turnId) ?? null;

const APPROVAL_ENDS = ['granted', 'denied', 'expired', 'invalidated', 'closed', 'consumed'];

function moveApproval(core: SessionCore, turnId: string | null, type: string, id: string): void {
  if (type === 'approval.required') tellTurn(core, turnId, { kind: 'approval_opened', id });
  else if (APPROVAL_ENDS.some((end) => type === `approval.${end}`)) {
    tellTurn(core, turnId, { kind: 'approval_closed', id });
  }
}

function moveReview(core: SessionCore, turnId: string | null, fact: MirroredEvent): void {
  const named = fact.payload?.['planReviewId'];
  const id = typeof named === 'string' ? named : fact.envelope.streamId;
  const type: string = fact.envelope.eventType;
  // what closes a review need not name the turn: the review is of the turn that is open while it is
  if (type === 'plan_review.required')
    tellTurn(core, turnId ?? core.turn?.turnId ?? null, { kind: 'review_opened', id });
  else tellTurn(core, core.turn?.turnId ?? null, { kind: 'review_closed', id });
}
