import type { SpanContext } from '@opentelemetry/api';
import { RandomIdGenerator, type IdGenerator } from '@opentelemetry/sdk-trace-base';

/** The SDK asks for ids when a span begins. Ours are known before: they follow from the call, or a tool has them already. */
export class GivenIds implements IdGenerator {
  private readonly random = new RandomIdGenerator();
  private given: SpanContext | null = null;

  /** The span that begins in `begin`, which must be at once, gets these. */
  during<T>(context: SpanContext, begin: () => T): T {
    this.given = context;
    try {
      return begin();
    } finally {
      this.given = null;
    }
  }

  generateTraceId = (): string => this.given?.traceId ?? this.random.generateTraceId();

  generateSpanId = (): string => this.given?.spanId ?? this.random.generateSpanId();
}
