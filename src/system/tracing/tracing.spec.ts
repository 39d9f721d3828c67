import { describe, expect, it } from '@jest/globals';
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { SystemClock } from '../clock.js';
import { callTraceIds } from './trace-context.js';
import { Tracing, type Scope } from './tracing.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const CALL = 'call_01jgfjjk00aaaaaaaaaaaaaaaa';

function traced(sampleRatio = 1) {
  const exporter = new InMemorySpanExporter();
  const tracing = new Tracing(new SimpleSpanProcessor(exporter), emptyResource(), new SystemClock(), sampleRatio);
  return { tracing, spans: () => exporter.getFinishedSpans() };
}

const scopeOf = (tracing: Tracing, traceparent?: string): Scope => ({
  parent: null,
  toolCallId: null,
  hasProposed: false,
  incoming: tracing.incoming(traceparent),
  waiting: [],
});

describe('a traceparent', () => {
  const { tracing } = traced();

  it.each([
    [`00-${TRACE}-${SPAN}-01`, TraceFlags.SAMPLED],
    [`00-${TRACE}-${SPAN}-00`, TraceFlags.NONE],
    [`00-${TRACE}-${SPAN}-03`, TraceFlags.SAMPLED],
    [`00-${TRACE}-${SPAN}-ff`, TraceFlags.SAMPLED],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-adds`, TraceFlags.SAMPLED],
  ])('is read from %s', (header, traceFlags) => {
    expect(tracing.incoming(header)).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags, isRemote: true });
  });

  it.each([
    undefined,
    '',
    ['00', TRACE],
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01\r\nx: y`,
  ])('is not read from %j', (header) => {
    expect(tracing.incoming(header)).toBeNull();
  });

  it('is written as it is read', () => {
    for (const flags of ['00', '01']) {
      const header = `00-${TRACE}-${SPAN}-${flags}`;
      const context = tracing.incoming(header);
      expect(context === null ? null : tracing.traceparent(context)).toBe(header);
    }
  });
});

describe('a span', () => {
  it('has the ids that were known before, and times to the fraction of a millisecond', () => {
    const { tracing, spans } = traced();
    const context = { ...tracing.ofCall(CALL), spanId: SPAN };
    const startMs = 1_924_992_000_123.25;
    const work = { name: 'POST', kind: SpanKind.CLIENT, startMs, tookMs: 7, attributes: { ratio: 0.5 }, isError: true };
    tracing.record(context, tracing.ofCall(CALL), work, [{ ...context, traceId: TRACE }]);
    const [span] = spans();
    expect(span?.spanContext()).toMatchObject({ traceId: callTraceIds(CALL).traceId, spanId: SPAN });
    expect(span?.parentSpanContext?.spanId).toBe(callTraceIds(CALL).callSpanId);
    expect(span).toMatchObject({
      kind: SpanKind.CLIENT,
      startTime: [1_924_992_000, 123_250_000],
      endTime: [1_924_992_000, 130_250_000],
      attributes: { ratio: 0.5 },
      status: { code: SpanStatusCode.ERROR },
      links: [{ context: { traceId: TRACE } }],
    });
  });

  it('at the top of a trace has no parent and the given ids, and never ends before it begins', () => {
    const { tracing, spans } = traced();
    const context = { traceId: TRACE, spanId: SPAN, traceFlags: TraceFlags.SAMPLED };
    tracing.record(context, null, { name: 'request', startMs: 1_924_992_000_000, tookMs: -5 });
    const [span] = spans();
    expect(span?.spanContext()).toMatchObject({ traceId: TRACE, spanId: SPAN });
    expect(span?.parentSpanContext).toBeUndefined();
    expect(span?.endTime).toEqual(span?.startTime);
  });

  it('whose place is not known yet waits for it', () => {
    const { tracing, spans } = traced();
    const scope = scopeOf(tracing, `00-${TRACE}-${SPAN}-01`);
    tracing.note(scope, { name: 'policy evaluation', startMs: 1_924_992_000_000, tookMs: 1 });
    expect(spans()).toEqual([]);
    tracing.adopt(scope, CALL);
    tracing.settle(scope, tracing.ofCall(CALL));
    expect(spans()[0]?.spanContext().traceId).toBe(TRACE);
    expect(spans()[0]?.parentSpanContext?.spanId).toBe(callTraceIds(CALL).callSpanId);
  });

  it('of a trace that is not kept is not made, and tools are told', () => {
    const { tracing, spans } = traced(0);
    const call = tracing.ofCall(CALL);
    tracing.recordBelow(call, { name: 'commit', startMs: 1_924_992_000_000, tookMs: 1 });
    expect(spans()).toEqual([]);
    expect(tracing.traceparent(call)).toMatch(/-00$/);
    tracing.adopt(scopeOf(tracing, `00-${TRACE}-${SPAN}-01`), CALL);
    expect(tracing.traceparent(tracing.ofCall(CALL))).toMatch(new RegExp(`^00-${TRACE}-.*-01$`));
  });
});
