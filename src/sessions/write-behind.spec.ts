import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ManualTimers } from '../../test/builders/manual-timers.js';
import type { SessionRow } from '../domain/session/session-row.js';
import { WriteBehind, type WriteBehindStatus } from './write-behind.js';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const row = (seq: number): SessionRow => ({ kind: 'event', seq, eventId: `e${seq}` }) as unknown as SessionRow;

/** A machine over a medium that answers when it is told to. */
class Bench {
  readonly timers = new ManualTimers();
  readonly batches: number[][] = [];
  readonly barriers: boolean[] = [];
  readonly failures: unknown[] = [];
  readonly durable: number[] = [];
  private answers: { succeed: () => void; fail: (error: Error) => void }[] = [];
  private nextSeq = 0;
  readonly writes = new WriteBehind(
    {
      after: this.timers.after,
      write: (rows, barrier) => {
        this.batches.push(rows.map(({ seq }) => seq));
        this.barriers.push(barrier);
        return new Promise((resolve, reject) => {
          const revision = `r${this.batches.length}`;
          this.answers.push({ succeed: () => resolve({ revision }), fail: reject });
        });
      },
      onFailure: (error) => this.failures.push(error),
      onDurable: (seq) => this.durable.push(seq),
    },
    { delayMs: 200, eventsMax: 10, bytesMax: 1000 },
    { durableSeq: -1, barrierSeq: -1, revision: null },
  );

  add(count = 1, bytes = 1): void {
    this.writes.enqueue(
      Array.from({ length: count }, () => row(this.nextSeq++)),
      bytes,
    );
  }

  get isWriting(): boolean {
    return this.answers.length > 0;
  }

  async succeed(): Promise<void> {
    this.answers.shift()?.succeed();
    await settled();
  }

  async fail(error = new Error('disk')): Promise<void> {
    this.answers.shift()?.fail(error);
    await settled();
  }

  get at(): WriteBehindStatus['state'] {
    return this.writes.status().state;
  }
}

type Step = 'add' | 'time' | 'ok' | 'bad' | 'flush' | 'close';

async function take(bench: Bench, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (step === 'add') bench.add();
    if (step === 'time') bench.timers.advance(200);
    if (step === 'ok') await bench.succeed();
    if (step === 'bad') await bench.fail();
    if (step === 'flush') bench.writes.flush().catch(() => {});
    if (step === 'close') bench.writes.closeAdmission();
    await settled();
  }
}

interface Expected {
  readonly state: WriteBehindStatus['state'];
  readonly batches: readonly (readonly number[])[];
  readonly pending: number;
  readonly timer: boolean;
}

/** The rows W1 to W18 of the machine: how one gets there, and what is true then. */
const ROWS: readonly (readonly [string, readonly Step[], Expected])[] = [
  ['W1', ['add'], { state: 'waiting', batches: [], pending: 1, timer: true }],
  ['W2', ['add', 'add'], { state: 'waiting', batches: [], pending: 2, timer: true }],
  ['W3', ['add', 'add', 'time'], { state: 'active', batches: [[0, 1]], pending: 0, timer: false }],
  ['W4', ['add', 'time', 'add'], { state: 'active', batches: [[0]], pending: 1, timer: true }],
  ['W5', ['add', 'time', 'add', 'time'], { state: 'active', batches: [[0]], pending: 1, timer: false }],
  ['W6', ['add', 'time', 'ok'], { state: 'idle', batches: [[0]], pending: 0, timer: false }],
  ['W7', ['add', 'time', 'add', 'time', 'ok'], { state: 'active', batches: [[0], [1]], pending: 0, timer: false }],
  ['W8', ['add', 'time', 'add', 'ok'], { state: 'waiting', batches: [[0]], pending: 1, timer: true }],
  ['W9', ['add', 'time', 'add', 'bad'], { state: 'paused', batches: [[0]], pending: 2, timer: false }],
  ['W10', ['add', 'time', 'bad', 'add', 'time'], { state: 'paused', batches: [[0]], pending: 2, timer: false }],
  ['W11', ['flush'], { state: 'idle', batches: [], pending: 0, timer: false }],
  ['W12 waiting', ['add', 'flush'], { state: 'barrier', batches: [[0]], pending: 0, timer: false }],
  ['W12 paused', ['add', 'time', 'bad', 'flush'], { state: 'barrier', batches: [[0], [0]], pending: 0, timer: false }],
  ['W13', ['add', 'time', 'add', 'flush'], { state: 'barrier', batches: [[0]], pending: 1, timer: false }],
  [
    'W13 then failure',
    ['add', 'time', 'add', 'flush', 'bad'],
    { state: 'barrier', batches: [[0], [0, 1]], pending: 0, timer: false },
  ],
  ['W15', ['add', 'flush', 'add', 'time'], { state: 'barrier', batches: [[0]], pending: 1, timer: false }],
  ['W16', ['add', 'flush', 'add', 'ok'], { state: 'barrier', batches: [[0], [1]], pending: 0, timer: false }],
  ['W17', ['add', 'flush', 'ok'], { state: 'idle', batches: [[0]], pending: 0, timer: false }],
  ['W18', ['add', 'flush', 'add', 'bad'], { state: 'paused', batches: [[0]], pending: 2, timer: false }],
];

