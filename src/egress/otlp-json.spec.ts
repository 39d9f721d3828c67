import { describe, expect, it } from '@jest/globals';
import { SpanKind, SpanStatusCode, TraceFlags, trace, ROOT_CONTEXT } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { Span } from '../system/tracing/span.js';
import { otlpJson } from './otlp-json.js';

const TRACE = '5b8efff798038103d269b633813fc60c';
const PARENT = 'eee19b7ec3c1b174';
const OTHER = { traceId: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', spanId: 'bbbbbbbbbbbbbbbb' };
const ATTRIBUTES = { 'countersign.status': 'failed', 'http.response.status_code': 503, ratio: 0.5, replayed: true };
const RESOURCE = { 'service.name': 'countersign' };
const START = 1_924_992_000_123;

/** The same span, made and written by the OpenTelemetry SDK. */
function official(): { readonly json: unknown; readonly spanId: string } {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes(RESOURCE),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const parent = trace.setSpanContext(ROOT_CONTEXT, {
    traceId: TRACE,
    spanId: PARENT,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
  const span = provider.getTracer('countersign').startSpan(
    'POST',
    {
      kind: SpanKind.CLIENT,
      startTime: START,
      attributes: ATTRIBUTES,
      links: [{ context: { ...OTHER, traceFlags: 1 } }],
    },
    parent,
  );
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(START + 7);
  const bytes = JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans());
  return { json: JSON.parse(Buffer.from(bytes ?? []).toString()) as unknown, spanId: span.spanContext().spanId };
}

describe('spans in the JSON of OTLP', () => {
  it('say the same as those of the OpenTelemetry SDK', () => {
    const { json, spanId } = official();
    const span: Span = {
      context: { traceId: TRACE, spanId, sampled: true },
      parentSpanId: PARENT,
      name: 'POST',
      kind: 'client',
      startMs: START,
      endMs: START + 7,
      attributes: ATTRIBUTES,
      isError: true,
      links: [{ ...OTHER, sampled: true }],
    };
    const ours = JSON.parse(otlpJson([span], RESOURCE)) as object;
    expect(comparable(json)).toEqual(comparable(ours));
    expect(JSON.stringify(ours)).toContain(`"startTimeUnixNano":"${START}000000"`);
  });

  it('keep fractions of a millisecond, and never end before they begin', () => {
    const span: Span = {
      context: { traceId: TRACE, spanId: PARENT, sampled: true },
      parentSpanId: null,
      name: 'commit',
      kind: 'internal',
      startMs: START + 0.25,
      endMs: START - 5,
      attributes: {},
      isError: false,
      links: [],
    };
    const text = otlpJson([span], {});
    expect(text).toContain(`"startTimeUnixNano":"${START}250000","endTimeUnixNano":"${START}250000"`);
    expect(text).not.toContain('parentSpanId');
  });
});

/** Without what a receiver reads as absent: zero counts, empty lists, flags; whole numbers may be text or number. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(
      ([key, inner]) => !/^dropped|^flags$|^traceState$/.test(key) && !(Array.isArray(inner) && inner.length === 0),
    )
    .map(([key, inner]) => [key, key === 'intValue' ? String(inner) : comparable(inner)] as const);
  return Object.fromEntries(entries);
}
