import type { Span, SpanAttributes, SpanKind } from '../system/tracing/span.js';

/** `SpanKind` of opentelemetry/proto/trace/v1/trace.proto. */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
const SCOPE = { name: 'countersign' };

/** Spans as an `ExportTraceServiceRequest` in the JSON of OTLP: ids in hexadecimal, times as text, whole numbers as text. */
export function otlpJson(spans: readonly Span[], resource: SpanAttributes): string {
  return JSON.stringify({
    resourceSpans: [
      { resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope: SCOPE, spans: spans.map(otlpSpan) }] },
    ],
  });
}

function otlpSpan({ context, parentSpanId, name, kind, startMs, endMs, attributes, isError, links }: Span): object {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: keyValues(attributes),
    links: links.map(({ traceId, spanId }) => ({ traceId, spanId, attributes: [] })),
    status: isError ? { code: STATUS_ERROR } : {},
  };
}

/** A number cannot hold the nanoseconds since 1970, so whole milliseconds and the rest are written beside each other. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`;
}

function keyValues(attributes: SpanAttributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
