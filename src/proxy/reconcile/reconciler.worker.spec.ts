import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Installation, TENANT } from '../../../test/builders/installation.js';
import { GuardFailed } from '../../storage/unit.js';
import { Reconciler } from './reconciler.worker.js';
import type { Reconciliation } from './reconciliation.js';

/** When the result of a call of the example is due to be looked at: its deadline and the quiet after it are over. */
const DUE = '2031-01-01T11:00:00.000Z';

interface Step {
  readonly id: string;
  readonly end: () => void;
  readonly fail: (error: unknown) => void;
}

/** A reconciler whose steps end when the test says so. */
class Bench {
  readonly installation = new Installation();
  readonly steps: Step[] = [];
  readonly reconciler: Reconciler;
  private calls = 0;

  constructor() {
    const { desk, settings, log } = this.installation;
    const reconciliation = {
      step: (tenant: string, id: string): Promise<void> => {
        expect(tenant).toBe(TENANT);
        return new Promise<void>((resolve, reject) => this.steps.push({ id, end: resolve, fail: reject }));
      },
    };
    this.reconciler = new Reconciler(desk, settings, log, reconciliation as unknown as Reconciliation);
  }

  get looked(): readonly string[] {
    return this.steps.map(({ id }) => id);
  }

  /** A call whose result is unknown. */
  async unknown(): Promise<string> {
    this.calls += 1;
    const id = await this.installation.propose({ arguments: { orderId: `o-${this.calls}`, amountMinor: 1 } });
    await this.installation.record(id, { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null });
    return id;
  }

  /** The look-up is over and the next is due at `nextAt`. */
  async ends(id: string, nextAt: string): Promise<void> {
    const work = this.installation.store.rows('work').find(({ tool_call_id }) => tool_call_id === id);
    if (work === undefined) throw new Error('no work');
    this.installation.store.seed('work', { ...work, next_at: nextAt });
    this.steps.findLast((step) => step.id === id)?.end();
    await settled();
  }

  async passes(ms: number): Promise<void> {
    this.installation.clock.advance(ms);
    await jest.advanceTimersByTimeAsync(ms);
    await settled();
  }
}

/** Everything that waits for nothing but promises has run. */
async function settled(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

let bench: Bench;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  bench = new Bench();
});

afterEach(async () => {
  for (const { end } of bench.steps) end();
  await bench.reconciler.stop();
  jest.useRealTimers();
});

describe('a pass over calls whose result is unknown', () => {
  it('takes one step for each that is due, side by side, and ends with them', async () => {
    const ids = [await bench.unknown(), await bench.unknown()];
    bench.installation.clock.moveTo(DUE);
    let over = false;
    const pass = bench.reconciler.tick().then(() => (over = true));
    await settled();
    expect(bench.looked).toEqual(ids);
    bench.steps[0]?.end();
    await settled();
    expect(over).toBe(false);
    bench.steps[1]?.end();
    await pass;
    expect(bench.looked).toEqual(ids);
  });

  it('leaves alone what is not due', async () => {
    await bench.unknown();
    await bench.reconciler.tick();
    expect(bench.looked).toEqual([]);
  });

  it('does not look twice at what is being looked at, and looks again afterwards', async () => {
    const id = await bench.unknown();
    bench.installation.clock.moveTo(DUE);
    const passes = [bench.reconciler.tick()];
    await settled();
    passes.push(bench.reconciler.tick());
    await settled();
    expect(bench.looked).toEqual([id]);
    bench.steps[0]?.end();
    await Promise.all(passes);
    const next = bench.reconciler.tick();
    await settled();
    expect(bench.looked).toEqual([id, id]);
    bench.steps[1]?.end();
    await next;
  });

  it('sees past what is being looked at to what else is due', async () => {
    const many = [await bench.unknown()];
    const [work] = bench.installation.store.rows('work');
    if (work === undefined) throw new Error('no work');
    for (let n = 1; n < 40; n += 1) {
      many.push(`call_${n}`);
      bench.installation.store.seed('work', { ...work, tool_call_id: `call_${n}` });
    }
    bench.installation.clock.moveTo(DUE);
    const passes = [bench.reconciler.tick()];
    await settled();
    expect(bench.looked).toEqual(many.slice(0, 32));
    passes.push(bench.reconciler.tick());
    await settled();
    expect(bench.looked).toEqual(many);
    for (const { end } of bench.steps) end();
    await Promise.all(passes);
  });

  it('is held up by none that fails', async () => {
    const ids = [await bench.unknown(), await bench.unknown()] as const;
    bench.installation.clock.moveTo(DUE);
    const pass = bench.reconciler.tick();
    await settled();
    bench.steps[0]?.fail(new TypeError('hunter2'));
    bench.steps[1]?.end();
    await pass;
    expect(bench.installation.log.lines).toEqual([
      expect.objectContaining({ level: 'error', fields: { toolCallId: ids[0], error: 'TypeError' } }),
    ]);
  });

  it('says nothing of a call that somebody else moved meanwhile', async () => {
    await bench.unknown();
    bench.installation.clock.moveTo(DUE);
    const pass = bench.reconciler.tick();
    await settled();
    bench.steps[0]?.fail(new GuardFailed('tool_call'));
    await pass;
    expect(bench.installation.log.lines).toEqual([]);
  });
});

