import { describe, expect, it } from '@jest/globals';
import { SilentLogger } from '../../system/logger.js';
import { Installation, refundCapability } from '../../../test/builders/installation.js';
import { GO_ON } from '../../../test/builders/resume-examples.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import type { Executor } from '../executor/executor.worker.js';
import type { WaitingCall } from '../executor/waiting-calls.js';
import { LeftBehind } from './left-behind.js';
import { AuthorizedCalls } from './authorized-calls.js';

class Bench {
  readonly installation: Installation;
  readonly queued: string[] = [];
  readonly carrying = new Set<string>();
  readonly sweep: AuthorizedCalls;
  pumped = 0;
  woken = 0;
  private orders = 0;

  constructor(resumeAuthorized: 'automatic' | 'on_control' = 'automatic') {
    this.installation = new Installation({
      capabilities: [refundCapability()],
      settings: settingsWith({ execution: { resumeAuthorized } }),
    });
    const executor = {
      enqueue: ({ toolCallId }: WaitingCall) => void this.queued.push(toolCallId),
      pump: () => void (this.pumped += 1),
      isCarrying: (id: string) => this.carrying.has(id),
    };
    const { desk, settings, recorder } = this.installation;
    const leftBehind = new LeftBehind(desk, settings, GO_ON);
    this.sweep = new AuthorizedCalls(desk, leftBehind, executor as unknown as Executor, recorder, new SilentLogger());
  }

  authorized(): Promise<string> {
    this.orders += 1;
    return this.installation.authorized({ arguments: { orderId: `o-${this.orders}`, amountMinor: 1 } });
  }

  start(): void {
    this.sweep.start(() => (this.woken += 1));
  }
}

const OVER = '2031-01-01T10:15:00.000Z';

describe('authorized calls that nobody is carrying', () => {
  it('are put in line again in the order of their proposal', async () => {
    const bench = new Bench();
    bench.start();
    const ids = [await bench.authorized(), await bench.authorized(), await bench.authorized()];
    await bench.sweep.tick();
    expect(bench.queued).toEqual(ids);
    expect(bench.pumped).toBe(1);
  });

  it('end when their time is over, as an event of recovery', async () => {
    const bench = new Bench();
    const id = await bench.authorized();
    bench.installation.clock.moveTo(OVER);
    await bench.sweep.tick();
    expect((await bench.installation.call(id)).state).toMatchObject({
      status: 'not_executed',
      reason: 'authorization_expired',
    });
    expect(bench.installation.store.events.at(-1)?.envelope.producer).toBe('recovery');
    expect(bench.queued).toEqual([]);
  });

  it('do not end one moment before', async () => {
    const bench = new Bench();
    const id = await bench.authorized();
    bench.installation.clock.moveTo('2031-01-01T10:14:59.999Z');
    await bench.sweep.tick();
    expect((await bench.installation.call(id)).state.status).toBe('authorized');
  });

  it('are left to the clock of their approval, and to whoever carries them', async () => {
    const bench = new Bench();
    const [byPeople, carried] = [await bench.authorized(), await bench.authorized()];
    const { row } = await bench.installation.call(byPeople);
    bench.installation.store.seed('tool_calls', { ...row, authorization_basis: 'approval' });
    bench.carrying.add(carried);
    bench.installation.clock.moveTo(OVER);
    await bench.sweep.tick();
    for (const id of [byPeople, carried]) expect((await bench.installation.call(id)).state.status).toBe('authorized');
  });

  it('do not hold up one another: one that cannot be closed is one', async () => {
    const bench = new Bench();
    const [broken, over] = [await bench.authorized(), await bench.authorized()];
    bench.installation.clock.moveTo('2031-01-01T10:14:00.000Z');
    const waiting = await bench.authorized();
    bench.installation.clock.moveTo(OVER);
    const { row } = await bench.installation.call(broken);
    bench.installation.store.seed('tool_calls', { ...row, authorization_basis: null });
    // What was seeded anew stands last; the broken one must come first to be in the way.
    for (const id of [over, waiting])
      bench.installation.store.seed('tool_calls', (await bench.installation.call(id)).row);
    await bench.sweep.tick().catch(() => undefined);
    expect((await bench.installation.call(over)).state.status).toBe('not_executed');
    expect(bench.queued).toContain(waiting);
  });
});

describe('calls that were authorized before a restart', () => {
  it('wait for an operator’s word where the settings say so, while new ones go on', async () => {
    const bench = new Bench('on_control');
    const old = await bench.authorized();
    bench.installation.clock.advance(1000);
    bench.start();
    const fresh = await bench.authorized();
    await bench.sweep.tick();
    expect(bench.queued).toEqual([fresh]);
    const { desk, clock } = bench.installation;
    const draft = desk.beginInstallation('authorized');
    draft.append(
      { kind: 'command', id: 'acme/cmd' },
      0,
      [
        {
          type: 'control.accepted',
          payload: { type: 'resume_authorized', target: {}, issuer: {}, receivedAt: clock.iso, requestDigest: 'x' },
        },
      ],
      {},
    );
    await desk.commit(draft);
    expect(bench.woken).toBe(1);
    bench.queued.length = 0;
    await bench.sweep.tick();
    expect(bench.queued).toEqual([old, fresh]);
  });

  it('go on by themselves where the settings say so', async () => {
    const bench = new Bench('automatic');
    const old = await bench.authorized();
    bench.installation.clock.advance(1000);
    bench.start();
    await bench.sweep.tick();
    expect(bench.queued).toEqual([old]);
  });
});

describe('what was held back', () => {
  it.each([
    [
      'a pause is cleared',
      { kind: 'policy', id: 'acme' },
      { type: 'pause.cleared', payload: { target: {}, reason: null } },
    ],
    [
      'a capability is released',
      { kind: 'capability', id: 'x' },
      { type: 'capability.released', payload: { capabilityVersion: '1', reason: 'x' } },
    ],
  ] as const)('may go on at once when %s', async (_, stream, event) => {
    const bench = new Bench();
    bench.start();
    const { desk } = bench.installation;
    const draft = desk.beginInstallation('x');
    draft.append(stream, 0, [event], {});
    await desk.commit(draft);
    expect(bench.woken).toBe(1);
  });
});
