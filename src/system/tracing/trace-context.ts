import { createHash } from 'node:crypto';

/** The ids a tool call has in traces. They follow from its own id, so every process, and every later one, knows them. */
export interface CallTraceIds {
  readonly traceId: string;
  /** The span from the proposal to the end. */
  readonly callSpanId: string;
  /** The request that proposed it: the parent of the call's span. */
  readonly requestSpanId: string;
}

export function callTraceIds(toolCallId: string): CallTraceIds {
  const digest = createHash('sha256').update(toolCallId).digest('hex');
  return { traceId: digest.slice(0, 32), callSpanId: digest.slice(32, 48), requestSpanId: digest.slice(48, 64) };
}
