import { afterEach, describe, expect, it } from '@jest/globals';
import { Installation, proposalWith, refundCapability, TENANT } from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { RecordTampered } from '../../policy/case-file.js';
import type { Proposal } from '../../control/propose-tool-call/propose-tool-call.command.js';
import type { Attempt } from './attempt.js';
import { Dispatcher, type DispatchResult } from './dispatcher.js';
import { Executor } from './executor.worker.js';

/** An executor whose attempts end when the test says so. */
class Bench {
  readonly installation: Installation;
  readonly carried: string[] = [];
  readonly dispatched: string[] = [];
  readonly executor: Executor;
  /** Instead of the real dispatcher, once. */
  dispatchInstead: (() => Promise<DispatchResult>) | null = null;
  private readonly ends = new Map<string, () => void>();

  constructor(concurrency: number, capabilities = [refundCapability({ concurrency })]) {
    this.installation = new Installation({ capabilities, settings: settingsWith() });
    const { desk, gate, judge, rejudgement, log, leases } = this.installation;
    const real = new Dispatcher(desk, gate, judge, rejudgement, leases.authority);
    const dispatcher = {
      dispatch: (tenant: string, id: string): Promise<DispatchResult> => {
        this.dispatched.push(id);
        return this.dispatchInstead === null ? real.dispatch(tenant, id) : this.dispatchInstead();
      },
    };
    const attempt = {
      run: (_tenant: string, id: string): Promise<void> => {
        this.carried.push(id);
        return new Promise<void>((resolve) => this.ends.set(id, resolve));
      },
    };
    this.executor = new Executor(desk, gate, dispatcher as Dispatcher, attempt as unknown as Attempt, log);
  }

  async end(toolCallId: string): Promise<void> {
    this.ends.get(toolCallId)?.();
    await settled();
  }

  propose(n: number, more: Partial<Proposal> = {}): Promise<string> {
    return this.installation.propose(proposalOf(n, more));
  }
}

const proposalOf = (n: number, more: Partial<Proposal> = {}): Partial<Proposal> => ({
  ...proposalWith({ arguments: { orderId: `o-${n}`, amountMinor: 1 }, idempotencyKey: `key-${n}` }),
  ...more,
});

