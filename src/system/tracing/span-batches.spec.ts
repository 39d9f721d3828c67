import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TraceFlags } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { SystemClock } from '../clock.js';
import { SilentLogger } from '../logger.js';
import { Metrics } from '../metrics/metrics.js';
import { SpanBatches } from './span-batches.js';
import { Tracing } from './tracing.js';

const PARENT = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: TraceFlags.SAMPLED };

class ScriptedExporter implements SpanExporter {
  readonly batches: number[] = [];
  isShut = false;
  answer: (done: (result: ExportResult) => void) => void = (done) => done({ code: ExportResultCode.SUCCESS });

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.batches.push(spans.length);
    this.answer(done);
  }

  async shutdown(): Promise<void> {
    this.isShut = true;
  }
}

class KeptLog extends SilentLogger {
  readonly lines: string[] = [];

  override warn(message?: string): void {
    this.lines.push(message ?? '');
  }

  override info(message?: string): void {
    this.lines.push(message ?? '');
  }
}

describe('spans on their way out', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function opened() {
    const [exporter, log, metrics] = [new ScriptedExporter(), new KeptLog(), new Metrics()];
    const batches = new SpanBatches(exporter, log, metrics);
    const tracing = new Tracing(batches, emptyResource(), new SystemClock(), 1);
    return {
      exporter,
      log,
      metrics,
      batches,
      add: (count: number) => {
        for (let n = 0; n < count; n += 1) tracing.recordBelow(PARENT, { name: 'work', startMs: 1, tookMs: 1 });
      },
    };
  }

  it('leave in batches, the last a second after its first', async () => {
    const { exporter, add } = opened();
    add(1100);
    await jest.advanceTimersByTimeAsync(10);
    expect(exporter.batches).toEqual([512, 512]);
    await jest.advanceTimersByTimeAsync(1001);
    expect(exporter.batches).toEqual([512, 512, 76]);
  });

  it('are dropped beyond a bound while the collector does not answer, with one batch on the wire', async () => {
    const { exporter, metrics, add } = opened();
    exporter.answer = () => undefined;
    add(1);
    await jest.advanceTimersByTimeAsync(1000);
    add(100_000);
    await jest.advanceTimersByTimeAsync(5000);
    expect(exporter.batches).toEqual([1]);
    expect(await metrics.text()).toContain(`countersign_spans_total{fate="dropped"} ${100_001 - 4096}`);
  });

  it('are counted when they do not arrive, of which the first time is logged', async () => {
    const { exporter, log, metrics, add } = opened();
    exporter.answer = (done) => done({ code: ExportResultCode.FAILED });
    for (const count of [3, 4]) {
      add(count);
      await jest.advanceTimersByTimeAsync(1001);
    }
    exporter.answer = (done) => done({ code: ExportResultCode.SUCCESS });
    add(5);
    await jest.advanceTimersByTimeAsync(1001);
    expect(exporter.batches).toEqual([3, 4, 5]);
    expect(log.lines).toEqual(['the trace collector does not take spans', 'the trace collector takes spans again']);
    const text = await metrics.text();
    for (const line of ['{fate="dropped"} 7', '{fate="sent"} 5'])
      expect(text).toContain(`countersign_spans_total${line}`);
  });

  it('never are more than the bound, however often batches fail', async () => {
    const { exporter, add } = opened();
    const waiting: (() => void)[] = [];
    let [onWire, most] = [0, 0];
    exporter.answer = (done) => {
      const count = exporter.batches.at(-1) ?? 0;
      onWire += count;
      most = Math.max(most, onWire);
      waiting.push(() => {
        onWire -= count;
        done({ code: ExportResultCode.FAILED });
      });
    };
    for (let round = 0; round < 30; round += 1) {
      add(5000);
      waiting.shift()?.();
      await jest.advanceTimersByTimeAsync(1);
    }
    expect(exporter.batches.length).toBeGreaterThan(20);
    expect(most).toBeLessThanOrEqual(4096);
  });

  it('are sent when the process stops, and none is taken after that', async () => {
    const { exporter, batches, add } = opened();
    add(500);
    await batches.shutdown();
    add(5);
    await jest.advanceTimersByTimeAsync(5000);
    expect(exporter.batches).toEqual([500]);
    expect(exporter.isShut).toBe(true);
  });

  it('do not keep the process from stopping when they do not arrive', async () => {
    const { exporter, batches, add } = opened();
    exporter.answer = (done) => done({ code: ExportResultCode.FAILED });
    add(500);
    await batches.shutdown();
    expect(exporter.isShut).toBe(true);
  });
});
