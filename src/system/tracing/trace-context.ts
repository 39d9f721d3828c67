import { createHash } from 'node:crypto';

/** A place in a trace (W3C Trace Context, level 1): ids in lower-case hexadecimal. */
export interface TraceContext {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The header `traceparent`; null for anything that is not exactly one of a known form. */
export function parseTraceparent(header: unknown): TraceContext | null {
  if (typeof header !== 'string') return null;
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

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