/** Everything that waits for nothing but promises has run. */
async function settled(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

let bench: Bench;

afterEach(async () => {
  for (const id of bench.carried) await bench.end(id);
  await bench.executor.stop(10);
});

describe('the executor', () => {
  it('carries what this process made durable, at once', async () => {
    bench = new Bench(4);
    bench.executor.start();
    const id = await bench.propose(1);
    expect(bench.carried).toEqual([id]);
    expect(bench.dispatched).toEqual([]);
    expect(bench.executor.isCarrying(id)).toBe(true);
    await bench.end(id);
    expect(bench.executor.isCarrying(id)).toBe(false);
    expect(bench.installation.slots.counts().inFlight).toBe(0);
  });

  it('never carries what another process dispatched', async () => {
    bench = new Bench(4);
    await bench.propose(1);
    const [unit] = bench.installation.store.units;
    if (unit === undefined) throw new Error('no unit');
    bench.executor.start();
    const appends = unit.appends.map((append) => ({
      ...append,
      events: append.events.map((event) =>
        event.type === 'tool.call.dispatching' ? { ...event, payload: { ...event.payload, owner: 'ins_2' } } : event,
      ),
    }));
    const committed = { unitId: unit.unitId, firstPosition: 0, eventCount: 5, recordedAt: '' };
    bench.installation.store.feed.publish({ unit: { ...unit, appends }, committed });
    await settled();
    expect(bench.carried).toEqual([]);
  });

  it('lets what is over wait in order of authorisation, and begins the next when a slot is free', async () => {
    bench = new Bench(1);
    bench.executor.start();
    const ids = [await bench.propose(1), await bench.propose(2), await bench.propose(3)] as const;
    await settled();
    expect(bench.carried).toEqual([ids[0]]);
    expect((await bench.installation.call(ids[1])).state.status).toBe('authorized');
    await bench.end(ids[0]);
    expect(bench.carried).toEqual([ids[0], ids[1]]);
    await bench.end(ids[1]);
    expect(bench.carried).toEqual([...ids]);
    await bench.end(ids[2]);
    expect(bench.installation.slots.counts().inFlight).toBe(0);
  });

  it('does not let one capability that is full hold up another', async () => {
    bench = new Bench(1, [refundCapability({ concurrency: 1 }), refundCapability({ name: 'payout.create' })]);
    bench.executor.start();
    await bench.propose(1);
    const held = await bench.propose(2);
    const other = await bench.propose(3, { capability: 'payout.create' });
    await settled();
    expect(bench.carried).toContain(other);
    expect(bench.carried).not.toContain(held);
  });

  it('carries one call once, however often it is put in line', async () => {
    bench = new Bench(4);
    const id = await bench.installation.authorized(proposalOf(1));
    bench.executor.start();
    const call = { tenant: TENANT, toolCallId: id, capability: 'refund.create' };
    for (let n = 0; n < 3; n += 1) {
      bench.executor.enqueue(call);
      bench.executor.pump();
    }
    await settled();
    bench.executor.enqueue(call);
    bench.executor.pump();
    await settled();
    expect(bench.carried).toEqual([id]);
    await bench.end(id);
    expect(bench.carried).toEqual([id]);
    expect(bench.installation.slots.counts().inFlight).toBe(0);
  });

  it.each(['held', 'closed'] as const)('gives the slot back where the dispatch is %s', async (result) => {
    bench = new Bench(1);
    const id = await bench.installation.authorized(proposalOf(1));
    bench.executor.start();
    bench.dispatchInstead = async () => result;
    bench.executor.enqueue({ tenant: TENANT, toolCallId: id, capability: 'refund.create' });
    bench.executor.pump();
    await settled();
    expect(bench.installation.slots.counts().inFlight).toBe(0);
    expect(bench.executor.isCarrying(id)).toBe(false);
    expect(bench.dispatched).toEqual([id]);
  });

  it.each([
    ['a tampered record', new RecordTampered('hunter2'), 'record of a call differs from what was agreed to'],
    ['a broken dispatch', new TypeError('hunter2'), 'dispatch failed'],
  ])('logs %s, sends nothing and goes on with the next', async (_, failure, message) => {
    bench = new Bench(1);
    const first = await bench.installation.authorized(proposalOf(1));
    const second = await bench.installation.authorized(proposalOf(2));
    bench.executor.start();
    bench.dispatchInstead = async () => {
      bench.dispatchInstead = null;
      throw failure;
    };
    for (const toolCallId of [first, second])
      bench.executor.enqueue({ tenant: TENANT, toolCallId, capability: 'refund.create' });
    bench.executor.pump();
    await settled();
    expect(bench.carried).toEqual([second]);
    expect(bench.installation.log.lines[0]).toMatchObject({ message, fields: { toolCallId: first } });
    expect(JSON.stringify(bench.installation.log.lines)).not.toContain('hunter2');
  });

  it('closes what is bound to a definition that is gone without waiting for a slot', async () => {
    bench = new Bench(1);
    bench.executor.start();
    await bench.propose(1);
    bench.executor.enqueue({ tenant: TENANT, toolCallId: 'call_x', capability: 'gone.capability' });
    bench.executor.pump();
    await settled();
    expect(bench.dispatched).toEqual(['call_x']);
  });

  it('begins nothing once it is stopping, and waits for what is on the wire', async () => {
    bench = new Bench(1);
    bench.executor.start();
    const [first, second] = [await bench.propose(1), await bench.propose(2)];
    let stopped = false;
    const stopping = bench.executor.stop(60_000).then(() => (stopped = true));
    await settled();
    expect(stopped).toBe(false);
    await bench.end(first);
    await stopping;
    expect(bench.carried).toEqual([first]);
    expect((await bench.installation.call(second)).state.status).toBe('authorized');
  });

  it('waits no longer than the grace', async () => {
    bench = new Bench(1);
    bench.executor.start();
    const id = await bench.propose(1);
    await bench.executor.stop(1);
    expect(bench.executor.isCarrying(id)).toBe(true);
  });
});
