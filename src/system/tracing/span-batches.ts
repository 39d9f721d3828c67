import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../logger.js';
import type { Metrics } from '../metrics/metrics.js';

/** Spans that wait or are on the wire. */
const HELD_MAX = 4096;

const BATCHES = {
  maxQueueSize: HELD_MAX,
  maxExportBatchSize: 512,
  scheduledDelayMillis: 1000,
  // The exporter gives up long before.
  exportTimeoutMillis: 30_000,
};

/**
 * The SDK's batches, with every span's fate counted and a bound on those that are on the wire too: a collector that is
 * slow or gone costs spans, never a call's time and never memory.
 */
export class SpanBatches implements SpanProcessor {
  private readonly batches: BatchSpanProcessor;
  private readonly fates;
  private held = 0;
  private isTaken = true;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    this.fates = metrics.counter('countersign_spans_total', 'Spans that left for the collector or were dropped.', [
      'fate',
    ]);
    for (const fate of ['sent', 'dropped']) this.fates.inc({ fate }, 0);
    this.batches = new BatchSpanProcessor({ export: this.export.bind(this), shutdown: async () => undefined }, BATCHES);
  }

  onStart(): void {
    // What is sent is known when a span ends.
  }

  onEnd(span: ReadableSpan): void {
    if (this.held >= HELD_MAX) {
      this.fates.inc({ fate: 'dropped' });
      return;
    }
    this.held += 1;
    this.batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.batches.forceFlush();
  }

  /** Sends what waits, once, and takes nothing more. */
  async shutdown(): Promise<void> {
    // It rejects when a batch did not arrive, which is counted and logged already.
    await this.batches.shutdown().catch(() => undefined);
    await this.exporter.shutdown();
  }

  private export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      const hasArrived = result.code === ExportResultCode.SUCCESS;
      this.held -= spans.length;
      this.fates.inc({ fate: hasArrived ? 'sent' : 'dropped' }, spans.length);
      if (!hasArrived && this.isTaken) this.logger.warn('the trace collector does not take spans');
      if (hasArrived && !this.isTaken) this.logger.info('the trace collector takes spans again');
      this.isTaken = hasArrived;
      done(result);
    });
  }
}