describe('write-behind', () => {
  it.each(ROWS)('does what row %s says [D-50]', async (_, steps, expected) => {
    const bench = new Bench();
    await take(bench, steps);
    const { state, pending, timerArmed: timer } = bench.writes.status();
    expect({ state, batches: bench.batches, pending, timer }).toEqual(expected);
  });

  it('writes nothing before the window ends, and everything of it at its end [D-25, D-26]', () => {
    const bench = new Bench();
    bench.add();
    bench.timers.advance(100);
    bench.add();
    bench.timers.advance(90);
    bench.add();
    bench.timers.advance(9);
    expect(bench.batches).toEqual([]);
    bench.timers.advance(1);
    expect(bench.batches).toEqual([[0, 1, 2]]);
  });

  it('keeps what comes later out of the batch that is being written [D-27]', async () => {
    const bench = new Bench();
    bench.add(3);
    bench.timers.advance(200);
    bench.add();
    await bench.succeed();
    bench.timers.advance(200);
    expect(bench.batches).toEqual([[0, 1, 2], [3]]);
  });

  it('keeps a failed batch in front, tries nothing by itself and says so once [D-28, D-29]', async () => {
    const bench = new Bench();
    await take(bench, ['add', 'time', 'add', 'bad']);
    bench.timers.advance(100_000);
    expect([bench.batches.length, bench.failures.length]).toEqual([1, 1]);
    expect(bench.writes.status()).toMatchObject({
      automaticPaused: true,
      lastError: new Error('disk'),
      durableSeq: -1,
    });
    const flushed = bench.writes.flush();
    await bench.succeed();
    expect(await flushed).toBe(1);
    expect(bench.batches[1]).toEqual([0, 1]);
    expect(bench.writes.status()).toMatchObject({ automaticPaused: false, lastError: null, durableSeq: 1 });
  });

  it('shares one barrier between all who flush (W14) [D-42]', async () => {
    const bench = new Bench();
    bench.add();
    const flushes = [bench.writes.flush(), bench.writes.flush(), bench.writes.flush()];
    expect(new Set(flushes).size).toBe(1);
    await bench.succeed();
    expect(await Promise.all(flushes)).toEqual([0, 0, 0]);
    expect(bench.batches).toHaveLength(1);
  });

  it('waits for the write under way and for what comes meanwhile [D-43]', async () => {
    const bench = new Bench();
    await take(bench, ['add', 'time', 'add']);
    let isDone = false;
    void bench.writes.flush().then(() => (isDone = true));
    await bench.succeed();
    bench.add();
    await bench.succeed();
    expect([isDone, bench.batches]).toEqual([false, [[0], [1], [2]]]);
    await bench.succeed();
    expect(isDone).toBe(true);
  });

  it('opens a new window for what is appended as soon as a flush has resolved [D-44]', async () => {
    const bench = new Bench();
    bench.add();
    const appended = bench.writes.flush().then(() => bench.add());
    await bench.succeed();
    await appended;
    expect(bench.writes.status()).toMatchObject({ state: 'waiting', timerArmed: true });
    bench.timers.advance(200);
    expect(bench.batches).toEqual([[0], [1]]);
  });

  it('rejects all who share a flush that fails, and keeps everything for the next [D-45]', async () => {
    const bench = new Bench();
    bench.add();
    const flushes = Promise.allSettled([bench.writes.flush(), bench.writes.flush()]);
    const error = new Error('full');
    await bench.fail(error);
    expect(await flushes).toEqual([
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
    ]);
    const again = bench.writes.flush();
    await bench.succeed();
    expect(await again).toBe(0);
  });

  it('arms no timer behind a barrier [D-51]', () => {
    const bench = new Bench();
    bench.add();
    void bench.writes.flush();
    bench.add();
    expect(bench.timers.armed).toBe(0);
  });

  it('promises with a flush what was written without one, even if nothing waits [U-08]', async () => {
    const bench = new Bench();
    await take(bench, ['add', 'time', 'ok', 'flush']);
    expect([bench.batches, bench.barriers]).toEqual([
      [[0], []],
      [false, true],
    ]);
    await bench.succeed();
    expect(bench.writes.status()).toMatchObject({ durableSeq: 0, barrierSeq: 0, state: 'idle' });
    await bench.writes.flush();
    expect(bench.batches).toHaveLength(2);
  });

  it('takes nothing once admission is closed, writes what it has, and is closed (W19, W20) [D-46]', async () => {
    const bench = new Bench();
    bench.add();
    bench.writes.closeAdmission();
    expect(() => bench.add()).toThrow(expect.objectContaining({ code: 'persistence_closed' }));
    const drained = bench.writes.drain();
    await bench.fail();
    await expect(drained).rejects.toThrow('disk');
    expect(bench.at).toBe('paused');
    const again = bench.writes.drain();
    await bench.succeed();
    await again;
    expect(bench.at).toBe('closed');
  });

  it('counts what waits and what is under way against its marks [D-08]', () => {
    const bench = new Bench();
    bench.add(6, 10);
    bench.timers.advance(200);
    bench.add(4, 10);
    expect([bench.writes.isSaturated(0, 0), bench.writes.isSaturated(1, 0), bench.writes.isSaturated(0, 981)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('lets go of everything when it is told to, a flush that waits included', async () => {
    const bench = new Bench();
    await take(bench, ['add', 'time', 'add']);
    const flushed = bench.writes.flush();
    bench.writes.discard();
    await bench.succeed();
    bench.timers.advance(200);
    expect([await flushed, bench.batches, bench.at]).toEqual([0, [[0]], 'closed']);
  });

  it('shows one event on its way: pending, active, durable [D-80]', async () => {
    const bench = new Bench();
    bench.add();
    expect(bench.writes.status()).toMatchObject({ pending: 1, active: 0, durableSeq: -1, revision: null });
    bench.timers.advance(200);
    expect(bench.writes.status()).toMatchObject({ pending: 0, active: 1, durableSeq: -1 });
    await bench.succeed();
    expect(bench.writes.status()).toMatchObject({
      pending: 0,
      active: 0,
      durableSeq: 0,
      barrierSeq: -1,
      revision: 'r1',
    });
    expect(bench.durable).toEqual([0]);
  });
});

/** The machine as §8 tells it, without promises and timers: what must be true after each input. */
class Reference {
  pending: number[] = [];
  active: number[] | null = null;
  timer = false;
  expired = false;
  paused = false;
  barrier = false;
  /** The active write was begun behind the barrier. */
  own = false;
  durable = -1;
  promised = -1;
  next = 0;

  add(count: number): void {
    const wasEmpty = this.pending.length === 0;
    for (let n = 0; n < count; n += 1) this.pending.push(this.next++);
    if (!wasEmpty || this.paused || this.barrier) return;
    this.timer = true;
    this.expired = false;
  }

  time(): void {
    if (!this.timer) return;
    this.timer = false;
    if (this.active === null) this.begin();
    else this.expired = true;
  }

  flush(): void {
    if (this.barrier || (this.active === null && this.pending.length === 0 && this.durable <= this.promised)) return;
    this.timer = false;
    this.barrier = true;
    if (this.active === null) this.begin();
  }

  succeed(): void {
    if (this.active === null) return;
    this.durable = this.active.at(-1) ?? this.durable;
    if (this.own) this.promised = this.durable;
    const { own } = this;
    this.active = null;
    if (this.barrier && (!own || this.pending.length > 0)) this.begin();
    else if (this.barrier) Object.assign(this, { barrier: false, paused: false });
    else if (this.pending.length > 0 && this.expired) this.begin();
  }

  fail(): void {
    if (this.active === null) return;
    const { own } = this;
    this.pending = this.active.concat(this.pending);
    this.active = null;
    this.timer = false;
    this.paused = true;
    if (this.barrier && !own) this.begin();
    else this.barrier = false;
  }

  private begin(): void {
    this.active = this.pending;
    this.pending = [];
    this.expired = false;
    this.own = this.barrier;
  }
}

const input = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({
    kind: fc.constantFrom('time' as const, 'succeed' as const, 'fail' as const, 'flush' as const),
    count: fc.constant(0),
  }),
);

describe('write-behind against its model', () => {
  it('is in the same state after any sequence of inputs, in order, and never splits a group [D-50, P-36]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(input, { maxLength: 25 }), async (inputs) => {
        const bench = new Bench();
        const model = new Reference();
        const groups: number[][] = [];
        for (const { kind, count } of inputs) {
          if (kind === 'add') groups.push(Array.from({ length: count }, (_, at) => model.next + at));
          if (kind === 'add') bench.add(count);
          if (kind === 'time') bench.timers.advance(200);
          if (kind === 'flush') bench.writes.flush().catch(() => {});
          if (kind === 'succeed') void bench.succeed();
          if (kind === 'fail') void bench.fail();
          model[kind](count);
          for (let job = 0; job < 12; job += 1) await Promise.resolve();
          const { pending, active, timerArmed, automaticPaused, barrier, durableSeq, barrierSeq } =
            bench.writes.status();
          expect({ pending, active, timerArmed, automaticPaused, barrier, durableSeq, barrierSeq }).toEqual({
            pending: model.pending.length,
            active: model.active?.length ?? 0,
            timerArmed: model.timer,
            automaticPaused: model.paused,
            barrier: model.barrier,
            durableSeq: model.durable,
            barrierSeq: model.promised,
          });
          if (model.active !== null) expect(bench.batches.at(-1)).toEqual(model.active);
        }
        for (const batch of bench.batches) {
          for (const group of groups)
            expect([0, group.length]).toContain(group.filter((seq) => batch.includes(seq)).length);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
