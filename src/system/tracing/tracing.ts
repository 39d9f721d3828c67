import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  defaultTextMapSetter,
  trace,
  type Attributes,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator, parseTraceParent } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { Clock } from '../clock.js';
import { GivenIds } from './given-ids.js';
import { callTraceIds } from './trace-context.js';

/** Work in progress: where the spans that end inside it belong. */
export interface Scope {
  /** Null in a request until it is known what it is about. */
  parent: SpanContext | null;
  /** The call that this work is about. */
  toolCallId: string | null;
  /** True for a request in which the call came to be. */
  hasProposed: boolean;
  /** What the request's caller sent. */
  readonly incoming: SpanContext | null;
  /** Work that ended before its place was known. */
  readonly waiting: Work[];
}

/** What a span says besides where it stands. */
export interface Work {
  readonly name: string;
  readonly kind?: SpanKind;
  /** Milliseconds since 1970, fractions allowed. */
  readonly startMs: number;
  readonly tookMs: number;
  /** Ids, names of ours, status words, codes and numbers: never arguments, results, reasons, headers or credentials. */
  readonly attributes?: Attributes;
  readonly isError?: boolean;
}

/** Calls whose trace is their caller's are remembered up to this number; the others follow from their id. */
const ADOPTED_MAX = 10_000;

const PROPAGATOR = new W3CTraceContextPropagator();

/**
 * One trace per tool call, from the proposal to its end.
 *
 * Its ids follow from the call's id, so a call that waits for people, moves to another process or outlives a restart goes
 * on in the trace it began in, and nothing is stored for it. A call whose proposal came with a `traceparent` belongs to
 * its caller's trace instead, as long as this process lives; the request's span links to the derived trace, where the
 * call goes on after a restart. Exists only while tracing is on.
 */
export class Tracing {
  private readonly scopes = new AsyncLocalStorage<Scope>();
  private readonly adopted = new Map<string, Pick<SpanContext, 'traceId' | 'traceFlags'>>();
  private readonly ids = new GivenIds();
  private readonly ratio: TraceIdRatioBasedSampler;
  private readonly tracer: Tracer;

  /** `sampleRatio`: the part of the traces that begin here that is kept. `resource` says which process it is. */
  constructor(
    processor: SpanProcessor,
    resource: Resource,
    private readonly clock: Clock,
    sampleRatio: number,
  ) {
    this.ratio = new TraceIdRatioBasedSampler(sampleRatio);
    // Whether a trace is kept is decided before its first span ends, since tools are told.
    const sampler = new AlwaysOnSampler();
    const provider = new BasicTracerProvider({ spanProcessors: [processor], resource, sampler, idGenerator: this.ids });
    this.tracer = provider.getTracer('countersign');
  }

  nowMs(): number {
    return this.clock.now();
  }

  /** A place for a span below this one, or at the top of a trace of its own. */
  place(parent: SpanContext | null): SpanContext {
    const spanId = this.ids.generateSpanId();
    if (parent !== null) return { traceId: parent.traceId, spanId, traceFlags: parent.traceFlags };
    const traceId = this.ids.generateTraceId();
    return { traceId, spanId, traceFlags: this.flagsOf(traceId) };
  }

  /** Where spans about a call belong. */
  ofCall(toolCallId: string): SpanContext {
    const { traceId, callSpanId } = callTraceIds(toolCallId);
    return { spanId: callSpanId, ...(this.adopted.get(toolCallId) ?? { traceId, traceFlags: this.flagsOf(traceId) }) };
  }

  /** What a caller's `traceparent` says; null for anything else. Neither its other flags nor its `tracestate` are kept. */
  incoming(traceparent: unknown): SpanContext | null {
    const context = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
    return context && { ...context, traceFlags: context.traceFlags & TraceFlags.SAMPLED, isRemote: true };
  }

  /** The header for a tool. */
  traceparent(context: SpanContext): string {
    const carrier: Record<string, string> = {};
    PROPAGATOR.inject(trace.setSpanContext(ROOT_CONTEXT, context), carrier, defaultTextMapSetter);
    return carrier['traceparent'] ?? '';
  }

  /** The work that is being done here, if any is traced. */
  scope(): Scope | undefined {
    return this.scopes.getStore();
  }

  within<T>(scope: Scope, work: () => T): T {
    return this.scopes.run(scope, work);
  }

  /** A call comes to be in this request. Before its unit is durable, since whoever carries it out begins at that moment. */
  adopt(scope: Scope, toolCallId: string): void {
    const { incoming } = scope;
    if (incoming !== null) {
      const [oldest] = this.adopted.keys();
      if (this.adopted.size >= ADOPTED_MAX && oldest !== undefined) this.adopted.delete(oldest);
      this.adopted.set(toolCallId, { traceId: incoming.traceId, traceFlags: incoming.traceFlags });
    }
    scope.toolCallId = toolCallId;
    scope.hasProposed = true;
    scope.parent = this.ofCall(toolCallId);
  }

  /** It did not come to be, after all. */
  disown(scope: Scope, toolCallId: string): void {
    this.forget(toolCallId);
    Object.assign(scope, { toolCallId: null, hasProposed: false, parent: null });
  }

  /** The call has ended. */
  forget(toolCallId: string): void {
    this.adopted.delete(toolCallId);
  }

  /** Work inside a scope has ended; without a scope nobody asks. */
  note(scope: Scope | undefined, work: Work): void {
    if (scope === undefined) return;
    if (scope.parent !== null) this.recordBelow(scope.parent, work);
    else scope.waiting.push(work);
  }

  /** What waited for its place has one. */
  settle(scope: Scope, parent: SpanContext): void {
    for (const work of scope.waiting.splice(0)) this.recordBelow(parent, work);
  }

  recordBelow(parent: SpanContext, work: Work): void {
    this.record(this.place(parent), parent, work);
  }

  /** Work has ended, and this is its place. A parent is of the same trace. */
  record(context: SpanContext, parent: SpanContext | null, work: Work, links: readonly SpanContext[] = []): void {
    if ((context.traceFlags & TraceFlags.SAMPLED) === 0) return;
    const { name, kind = SpanKind.INTERNAL, startMs, tookMs, attributes = {}, isError = false } = work;
    const options = { kind, startTime: startMs, attributes, links: links.map((link) => ({ context: link })) };
    const above = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    const span = this.ids.during(context, () => this.tracer.startSpan(name, options, above));
    if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(startMs + tookMs);
  }

  /** Does the work inside a span of its own, as part of the call's trace. */
  async inSpan<T>(name: string, toolCallId: string, work: () => Promise<T>): Promise<T> {
    const call = this.ofCall(toolCallId);
    const context = this.place(call);
    const scope: Scope = { parent: context, toolCallId, hasProposed: false, incoming: null, waiting: [] };
    const [startMs, begunMs] = [this.clock.now(), this.clock.monotonic()];
    try {
      return await this.within(scope, work);
    } finally {
      const attributes = { 'countersign.tool_call_id': toolCallId };
      this.record(context, call, { name, startMs, tookMs: this.clock.monotonic() - begunMs, attributes });
    }
  }

  private flagsOf(traceId: string): TraceFlags {
    const { decision } = this.ratio.shouldSample(ROOT_CONTEXT, traceId);
    return decision === SamplingDecision.RECORD_AND_SAMPLED ? TraceFlags.SAMPLED : TraceFlags.NONE;
  }
}
