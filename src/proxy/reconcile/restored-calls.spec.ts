import { describe, expect, it } from '@jest/globals';
import { Installation, refundCapability } from '../../../test/builders/installation.js';
import { READ } from '../../../test/contract/capabilities/manifest-examples.js';
import type { Capability } from '../../capabilities/manifest.js';
import type { Hold } from '../../storage/hold.js';
import { RestoredCalls } from './restored-calls.js';

class Bench {
  readonly installation: Installation;
  private readonly restored: RestoredCalls;
  private orders = 0;

  constructor(capability: Capability = refundCapability({ timeout: '30s', quiesce: '5s' })) {
    this.installation = new Installation({ capabilities: [capability] });
    this.restored = new RestoredCalls(this.installation.desk, this.installation.gate);
  }

  private arguments() {
    this.orders += 1;
    return { arguments: { orderId: `o-${this.orders}`, amountMinor: 1 } };
  }

  /** On the wire. */
  sent(): Promise<string> {
    return this.installation.propose(this.arguments());
  }

  authorized(): Promise<string> {
    return this.installation.authorized(this.arguments());
  }

  asked(): Promise<string> {
    this.installation.policy.ask();
    return this.installation.propose(this.arguments());
  }

  /** By a process that starts so much later by its own clock. */
  async settle(complete = false, laterMs = 1_000): Promise<void> {
    const { clock } = this.installation;
    clock.advance(laterMs);
    const hold: Hold = {
      reason: 'restored',
      since: clock.iso,
      head: { size: 0, root: null, leaf: null, nodes: [] },
      knownSize: null,
      knownRoot: null,
      backupAt: null,
      complete,
    };
    await this.restored.settle(hold);
  }

  async state(id: string) {
    return (await this.installation.call(id)).state;
  }
}

const RESTORED = { status: 'result_unknown', cause: 'restored' };

describe('the open calls of a restored store', () => {
  it.each(['sent', 'authorized', 'asked'] as const)(
    'that were %s may have been carried out in the lost time',
    async (how) => {
      const bench = new Bench();
      const id = await bench[how]();
      await bench.settle();
      expect(await bench.state(id)).toMatchObject(RESTORED);
      const last = bench.installation.store.events.at(-1);
      expect(last?.envelope).toMatchObject({ producer: 'recovery', synthetic: true });
    },
  );

  it('are asked about only after what was sent a moment ago must have arrived', async () => {
    const bench = new Bench();
    const id = await bench.authorized();
    await bench.settle();
    const [work] = bench.installation.store.rows('work');
    expect(work).toMatchObject({ tool_call_id: id, kind: 'reconcile', next_at: '2031-01-01T10:00:06.000Z' });
    expect(await bench.state(id)).toMatchObject({ deadline: '2031-01-01T10:00:01.000Z' });
  });

  it('are not left out when the clock of this machine is behind the one that made them', async () => {
    const bench = new Bench();
    const id = await bench.authorized();
    await bench.settle(false, -60_000);
    expect(await bench.state(id)).toMatchObject(RESTORED);
  });

  it('take no late yes: the question about them is closed', async () => {
    const bench = new Bench();
    const id = await bench.asked();
    await bench.settle();
    expect((await bench.installation.approvalOf(id)).state).toMatchObject({ status: 'closed' });
    expect(bench.installation.store.lastTypes).toEqual(['approval.closed', 'tool.call.result_unknown']);
  });

  it('are moved once', async () => {
    const bench = new Bench();
    await bench.sent();
    await bench.settle();
    const { length } = bench.installation.store.units;
    await bench.settle();
    expect(bench.installation.store.units).toHaveLength(length);
  });

  it('wait when nothing has been lost, except what was on the wire', async () => {
    const bench = new Bench();
    const [sent, authorized, asked] = [await bench.sent(), await bench.authorized(), await bench.asked()];
    await bench.settle(true);
    expect(await bench.state(sent)).toMatchObject(RESTORED);
    expect((await bench.state(authorized)).status).toBe('authorized');
    expect((await bench.state(asked)).status).toBe('proposed');
  });

  it('that only read wait, and what was on the wire of them may be made again', async () => {
    const bench = new Bench(refundCapability(READ));
    const [sent, authorized] = [await bench.sent(), await bench.authorized()];
    await bench.settle();
    expect(await bench.state(sent)).toMatchObject({ status: 'failed', knownEffect: 'none', retryable: true });
    expect((await bench.state(authorized)).status).toBe('authorized');
  });
});
