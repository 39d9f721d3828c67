import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { EventStreamWriter, type StreamLimits, type StreamTimers, type StreamedEvent } from './event-stream.js';

const LIMITS: StreamLimits = {
  heartbeatMs: 15_000,
  bufferedBytesMax: 1000,
  drainWithinMs: 5000,
  lifetimeMs: 900_000,
  lastWordsMs: 2000,
};

/** Timers that go off when the test says so. */
class HandTimers implements StreamTimers {
  readonly set = new Map<() => void, { readonly ms: number; readonly again: boolean }>();

  after(ms: number, run: () => void): () => void {
    return this.add(ms, run, false);
  }

  every(ms: number, run: () => void): () => void {
    return this.add(ms, run, true);
  }

  get lengths(): readonly number[] {
    return [...this.set.values()].map(({ ms }) => ms).toSorted((a, b) => a - b);
  }

  /** Lets every timer of this length go off. */
  fire(ms: number): void {
    for (const [run, timer] of this.set) {
      if (timer.ms !== ms) continue;
      if (!timer.again) this.set.delete(run);
      run();
    }
  }

  private add(ms: number, run: () => void, again: boolean): () => void {
    const entry = (): void => run();
    this.set.set(entry, { ms, again });
    return () => void this.set.delete(entry);
  }
}

/** A response whose reader takes nothing until it is told to. */
class FakeResponse extends EventEmitter {
  readonly written: string[] = [];
  status = 0;
  headers: Readonly<Record<string, string>> = {};
  destroyed = false;
  ended = false;
  writableLength = 0;
  largest = 0;

  get writableNeedDrain(): boolean {
    return this.writableLength > 100;
  }

  writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.status = status;
    this.headers = headers;
  }

  write(text: string): boolean {
    this.written.push(text);
    this.writableLength += text.length;
    this.largest = Math.max(this.largest, this.writableLength);
    return !this.writableNeedDrain;
  }

  end(text: string): void {
    this.write(text);
    this.ended = true;
  }

  drain(): void {
    this.writableLength = 0;
    this.emit('drain');
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

let response: FakeResponse;
let timers: HandTimers;
let writer: EventStreamWriter;

beforeEach(() => {
  response = new FakeResponse();
  timers = new HandTimers();
  writer = new EventStreamWriter(response as unknown as FastifyReply['raw'], LIMITS, timers);
});

const eventAt = (position: number, size = 10): StreamedEvent => ({
  position,
  eventType: 'run.started',
  json: JSON.stringify({ text: 'x'.repeat(size) }),
});

/** Batches as they are given, then nothing until it is stopped. */
function waiting(...batches: readonly (readonly StreamedEvent[])[]) {
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  let taken = 0;
  let closed = false;
  async function* run(): AsyncGenerator<readonly StreamedEvent[], void> {
    try {
      for (const batch of batches) {
        taken += 1;
        yield batch;
      }
      await stopped;
    } finally {
      closed = true;
    }
  }
  return { batches: run(), stop, taken: () => taken, isClosed: () => closed };
}

async function settled(): Promise<void> {
  for (let n = 0; n < 10; n += 1) await turn();
}

describe('a stream of server-sent events', () => {
  it('has an id, a type and one line of data for each event', async () => {
    const source = waiting([eventAt(7), eventAt(8)]);
    const running = writer.run(source.batches, source.stop);
    await settled();
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8', connection: 'close' });
    expect(response.written.slice(1)).toEqual([
      `id: 7\nevent: run.started\ndata: ${eventAt(7).json}\n\n`,
      `id: 8\nevent: run.started\ndata: ${eventAt(8).json}\n\n`,
    ]);
    source.stop();
    await running;
  });

  it('says every 15 seconds that it lives, and not while events are waiting', async () => {
    const source = waiting();
    const running = writer.run(source.batches, source.stop);
    await settled();
    timers.fire(15_000);
    timers.fire(15_000);
    expect(response.written.slice(1)).toEqual([': heartbeat\n\n', ': heartbeat\n\n']);
    response.writableLength = 500;
    timers.fire(15_000);
    expect(response.written).toHaveLength(3);
    source.stop();
    await running;
    expect(timers.lengths).toEqual([LIMITS.lastWordsMs]);
  });

  it('waits for a reader that takes its time, and holds no more than the bound and one event', async () => {
    const source = waiting(...Array.from({ length: 30 }, (_, n) => [eventAt(n, 300)]));
    const running = writer.run(source.batches, source.stop);
    for (let n = 0; n < 30; n += 1) {
      await settled();
      response.drain();
    }
    expect(source.taken()).toBe(30);
    expect(response.largest).toBeLessThan(LIMITS.bufferedBytesMax + 400);
    expect(response.written.filter((text) => text.startsWith('id: '))).toHaveLength(30);
    source.stop();
    await running;
  });

  it('is cut after a last comment when its reader takes nothing', async () => {
    const source = waiting(...Array.from({ length: 30 }, (_, n) => [eventAt(n, 300)]));
    const running = writer.run(source.batches, source.stop);
    await settled();
    expect(source.taken()).toBeLessThan(6);
    expect(response.ended).toBe(false);
    timers.fire(LIMITS.drainWithinMs);
    await running;
    expect(response.written.at(-1)).toBe(': the reader is too slow; go on with Last-Event-ID\n\n');
    expect(response.ended).toBe(true);
    expect(source.isClosed()).toBe(true);
    expect(response.destroyed).toBe(false);
    timers.fire(LIMITS.lastWordsMs);
    expect(response.destroyed).toBe(true);
    expect(timers.set.size).toBe(0);
  });

  it('stops its source when the reader goes, while it waits for it and while it waits for events', async () => {
    for (const batches of [[], [[eventAt(0, 2000)], [eventAt(1)]]]) {
      response = new FakeResponse();
      writer = new EventStreamWriter(response as unknown as FastifyReply['raw'], LIMITS, timers);
      const source = waiting(...batches);
      const running = writer.run(source.batches, source.stop);
      await settled();
      response.destroy();
      await running;
      expect(source.isClosed()).toBe(true);
      expect(response.ended).toBe(false);
      expect(timers.set.size).toBe(0);
    }
  });

  it('ends after its lifetime, so that its reader has to show a token again', async () => {
    const source = waiting([eventAt(1)]);
    const running = writer.run(source.batches, source.stop);
    await settled();
    timers.fire(LIMITS.lifetimeMs);
    await running;
    expect(response.written.at(-1)).toBe(': the stream is over; go on with Last-Event-ID\n\n');
    expect(response.ended).toBe(true);
  });

  it('ends when its source fails, says so without saying why, and passes the failure on', async () => {
    async function* failing(): AsyncGenerator<readonly StreamedEvent[], void> {
      yield [eventAt(1)];
      throw new Error('a secret reason');
    }
    await expect(writer.run(failing(), () => {})).rejects.toThrow('a secret reason');
    expect(response.written.at(-1)).toBe(': the stream failed; go on with Last-Event-ID\n\n');
    expect(response.ended).toBe(true);
  });
});
