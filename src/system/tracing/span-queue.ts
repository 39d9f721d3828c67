import { Logger } from '../logger.js';
import type { Count } from '../metrics/instruments.js';
import { Metrics } from '../metrics/metrics.js';
import type { Span, SpanSender } from './span.js';

const QUEUE_MAX = 4096;
const BATCH_MAX = 512;
const INTERVAL_MS = 1000;
const PAUSE_MS_MAX = 30_000;

/**
 * Spans on their way out. Bounded, with one batch on the wire at a time: a collector that is slow or gone costs spans,
 * never a call's time and never memory.
 */
export class SpanQueue {
  private readonly waiting: Span[] = [];
  private readonly sent: Count;
  private readonly dropped: Count;
  private timer: NodeJS.Timeout | null = null;
  private sending: Promise<void> | null = null;
  private failures = 0;
  private closed = false;

  constructor(
    private readonly sender: SpanSender,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    const spans = metrics.count('countersign_spans_total', 'Spans that left for the collector or were dropped.', [
      'fate',
    ]);
    this.sent = spans.with('sent');
    this.dropped = spans.with('dropped');
  }

  add(span: Span): void {
    if (this.closed || this.waiting.length >= QUEUE_MAX) {
      this.dropped.add();
      return;
    }
    this.waiting.push(span);
    this.schedule(INTERVAL_MS);
  }

  /** Sends what waits, once, and takes nothing more. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.sending;
    if (this.failures === 0) while (this.waiting.length > 0 && this.failures === 0) await this.sendBatch();
  }

  private schedule(ms: number): void {
    if (this.timer !== null || this.sending !== null || this.closed) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.sending = this.sendBatch().then(() => {
        this.sending = null;
        if (this.waiting.length > 0) this.schedule(this.pauseMs());
      });
    }, ms).unref();
  }

  private async sendBatch(): Promise<void> {
    const batch = this.waiting.splice(0, BATCH_MAX);
    const arrived = await this.sender.send(batch);
    (arrived ? this.sent : this.dropped).add(batch.length);
    if (!arrived && this.failures === 0) this.logger.warn('the trace collector does not take spans');
    if (arrived && this.failures > 0) this.logger.info('the trace collector takes spans again');
    this.failures = arrived ? 0 : this.failures + 1;
  }

  private pauseMs(): number {
    if (this.failures === 0) return this.waiting.length >= BATCH_MAX ? 0 : INTERVAL_MS;
    return Math.min(INTERVAL_MS * 2 ** this.failures, PAUSE_MS_MAX);
  }
}
