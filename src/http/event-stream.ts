import type { FastifyReply } from 'fastify';
import { after, every } from '../system/timers.js';

/** The response below the framework: a stream is written to it piece by piece. */
type RawResponse = FastifyReply['raw'];

export interface StreamedEvent {
  readonly position: number;
  readonly eventType: string;
  /** One line of JSON. */
  readonly json: string;
}

export interface StreamLimits {
  readonly heartbeatMs: number;
  /** What may wait for a reader, in bytes, before nothing more is written. */
  readonly bufferedBytesMax: number;
  /** How long a reader may take to read that. */
  readonly drainWithinMs: number;
  /** After this a reader must come again, with a token that is still good. */
  readonly lifetimeMs: number;
  /** How long the last words may take to leave. */
  readonly lastWordsMs: number;
}

export const STREAM_LIMITS: StreamLimits = {
  heartbeatMs: 15_000,
  bufferedBytesMax: 256 * 1024,
  drainWithinMs: 5000,
  lifetimeMs: 15 * 60_000,
  lastWordsMs: 2000,
};

/** Runs something after so many milliseconds, or each time they have passed; answers how to stop that. */
export interface StreamTimers {
  after(ms: number, run: () => void): () => void;
  every(ms: number, run: () => void): () => void;
}

const SYSTEM_TIMERS: StreamTimers = {
  after: (ms, run) => after(ms, run).cancel,
  every: (ms, run) => every(ms, run).cancel,
};

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Nothing follows a stream on its connection, and proxies must not hold events back.
  connection: 'close',
  'x-accel-buffering': 'no',
};

/**
 * Writes server-sent events (WHATWG HTML, section 9.2): `id` is the position, so a reader that comes again with
 * `Last-Event-ID` goes on where it was. Comments say that the stream lives and why it ends.
 *
 * A reader that does not take what was written is cut. What waits for it is at most the bound and one event.
 */
export class EventStreamWriter {
  constructor(
    private readonly response: RawResponse,
    private readonly limits: StreamLimits = STREAM_LIMITS,
    private readonly timers: StreamTimers = SYSTEM_TIMERS,
  ) {}

  /**
   * Writes batches until there are no more, the reader has gone or is cut. `stop` must make the batches end.
   *
   * @throws whatever the batches throw, after the stream has been ended
   */
  async run(batches: AsyncIterable<readonly StreamedEvent[]>, stop: () => void): Promise<void> {
    this.response.once('close', stop);
    // A connection that breaks is an end like any other, and `close` follows.
    this.response.on('error', stop);
    this.response.writeHead(200, HEADERS);
    this.response.write(': events\n\n');
    const stopTimers = [
      this.timers.every(this.limits.heartbeatMs, () => this.heartbeat()),
      this.timers.after(this.limits.lifetimeMs, stop),
    ];
    let reason = 'the stream is over';
    try {
      if (!(await this.writeAll(batches))) reason = 'the reader is too slow';
    } catch (error) {
      reason = 'the stream failed';
      throw error;
    } finally {
      for (const stopTimer of stopTimers) stopTimer();
      this.end(reason);
    }
  }

  /** False when the reader was too slow. */
  private async writeAll(batches: AsyncIterable<readonly StreamedEvent[]>): Promise<boolean> {
    for await (const batch of batches) {
      for (const { position, eventType, json } of batch) {
        if (this.response.destroyed) return true;
        this.response.write(`id: ${position}\nevent: ${eventType}\ndata: ${json}\n\n`);
        if (this.response.writableLength > this.limits.bufferedBytesMax && !(await this.drained())) return false;
      }
    }
    return true;
  }

  /** False when the time is over; a reader that has gone waits for nothing. */
  private drained(): Promise<boolean> {
    const { response } = this;
    return new Promise((resolve) => {
      const settle = (inTime: boolean): void => {
        stopTimer();
        response.off('drain', onDrained);
        response.off('close', onDrained);
        resolve(inTime);
      };
      const onDrained = (): void => settle(true);
      const stopTimer = this.timers.after(this.limits.drainWithinMs, () => settle(false));
      response.once('drain', onDrained);
      response.once('close', onDrained);
      if (response.destroyed) onDrained();
    });
  }

  /** Shows readers and everything between that the connection lives; pointless while events are waiting. */
  private heartbeat(): void {
    if (!this.response.writableNeedDrain) this.response.write(': heartbeat\n\n');
  }

  private end(reason: string): void {
    const { response } = this;
    if (response.destroyed) return;
    const stopTimer = this.timers.after(this.limits.lastWordsMs, () => response.destroy());
    response.once('close', stopTimer);
    response.end(`: ${reason}; go on with Last-Event-ID\n\n`);
  }
}
