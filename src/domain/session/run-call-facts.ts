import { textIn, type ReadFact } from './fact-reading.js';
import type { RunDraft } from './run-draft.js';
import type { RunToolCall } from './session-state.js';

type Call = { -readonly [K in keyof RunToolCall]: RunToolCall[K] };
type Apply = (call: Call, fact: ReadFact, draft: RunDraft) => void;

/** What each type of fact does to a call that is there. A call that may have been sent is never made un-sent by any of them. */
const CALL: Readonly<Record<string, Apply>> = {
  'capability.authorized': (call) => {
    call.status = 'authorized';
  },
  'capability.authorization_withdrawn': (call) => {
    call.status = 'proposed';
  },
  'tool.call.denied': (call) => end(call, 'denied'),
  'tool.call.not_executed': (call, { payload }) => {
    end(call, 'not_executed');
    call.lastError = textIn(payload, 'reason') ?? null;
  },
  'tool.call.dispatching': (call, { payload }, draft) => {
    call.status = 'dispatching';
    const executionEnvironmentId = textIn(payload, 'executionEnvironmentId');
    if (executionEnvironmentId !== undefined) draft.runtime = { ...draft.runtime, executionEnvironmentId };
  },
  'tool.call.dispatched': (call, { payload }) => {
    call.status = 'dispatched';
    call.dispatchedAt = textIn(payload, 'dispatchedAt') ?? null;
  },
  'tool.call.accepted': (call, { payload }) => {
    call.status = 'accepted';
    call.acceptedAt = textIn(payload, 'acceptedAt') ?? null;
  },
  'tool.call.completed': (call, { eventId }) => {
    end(call, 'completed');
    call.resultRef = eventId;
    call.lastError = null;
  },
  'tool.call.failed': (call, { payload }) => {
    end(call, 'failed');
    call.lastError = textIn(payload, 'code') ?? null;
  },
  'tool.call.result_unknown': (call, { payload }) => {
    call.status = 'result_unknown';
    call.reconciliationStatus = 'pending';
    const cause = textIn(payload, 'lastError') ?? textIn(payload, 'cause') ?? null;
    call.lastError = cause === 'timeout' ? 'response_timeout' : cause;
  },
  'reconciliation.started': (call) => {
    call.status = 'reconciling';
    call.reconciliationStatus = 'in_progress';
  },
  'reconciliation.resolved': (call) => {
    call.reconciliationStatus = 'resolved';
  },
  'tool.call.manual_handoff': (call) => {
    call.status = 'manual_handoff';
    call.reconciliationStatus = 'handed_off';
  },
  'manual.handoff_resolved': (call, { payload }) => {
    call.reconciliationStatus = payload['finding'] === 'unknowable' ? 'inconclusive' : 'resolved';
  },
  /** Only on proof that nothing happened: the same call, tried again. */
  'tool.call.retry_accepted': (call) => {
    Object.assign(call, {
      status: 'proposed',
      externalRequestId: null,
      dispatchedAt: null,
      acceptedAt: null,
      reconciliationStatus: 'not_required',
      lastError: null,
    });
  },
  'tool.call.callback_received': () => undefined,
  'outcome.verification_opened': (call) => verify(call, 'pending'),
  'feedback.received': (call, { payload, refs }, draft) => {
    const feedbackId = textIn(payload, 'feedbackId') ?? refs.feedbackId;
    if (feedbackId !== undefined) draft.feedback.add(feedbackId);
    if (call.outcomeStatus === 'inconclusive') verify(call, 'pending');
  },
  'feedback.success_criteria_met': (call) => verify(call, 'confirmed_success'),
  'feedback.success_criteria_failed': (call) => verify(call, 'confirmed_failure'),
  'feedback.inconclusive': (call) => verify(call, 'inconclusive'),
  'feedback.contradiction_recorded': (call) => verify(call, 'pending'),
};

export function countCall(draft: RunDraft, fact: ReadFact): void {
  const { toolCallId } = fact.refs;
  if (toolCallId === undefined) return;
  if (fact.type === 'tool.call.proposed') {
    draft.calls.set(toolCallId, proposed(toolCallId, fact));
    return;
  }
  const call = draft.calls.get(toolCallId);
  if (call === undefined || !Object.hasOwn(CALL, fact.type)) return;
  CALL[fact.type]?.(call, fact, draft);
  // The reference of an attempt, told by whatever tells it first; a retry has begun a new attempt.
  call.externalRequestId = textIn(fact.payload, 'externalRequestId') ?? call.externalRequestId;
}

function proposed(toolCallId: string, { payload, refs }: ReadFact): Call {
  return {
    toolCallId,
    callId: textIn(payload, 'callId') ?? null,
    capabilityId:
      refs.capabilityId ?? `${textIn(payload, 'capability') ?? ''}@${textIn(payload, 'capabilityVersion') ?? ''}`,
    status: 'proposed',
    // The caller's key names the intent; without one, the key that the tool receives does.
    idempotencyKey: textIn(payload, 'idempotencyKey') ?? textIn(payload, 'downstreamKey') ?? null,
    externalRequestId: null,
    dispatchedAt: null,
    acceptedAt: null,
    resultRef: null,
    reconciliationStatus: 'not_required',
    lastError: null,
  };
}

/** Evidence that ends a call which was unknown has resolved it, whether or not anybody was asking. */
function end(call: Call, status: string): void {
  call.status = status;
  if (call.reconciliationStatus !== 'not_required') call.reconciliationStatus = 'resolved';
}

function verify(call: Call, outcomeStatus: string): void {
  call.outcomeStatus = outcomeStatus;
}
