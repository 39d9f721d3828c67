import { describe, expect, it } from '@jest/globals';
import { sendInChains } from './partition-chains.js';
import type { Delivery, Outcome } from './sink.js';

const OK: Outcome = { kind: 'delivered' };
const REFUSED: Outcome = { kind: 'refused', reason: 'http_400', retryAfterMs: null };
const UNAVAILABLE: Outcome = { kind: 'unavailable', reason: 'timeout', retryAfterMs: null };

const batchOf = (...partitions: readonly string[]): Delivery[] =>
  partitions.map((partition, position) => ({
    position,
    partition,
    eventId: `evt_${position}`,
    recordedAt: '',
    body: '',
  }));

class Sender {
  readonly sent: number[] = [];
  readonly stop = new AbortController();
  most = 0;
  private open = 0;

  constructor(private readonly answer: (delivery: Delivery) => Outcome = () => OK) {}

  async run(batch: readonly Delivery[], concurrency = 1): Promise<[number, string][]> {
    const send = async (delivery: Delivery): Promise<Outcome> => {
      this.open += 1;
      this.most = Math.max(this.most, this.open);
      this.sent.push(delivery.position);
      await new Promise((resolve) => setImmediate(resolve));
      this.open -= 1;
      return this.answer(delivery);
    };
    const outcomes = await sendInChains(batch, { concurrency, send, stopping: this.stop.signal });
    return outcomes.map(({ delivery, outcome }) => [delivery.position, outcome.kind]);
  }
}

describe('deliveries in chains', () => {
  it('sends those of one partition one after the other, and so many partitions at a time', async () => {
    const sender = new Sender();
    await sender.run(batchOf('a', 'a', 'b', 'c', 'a', 'd'), 3);
    expect(sender.most).toBe(3);
    expect(sender.sent.filter((position) => [0, 1, 4].includes(position))).toEqual([0, 1, 4]);
    const alone = new Sender();
    await alone.run(batchOf('a', 'a', 'a'), 8);
    expect(alone.most).toBe(1);
  });

  it('ends a chain with the first that fails, and goes on with the others', async () => {
    const sender = new Sender(({ position }) => (position === 0 ? REFUSED : OK));
    expect(await sender.run(batchOf('a', 'b', 'a', 'c'))).toEqual([
      [0, 'refused'],
      [1, 'delivered'],
      [3, 'delivered'],
      [2, 'not_tried'],
    ]);
  });

  it('gives up after five failures in a row while nothing was taken', async () => {
    const sender = new Sender(() => REFUSED);
    const outcomes = await sender.run(batchOf(...'abcdefghij'.split('')));
    expect(sender.sent).toEqual([0, 1, 2, 3, 4]);
    expect(outcomes).toHaveLength(10);
  });

  it('does not give up for refusals once something was taken, but for silence it does', async () => {
    const refusing = new Sender(({ position }) => (position === 0 ? OK : REFUSED));
    await refusing.run(batchOf(...'abcdefghij'.split('')));
    expect(refusing.sent).toHaveLength(10);
    const silent = new Sender(({ position }) => (position === 0 ? OK : UNAVAILABLE));
    await silent.run(batchOf(...'abcdefghij'.split('')));
    expect(silent.sent).toHaveLength(6);
  });

  it('begins nothing more once the process is stopping', async () => {
    const sender: Sender = new Sender(({ position }) => {
      if (position === 1) sender.stop.abort();
      return OK;
    });
    expect(await sender.run(batchOf(...'abcd'.split('')))).toEqual([
      [0, 'delivered'],
      [1, 'delivered'],
      [2, 'not_tried'],
      [3, 'not_tried'],
    ]);
  });
});
