import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../clock.js';
import type { RandomSource } from '../random-source.js';
import type { Span, SpanAttributes, SpanKind } from './span.js';
import { callTraceIds, type TraceContext } from './trace-context.js';

/** Work in progress: where the spans that end inside it belong. */
export interface Scope {
  /** Null in a request until it is known what it is about. */
  parent: TraceContext | null;
  /** The call that this work is about. */
  toolCallId: string | null;
  /** True for a request in which the call came to be. */
  hasProposed: boolean;
  /** What the request's caller sent. */
  readonly incoming: TraceContext | null;
  /** Spans that ended before their place was known. */
  readonly waiting: ((parent: TraceContext) => Span)[];
}

/** What a span says besides where it stands. */
export interface Work {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly startMs: number;
  readonly tookMs: number;
  readonly attributes?: SpanAttributes;
  readonly isError?: boolean;
}

/** Calls whose trace is their caller's are remembered up to this number; the others follow from their id. */
const ADOPTED_MAX = 10_000;

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
  private readonly adopted = new Map<string, { readonly traceId: string; readonly sampled: boolean }>();

  constructor(
    private readonly spans: { add(span: Span): void },
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly sampleRatio: number,
  ) {}

  nowMs(): number {
    return this.clock.now();
  }

  newSpanId(): string {
    return this.hex(8);
  }

  newTraceId(): string {
    return this.hex(16);
  }

  /** Where spans about a call belong. */
  ofCall(toolCallId: string): TraceContext {
    const { traceId, callSpanId } = callTraceIds(toolCallId);
    return { spanId: callSpanId, ...(this.adopted.get(toolCallId) ?? { traceId, sampled: this.isSampled(traceId) }) };
  }

  isSampled(traceId: string): boolean {
    return Number.parseInt(traceId.slice(-8), 16) < this.sampleRatio * 2 ** 32;
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
      this.adopted.set(toolCallId, { traceId: incoming.traceId, sampled: incoming.sampled });
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
    if (scope.parent !== null) this.record(this.child(scope.parent, work));
    else scope.waiting.push((parent) => this.child(parent, work));
  }

  child(parent: TraceContext, work: Work): Span {
    return this.span({ ...parent, spanId: this.newSpanId() }, parent.spanId, work);
  }

  span(context: TraceContext, parentSpanId: string | null, work: Work, links: readonly TraceContext[] = []): Span {
    return {
      context,
      parentSpanId,
      name: work.name,
      kind: work.kind ?? 'internal',
      startMs: work.startMs,
      endMs: work.startMs + work.tookMs,
      attributes: work.attributes ?? {},
      isError: work.isError ?? false,
      links,
    };
  }

  record(span: Span): void {
    if (span.context.sampled) this.spans.add(span);
  }

  /** What waited for its place has one. */
  settle(scope: Scope, parent: TraceContext): void {
    for (const place of scope.waiting.splice(0)) this.record(place(parent));
  }

  /** Does the work inside a span of its own, as part of the call's trace. */
  async inSpan<T>(name: string, toolCallId: string, work: () => Promise<T>): Promise<T> {
    const call = this.ofCall(toolCallId);
    const context = { ...call, spanId: this.newSpanId() };
    const scope: Scope = { parent: context, toolCallId, hasProposed: false, incoming: null, waiting: [] };
    const [startMs, begunMs] = [this.clock.now(), this.clock.monotonic()];
    try {
      return await this.within(scope, work);
    } finally {
      const attributes = { 'countersign.tool_call_id': toolCallId };
      const tookMs = this.clock.monotonic() - begunMs;
      this.record(this.span(context, call.spanId, { name, startMs, tookMs, attributes }));
    }
  }

  private hex(bytes: number): string {
    return Buffer.from(this.random.bytes(bytes)).toString('hex');
  }
}
