import { describe, expect, it } from '@jest/globals';
import { CANCEL } from '../../../test/builders/command-world.js';
import { Installation, refundCapability } from '../../../test/builders/installation.js';
import type { HttpConnector } from '../connectors/http.connector.js';
import type { CancelAnswer } from '../core/cancel-answer.js';
import { Cancellation } from './cancellation.js';
import { Canceller } from './canceller.worker.js';

class Bench {
  readonly installation = new Installation({ capabilities: [refundCapability({ cancel: CANCEL, timeout: '30s' })] });
  readonly asked: string[] = [];
  answer: () => Promise<CancelAnswer> = async () => 'cancelled';
  readonly canceller: Canceller;

  constructor() {
    const { desk, gate, judge, recorder, log } = this.installation;
    const connector = {
      cancel: async (_capability: unknown, _cancel: unknown, use: { downstreamKey: string }) => {
        this.asked.push(use.downstreamKey);
        return { answer: await this.answer(), effect: 'none', evidence: {} };
      },
    };
    const cancellation = new Cancellation(desk, gate, judge, connector as unknown as HttpConnector, recorder);
    this.canceller = new Canceller(desk, cancellation, log);
    this.canceller.start();
  }

  async wish(id: string, deadline = '2031-01-01T10:00:05.000Z'): Promise<void> {
    await this.installation.record(id, { kind: 'request_cancellation', cancellation: { deadline } });
    await this.canceller.idle();
  }

  async sent(id: string): Promise<void> {
    const dispatchedAt = this.installation.clock.iso;
    await this.installation.record(id, { kind: 'record_sent', sent: { dispatchedAt } });
    await this.canceller.idle();
  }

  async state(id: string) {
    return (await this.installation.call(id)).state;
  }
}

describe('a wish to cancel', () => {
  it('is told to the tool only once the request is known to have been sent, and once', async () => {
    const bench = new Bench();
    const id = await bench.installation.propose();
    await bench.wish(id);
    expect(bench.asked).toEqual([]);
    await bench.sent(id);
    expect(bench.asked).toEqual([(await bench.state(id)).downstreamKey]);
    expect(await bench.state(id)).toMatchObject({ status: 'failed', code: 'cancelled', knownEffect: 'none' });
  });

  it('is not told about a call that ended first', async () => {
    const bench = new Bench();
    const id = await bench.installation.propose();
    await bench.wish(id);
    const { iso } = bench.installation.clock;
    await bench.installation.record(id, {
      kind: 'complete',
      acceptedAt: iso,
      sentAt: iso,
      completion: { basis: 'direct', result: {}, resultDigest: 'sha256:r', resultTruncated: false },
    });
    await bench.canceller.idle();
    expect(bench.asked).toEqual([]);
    expect((await bench.state(id)).status).toBe('completed');
  });

  it('whose time is over is not told any more: the call goes on, and that is said', async () => {
    const bench = new Bench();
    const id = await bench.installation.propose();
    await bench.wish(id);
    bench.installation.clock.advance(6_000);
    await bench.sent(id);
    expect(bench.asked).toEqual([]);
    expect(await bench.state(id)).toMatchObject({ status: 'dispatched', irreversible: 'cancel_not_sent' });
  });

  it('that the tool confirms after the result became unknown settles it by that evidence', async () => {
    const bench = new Bench();
    const id = await bench.installation.propose();
    await bench.sent(id);
    let confirm: (answer: CancelAnswer) => void = () => {};
    bench.answer = () => new Promise((resolve) => (confirm = resolve));
    const deadline = '2031-01-01T10:00:05.000Z';
    await bench.installation.record(id, { kind: 'request_cancellation', cancellation: { deadline } });
    while (bench.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await bench.installation.record(id, { kind: 'mark_unknown', unknown: { cause: 'timeout' } });
    confirm('cancelled');
    await bench.canceller.idle();
    expect(await bench.state(id)).toMatchObject({ status: 'failed', code: 'cancelled', knownEffect: 'none' });
    expect(bench.asked).toHaveLength(1);
  });

  it('of an earlier process is never told again', async () => {
    const bench = new Bench();
    const id = await bench.installation.propose();
    await bench.canceller.stop();
    await bench.wish(id);
    bench.canceller.start();
    await bench.sent(id);
    expect(bench.asked).toEqual([]);
    expect((await bench.state(id)).cancellationRequested).toBe(true);
  });
});
