import type { TraceContext } from './trace-context.js';

export type SpanKind = 'internal' | 'server' | 'client';

/** Ids, names of ours, status words, codes and numbers: never arguments, results, reasons, headers or credentials. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One piece of work that has ended. */
export interface Span {
  readonly context: TraceContext;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970, fractions allowed. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly isError: boolean;
  readonly links: readonly TraceContext[];
}

/** Sends a batch of spans to wherever traces are kept. */
export abstract class SpanSender {
  /** False when they did not arrive. Never rejects, and answers within a bounded time. */
  abstract send(spans: readonly Span[]): Promise<boolean>;
}
