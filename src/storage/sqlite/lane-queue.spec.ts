import { beforeEach, describe, expect, it } from '@jest/globals';
import { Feed } from '../feed.js';
import type { Committed, Lane, Unit } from '../unit.js';
import { LaneQueue } from './lane-queue.js';
import type { UnitResult } from './unit-writer.js';
import { StoreBroken, StoreBusy, StoreTakenOver } from './write-failure.js';
import type { WriterPort } from './writer-port.js';

/** A writer whose batches wait until the test answers them. */
class HeldWriter implements WriterPort {
  readonly batches: Unit[][] = [];
  private answers: { resolve: (results: UnitResult[]) => void; reject: (error: Error) => void }[] = [];
  private head = 0;

  apply(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    this.batches.push([...units]);
    return new Promise((resolve, reject) => this.answers.push({ resolve, reject }));
  }

  own(): Promise<void> {
    return Promise.resolve();
  }

  /** What the disk says when it is looked at again. */
  recovery: () => Promise<number> = () => Promise.reject(new StoreBroken('the disk is full', {}, true));

  recover(): Promise<number> {
    return this.recovery();
  }

  checkpoint(): Promise<never> {
    return Promise.reject(new Error('nobody asked for it'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Answers the oldest batch: every unit is committed, except those that the test has something else to say of. */
  async answer(others: Readonly<Record<string, UnitResult>> = {}): Promise<void> {
    const batch = this.batches[this.batches.length - this.answers.length] ?? [];
    this.answers.shift()?.resolve(batch.map((unit) => others[unit.unitId] ?? this.committed(unit)));
    await turn();
  }

  async fail(error: Error): Promise<void> {
    this.answers.shift()?.reject(error);
    await turn();
  }

  get names(): string[][] {
    return this.batches.map((batch) => batch.map(({ unitId }) => unitId));
  }

  private committed(unit: Unit): UnitResult {
    const committed = { unitId: unit.unitId, firstPosition: this.head, eventCount: 1, recordedAt: 'now' };
    this.head += 1;
    return { outcome: 'committed', committed };
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const unit = (unitId: string, lane: Lane = 'admit'): Unit => ({
  unitId,
  tenant: 't',
  lane,
  guards: [],
  appends: [],
  writes: [],
  counters: [],
});

describe('the lanes of the writer', () => {
  let writer: HeldWriter;
  let feed: Feed;
  let queue: LaneQueue;
  const outcome = (committed: Promise<Committed>): Promise<string> =>
    committed.then(
      ({ unitId }) => `committed ${unitId}`,
      (error: Error & { code?: string; guard?: string }) => error.code ?? error.guard ?? error.message,
    );
  const commitAll = (...units: Unit[]): Promise<string[]> =>
    Promise.all(units.map((one) => outcome(queue.commit(one))));

  beforeEach(() => {
    writer = new HeldWriter();
    feed = new Feed(0, () => undefined);
    queue = new LaneQueue(writer, feed, { queueMax: 3, unitsPerFlushMax: 4 });
  });

  it('send what arrives together as one batch, and what arrives meanwhile as the next', async () => {
    const first = commitAll(unit('a'), unit('b'));
    await turn();
    const second = commitAll(unit('c'), unit('d'));
    await turn();
    expect(writer.names).toEqual([['a', 'b']]);
    await writer.answer();
    expect(writer.names).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    await writer.answer();
    expect([await first, await second].flat()).toEqual(['committed a', 'committed b', 'committed c', 'committed d']);
  });

  it('take settle before govern before admit, up to the size of a batch', async () => {
    const first = commitAll(unit('first'));
    await turn();
    const rest = commitAll(
      unit('a1'),
      unit('g1', 'govern'),
      unit('s1', 'settle'),
      unit('a2'),
      unit('g2', 'govern'),
      unit('s2', 'settle'),
      unit('s3', 'settle'),
    );
    await writer.answer();
    await writer.answer();
    await writer.answer();
    expect(writer.names).toEqual([['first'], ['s1', 's2', 's3', 'g1'], ['g2', 'a1', 'a2']]);
    await Promise.all([first, rest]);
  });

  it('refuse proposals beyond the limit and never what settles or governs', async () => {
    const outcomes = commitAll(
      ...['a1', 'a2', 'a3', 'a4'].map((name) => unit(name)),
      ...['g1', 'g2', 'g3', 'g4', 'g5'].map((name) => unit(name, 'govern')),
      ...['s1', 's2', 's3', 's4', 's5'].map((name) => unit(name, 'settle')),
    );
    expect(queue.length).toBe(13);
    await turn();
    for (let batch = 0; batch < 4; batch += 1) await writer.answer();
    expect(await outcomes).toEqual([
      ...['a1', 'a2', 'a3'].map((name) => `committed ${name}`),
      'overloaded',
      ...['g1', 'g2', 'g3', 'g4', 'g5', 's1', 's2', 's3', 's4', 's5'].map((name) => `committed ${name}`),
    ]);
    expect(queue.length).toBe(0);
  });

  it('answer a unit alone when its guard fails or it is impossible', async () => {
    const outcomes = commitAll(unit('a'), unit('b'), unit('c'));
    await turn();
    await writer.answer({
      a: { outcome: 'guard', guard: 'run_open' },
      b: { outcome: 'refused', message: 'no such type' },
    });
    expect(await outcomes).toEqual(['run_open', 'no such type', 'committed c']);
    expect(queue.failure).toBeNull();
  });

  it('publish to the feed before they answer', async () => {
    const order: string[] = [];
    feed.subscribe('order', ({ unit: { unitId } }) => order.push(`feed ${unitId}`));
    const answered = ['a', 'b'].map(async (name) => {
      await queue.commit(unit(name));
      order.push(`answer ${name}`);
    });
    await turn();
    await writer.answer();
    await Promise.all(answered);
    expect(order).toEqual(['feed a', 'feed b', 'answer a', 'answer b']);
  });

  it('answer a batch that met a lock with store_unavailable, and go on with the next', async () => {
    const first = commitAll(unit('a'));
    await turn();
    const second = commitAll(unit('b'));
    await writer.fail(new StoreBusy('locked'));
    await writer.answer();
    expect([await first, await second].flat()).toEqual(['store_unavailable', 'committed b']);
    expect(queue.failure).toBeNull();
  });

  it.each([new StoreBroken('the disk is full'), new Error('something else')])(
    'give up for good when the writer has failed: %s',
    async (error) => {
      const first = commitAll(unit('a'));
      await turn();
      const waiting = commitAll(unit('b'), unit('s', 'settle'));
      await writer.fail(error);
      expect([await first, await waiting].flat()).toEqual([
        'store_unavailable',
        'store_unavailable',
        'store_unavailable',
      ]);
      expect(await commitAll(unit('later', 'settle'))).toEqual(['store_unavailable']);
      expect(writer.batches).toHaveLength(1);
      expect(queue.failure).toContain(error.message);
    },
  );

  it('give up with a code of its own when another process has taken over, and say so once', async () => {
    let told = 0;
    queue.whenTakenOver(() => (told += 1));
    const first = commitAll(unit('a'));
    await turn();
    const waiting = commitAll(unit('s', 'settle'));
    await writer.fail(new StoreTakenOver());
    const all = [await first, await waiting, await commitAll(unit('later'))].flat();
    expect(all).toEqual(['instance_taken_over', 'instance_taken_over', 'instance_taken_over']);
    expect([told, writer.batches.length]).toEqual([1, 1]);
  });

  describe('when the disk was full', () => {
    const fillDisk = async (): Promise<void> => {
      const first = commitAll(unit('a'));
      await turn();
      await writer.fail(new StoreBroken('SQLITE_FULL', {}, true));
      expect(await first).toEqual(['store_unavailable']);
    };

    it('take new units once there is space, and try none again that was refused', async () => {
      await fillDisk();
      await queue.recover();
      expect(queue.failure).toContain('SQLITE_FULL');
      writer.recovery = () => Promise.resolve(feed.head());
      await queue.recover();
      expect(queue.failure).toBeNull();
      const second = commitAll(unit('b'));
      await turn();
      await writer.answer();
      expect(await second).toEqual(['committed b']);
      expect(writer.batches.map((batch) => batch.map(({ unitId }) => unitId))).toEqual([['a'], ['b']]);
    });

    it('say so when the disk fails in another way while it is looked at, which is final', async () => {
      await fillDisk();
      writer.recovery = () => Promise.reject(new StoreBroken('SQLITE_IOERR_WRITE'));
      await queue.recover();
      expect(queue.failure).toContain('SQLITE_IOERR_WRITE');
      expect(await commitAll(unit('b'))).toEqual(['store_unavailable']);
    });

    it('stay closed when the store holds what was refused', async () => {
      await fillDisk();
      writer.recovery = () => Promise.resolve(feed.head() + 1);
      await queue.recover();
      expect(queue.failure).toContain('restart');
      expect(await commitAll(unit('b'))).toEqual(['store_unavailable']);
    });
  });

  it('let what was accepted run dry when they close, and refuse what comes after', async () => {
    const accepted = commitAll(unit('a'), unit('b', 'govern'));
    let closed = false;
    const closing = queue.close().then(() => (closed = true));
    expect(await commitAll(unit('late', 'settle'))).toEqual(['shutting_down']);
    await turn();
    expect(closed).toBe(false);
    await writer.answer();
    await closing;
    expect(await accepted).toEqual(['committed a', 'committed b']);
  });
});
