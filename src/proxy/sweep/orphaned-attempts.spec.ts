import { describe, expect, it } from '@jest/globals';
import { Installation, refundCapability } from '../../../test/builders/installation.js';
import { READ } from '../../../test/contract/capabilities/manifest-examples.js';
import type { Capability } from '../../capabilities/manifest.js';
import type { Executor } from '../executor/executor.worker.js';
import { Patience } from './patience.js';
import { OrphanedAttempts } from './orphaned-attempts.js';

import { GO_ON } from '../../../test/builders/resume-examples.js';

/** The tool announces that it goes on, and can be asked. */
const POLLED = { lateResult: 'poll', pending: { status: [202], referenceAt: '/ref' } };

const DEADLINE = '2031-01-01T10:00:30.000Z';

class Bench {
  readonly installation: Installation;
  readonly carrying = new Set<string>();
  readonly sweep: OrphanedAttempts;
  private orders = 0;

  constructor(capability: Capability = refundCapability({ timeout: '30s' })) {
    this.installation = new Installation({ capabilities: [capability] });
    const { desk, recorder, log } = this.installation;
    const executor = { isCarrying: (id: string) => this.carrying.has(id) };
    const patience = new Patience(this.installation.gate, GO_ON);
    this.sweep = new OrphanedAttempts(desk, executor as unknown as Executor, recorder, log, patience);
  }

  propose(): Promise<string> {
    this.orders += 1;
    return this.installation.propose({ arguments: { orderId: `o-${this.orders}`, amountMinor: 1 } });
  }

  async accepted(): Promise<string> {
    const id = await this.propose();
    const { iso } = this.installation.clock;
    await this.installation.record(id, {
      kind: 'record_acceptance',
      sentAt: iso,
      acceptance: { acceptedAt: iso, basis: 'ack', externalRequestId: 'job-1' },
    });
    return id;
  }

  /** As if another process, which is gone, had dispatched it. */
  ofAnEarlierOwner(id: string): void {
    const row = this.installation.store.rows('attempts').find(({ tool_call_id }) => tool_call_id === id);
    if (row === undefined) throw new Error('no attempt');
    this.installation.store.seed('attempts', { ...row, owner: 'ins_0', owner_epoch: 1 });
  }

  async statusOf(id: string): Promise<string> {
    return (await this.installation.call(id)).state.status;
  }
}

describe('what a dead owner had on the wire', () => {
  it('is unknown, and recovery says so on its behalf', async () => {
    const bench = new Bench();
    const id = await bench.propose();
    bench.ofAnEarlierOwner(id);
    await bench.sweep.tick();
    expect((await bench.installation.call(id)).state).toMatchObject({ status: 'result_unknown', cause: 'owner_lost' });
    expect(bench.installation.store.events.at(-1)?.envelope).toMatchObject({ producer: 'recovery', synthetic: true });
  });

  it('is left to the tool where the tool has accepted it and its manifest says how the end is told, until its deadline', async () => {
    const bench = new Bench(refundCapability({ timeout: '30s', ...POLLED }));
    const id = await bench.accepted();
    bench.ofAnEarlierOwner(id);
    await bench.sweep.tick();
    expect(await bench.statusOf(id)).toBe('accepted');
    bench.installation.clock.moveTo(DEADLINE);
    await bench.sweep.tick();
    expect((await bench.installation.call(id)).state).toMatchObject({
      status: 'result_unknown',
      cause: 'deadline_passed',
    });
  });

  it('is unknown although the tool has accepted it, where nothing will tell its end', async () => {
    const bench = new Bench();
    const id = await bench.accepted();
    bench.ofAnEarlierOwner(id);
    await bench.sweep.tick();
    expect((await bench.installation.call(id)).state).toMatchObject({ status: 'result_unknown', cause: 'owner_lost' });
  });

  it('is a failed read where it was a read, since a read has no effect', async () => {
    const bench = new Bench(refundCapability(READ));
    const id = await bench.propose();
    bench.ofAnEarlierOwner(id);
    await bench.sweep.tick();
    expect((await bench.installation.call(id)).state).toMatchObject({
      status: 'failed',
      knownEffect: 'none',
      retryable: true,
    });
  });
});

describe('what this process has on the wire', () => {
  it('is never touched while it is being carried, deadline or not', async () => {
    const bench = new Bench();
    const id = await bench.propose();
    bench.ofAnEarlierOwner(id);
    bench.carrying.add(id);
    bench.installation.clock.moveTo('2031-01-01T11:00:00.000Z');
    await bench.sweep.tick();
    expect(await bench.statusOf(id)).toBe('dispatching');
  });

  it('is unknown at its deadline where nobody carries it, and not before', async () => {
    const bench = new Bench();
    const id = await bench.propose();
    bench.installation.clock.moveTo('2031-01-01T10:00:29.999Z');
    await bench.sweep.tick();
    expect(await bench.statusOf(id)).toBe('dispatching');
    bench.installation.clock.moveTo(DEADLINE);
    await bench.sweep.tick();
    expect((await bench.installation.call(id)).state).toMatchObject({
      status: 'result_unknown',
      cause: 'deadline_passed',
    });
  });

  it('is looked at call by call: one that cannot be read holds up no other', async () => {
    const bench = new Bench();
    const [broken, next] = [await bench.propose(), await bench.propose()];
    bench.ofAnEarlierOwner(next);
    const row = (await bench.installation.call(broken)).row;
    bench.installation.store.seed('tool_calls', { ...row, attempt: 9 });
    await bench.sweep.tick();
    expect(await bench.statusOf(next)).toBe('result_unknown');
    expect(bench.installation.log.lines).toHaveLength(1);
  });
});
