import type { Attributes } from '@opentelemetry/api';
import type { NewEvent } from '../../domain/events/envelope.js';
import { timeOfId } from '../../domain/ids/id-time.js';
import { isTerminal } from '../../domain/tool-call/tool-call.state.js';
import type { CommittedUnit, Feed } from '../../storage/feed.js';
import { callTraceIds } from '../../system/tracing/trace-context.js';
import type { Tracing } from '../../system/tracing/tracing.js';
import { STATUS_AFTER } from './call-metrics.js';

const APPROVAL_ENDS: readonly string[] = [
  'approval.granted',
  'approval.denied',
  'approval.expired',
  'approval.invalidated',
  'approval.closed',
];

/**
 * The two spans that may last for days, made from the durable feed when they end: a call from its proposal to its end, and
 * a question from being asked to being answered. When they began is in their ids, so nothing is remembered for them.
 */
export function traceCallsIn(feed: Feed, tracing: Tracing): void {
  feed.subscribe('call-traces', ({ unit, committed }: CommittedUnit) => {
    const endMs = Date.parse(committed.recordedAt);
    for (const { stream, events } of unit.appends) {
      for (const event of events) {
        if (stream.kind === 'call' && !isRetried(unit)) traceEnd(tracing, stream.id, event, endMs);
        if (stream.kind === 'approval' && APPROVAL_ENDS.includes(event.type))
          traceQuestion(tracing, stream.id, event, endMs);
      }
    }
  });
}

/** The span of a call ends with its first attempt; what later ones do stands below it, and a span is sent once. */
function isRetried({ appends, writes }: CommittedUnit['unit']): boolean {
  return (
    appends.some(({ events }) => events.some(({ type }) => type === 'tool.call.retry_accepted')) ||
    writes.some((write) => write.table === 'attempts' && write.op === 'set' && write.where['attempt'] !== 1)
  );
}

function traceEnd(tracing: Tracing, toolCallId: string, event: NewEvent, endMs: number): void {
  const status = STATUS_AFTER[event.type];
  if (status === undefined || !isTerminal(status)) return;
  const context = tracing.ofCall(toolCallId);
  const { requestSpanId } = callTraceIds(toolCallId);
  const startMs = timeOfId(toolCallId);
  const attributes = { ...attributesOf(event), 'countersign.status': status, ...codeOf(event) };
  const isError = status === 'failed' || status === 'manual_handoff';
  const work = { name: 'tool call', startMs, tookMs: endMs - startMs, attributes, isError };
  tracing.record(context, { ...context, spanId: requestSpanId }, work);
  tracing.forget(toolCallId);
}

function traceQuestion(tracing: Tracing, approvalId: string, event: NewEvent, endMs: number): void {
  const { toolCallId } = event.refs;
  if (toolCallId === undefined) return;
  const startMs = timeOfId(approvalId);
  const attributes = { ...attributesOf(event), 'countersign.approval.end': event.type };
  tracing.recordBelow(tracing.ofCall(toolCallId), { name: 'approval', startMs, tookMs: endMs - startMs, attributes });
}

function attributesOf({ refs }: NewEvent): Attributes {
  return {
    ...(refs.toolCallId === undefined ? {} : { 'countersign.tool_call_id': refs.toolCallId }),
    ...(refs.runId === undefined ? {} : { 'countersign.run_id': refs.runId }),
    ...(refs.capabilityId === undefined ? {} : { 'countersign.capability': refs.capabilityId }),
    ...(refs.approvalId === undefined ? {} : { 'countersign.approval_id': refs.approvalId }),
  };
}

/** The code, basis or reason of an end, which are words of ours. */
function codeOf({ payload }: NewEvent): Attributes {
  const code = payload['code'] ?? payload['basis'] ?? payload['reason'];
  return typeof code === 'string' ? { 'countersign.code': code } : {};
}