describe('the reconciler by itself', () => {
  it('wakes when the first is due, neither before nor late', async () => {
    const id = await bench.unknown();
    const dueAt = bench.installation.store.rows('work')[0]?.next_at ?? '';
    // So that no multiple of the interval is the moment itself.
    bench.installation.clock.advance(300);
    bench.reconciler.start();
    await settled();
    const interval = bench.installation.settings.execution.sweepIntervalMs;
    while (bench.installation.clock.now() + interval < Date.parse(dueAt)) await bench.passes(interval);
    await bench.passes(Date.parse(dueAt) - bench.installation.clock.now() - 1);
    expect(bench.looked).toEqual([]);
    await bench.passes(1);
    expect(bench.looked).toEqual([id]);
  });

  it('hears of work that is due sooner than what it waits for', async () => {
    bench.reconciler.start();
    await settled();
    const id = await bench.unknown();
    const row = bench.installation.store.rows('work')[0];
    if (row === undefined) throw new Error('no work');
    const { store, desk } = bench.installation;
    const due = { ...row, next_at: desk.now() };
    const call = await bench.installation.call(id);
    const draft = desk.beginAbout(call.row, { lane: 'settle', causeKind: 'timer' });
    await desk.commit(draft.write({ op: 'put', table: 'work', row: due }));
    await settled();
    await bench.passes(1);
    expect(bench.looked).toEqual([id]);
    expect(store.rows('work')).toEqual([due]);
  });

  it('takes the next step when that is due', async () => {
    const id = await bench.unknown();
    bench.installation.clock.moveTo(DUE);
    bench.reconciler.start();
    await settled();
    await bench.passes(1);
    await bench.ends(id, new Date(bench.installation.clock.now() + 500).toISOString());
    await bench.passes(499);
    expect(bench.looked).toEqual([id]);
    await bench.passes(1);
    expect(bench.looked).toEqual([id, id]);
  });

  it('pauses after a failure, so that a store that is down is not asked all the time', async () => {
    const id = await bench.unknown();
    bench.installation.clock.moveTo(DUE);
    bench.reconciler.start();
    await settled();
    await bench.passes(1);
    bench.steps[0]?.fail(new Error('down'));
    await settled();
    await bench.passes(999);
    expect(bench.looked).toEqual([id]);
    await bench.passes(1);
    expect(bench.looked).toEqual([id, id]);
  });

  it('pauses no longer than it must once all is well again', async () => {
    const id = await bench.unknown();
    bench.installation.clock.moveTo(DUE);
    bench.reconciler.start();
    await settled();
    await bench.passes(1);
    bench.steps[0]?.fail(new Error('down'));
    await settled();
    await bench.passes(1_000);
    await bench.ends(id, new Date(bench.installation.clock.now() + 500).toISOString());
    await bench.passes(500);
    expect(bench.looked).toEqual([id, id, id]);
  });

  it('goes on after a pass that failed as a whole', async () => {
    const id = await bench.unknown();
    bench.installation.clock.moveTo(DUE);
    const due = jest.spyOn(bench.installation.store.read, 'dueWork').mockRejectedValueOnce(new Error('down'));
    bench.reconciler.start();
    await settled();
    await bench.passes(1);
    expect(bench.installation.log.lines).toHaveLength(1);
    await bench.passes(999);
    expect(due).toHaveBeenCalledTimes(1);
    await bench.passes(1);
    expect(bench.looked).toEqual([id]);
  });

  it('does not insist while a look-up takes long', async () => {
    const id = await bench.unknown();
    bench.installation.clock.moveTo(DUE);
    const due = jest.spyOn(bench.installation.store.read, 'dueWork');
    bench.reconciler.start();
    await settled();
    await bench.passes(1);
    expect(bench.looked).toEqual([id]);
    for (let n = 0; n < 100; n += 1) await bench.passes(10);
    expect(bench.looked).toEqual([id]);
    expect(due.mock.calls.length).toBeLessThanOrEqual(5);
  });

  it('ends its looking with what is under way, and begins nothing more', async () => {
    const id = await bench.unknown();
    bench.installation.clock.moveTo(DUE);
    bench.reconciler.start();
    await settled();
    await bench.passes(1);
    let stopped = false;
    const stopping = bench.reconciler.stop().then(() => (stopped = true));
    await settled();
    expect(stopped).toBe(false);
    bench.steps[0]?.end();
    await stopping;
    await bench.passes(60_000);
    expect(bench.looked).toEqual([id]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
