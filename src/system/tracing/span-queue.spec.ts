import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SilentLogger } from '../logger.js';
import { Metrics } from '../metrics/metrics.js';
import { SpanSender, type Span } from './span.js';
import { SpanQueue } from './span-queue.js';

const SPAN: Span = {
  context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true },
  parentSpanId: null,
  name: 'work',
  kind: 'internal',
  startMs: 1,
  endMs: 2,
  attributes: {},
  isError: false,
  links: [],
};

class ScriptedSender extends SpanSender {
  readonly batches: number[] = [];
  answer: () => Promise<boolean> = () => Promise.resolve(true);

  override send(spans: readonly Span[]): Promise<boolean> {
    this.batches.push(spans.length);
    return this.answer();
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
    const [sender, log, metrics] = [new ScriptedSender(), new KeptLog(), new Metrics()];
    const queue = new SpanQueue(sender, log, metrics);
    return {
      sender,
      log,
      metrics,
      queue,
      add: (count: number) => {
        for (let n = 0; n < count; n += 1) queue.add(SPAN);
      },
    };
  }

  it('leave in batches, a second after the first', async () => {
    const { sender, add } = opened();
    add(1100);
    expect(sender.batches).toEqual([]);
    await jest.advanceTimersByTimeAsync(1001);
    expect(sender.batches).toEqual([512, 512]);
    await jest.advanceTimersByTimeAsync(1000);
    expect(sender.batches).toEqual([512, 512, 76]);
  });

  it('are dropped beyond a bound while the collector does not answer, with one batch on the wire', async () => {
    const { sender, metrics, add } = opened();
    sender.answer = () => new Promise(() => undefined);
    add(1);
    await jest.advanceTimersByTimeAsync(1000);
    add(100_000);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(sender.batches).toEqual([1]);
    expect(await metrics.text()).toContain(`countersign_spans_total{fate="dropped"} ${100_000 - 4096}`);
  });

  it('wait longer and longer after failures, of which the first is logged', async () => {
    const { sender, log, add } = opened();
    sender.answer = () => Promise.resolve(false);
    add(4096);
    await jest.advanceTimersByTimeAsync(1000 + 2000 + 4000);
    expect(sender.batches).toHaveLength(3);
    sender.answer = () => Promise.resolve(true);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(sender.batches.length).toBeGreaterThan(6);
    expect(log.lines).toEqual(['the trace collector does not take spans', 'the trace collector takes spans again']);
  });

  it('are sent when the process stops, and none is taken after that', async () => {
    const { sender, queue, add } = opened();
    add(600);
    await queue.close();
    add(5);
    await jest.advanceTimersByTimeAsync(5000);
    expect(sender.batches).toEqual([512, 88]);
  });
});
