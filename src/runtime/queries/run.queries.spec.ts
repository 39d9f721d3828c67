import { describe, expect, it } from '@jest/globals';
import {
  AGENT,
  APPROVER,
  callerWith,
  Installation,
  OPERATOR,
  refundCapability,
} from '../../../test/builders/installation.js';
import { completion } from '../../../test/builders/tool-call-examples.js';
import { READ } from '../../../test/contract/capabilities/manifest-examples.js';
import { RUN_STATUSES, type RunStatus } from '../../domain/run/run.state.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { Caller } from '../../identity/caller.js';
import { GetRun, GetRunHandler } from './run.queries.js';

const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'owner_lost' }, sentAt: null };
const START: ToolCallCommand = {
  kind: 'start_reconciliation',
  start: { strategy: 'query_by_idempotency_key', deadline: '2031-01-01T11:00:00.000Z' },
};
const COMPLETE: ToolCallCommand = {
  kind: 'complete',
  completion: completion('direct'),
  acceptedAt: '2031-01-01T10:00:02.000Z',
  sentAt: null,
};
const HAND_OFF: ToolCallCommand = {
  kind: 'hand_off',
  handoff: { reason: 'attempts_exhausted', evidenceRefs: [] },
  opened: { handoffId: 'hnd_1', packet: {} },
};
const AUDITOR = callerWith({ actor: { sub: 'ada' }, roles: ['auditor'], isAgent: false });

const READING = refundCapability({ ...READ, name: 'order.read' });

class Bench {
  readonly installation = new Installation({ capabilities: [refundCapability(), READING] });
  private orders = 0;

  /** A call of the one run. */
  propose(capability = 'refund.create'): Promise<string> {
    this.orders += 1;
    this.installation.policy.allow();
    const args = { orderId: `o-${this.orders}`, amountMinor: 1 };
    return this.installation.propose({ capability, arguments: args, runLabel: 'ticket 7' });
  }

  async ask(): Promise<void> {
    this.installation.policy.ask();
    this.orders += 1;
    await this.installation.propose({
      arguments: { orderId: `o-${this.orders}`, amountMinor: 1 },
      runLabel: 'ticket 7',
    });
  }

  get runId(): string {
    return this.installation.store.rows('runs')[0]?.run_id ?? '';
  }

  get(caller: Caller = AGENT, runId = this.runId) {
    return new GetRunHandler(this.installation.store).execute(new GetRun(caller, runId));
  }

  async status(): Promise<string> {
    return (await this.get()).status;
  }

  become(status: RunStatus): void {
    const [row] = this.installation.store.rows('runs');
    if (row !== undefined) this.installation.store.seed('runs', { ...row, status });
  }
}

describe('a run', () => {
  it('is shown with whose it is, its label and how many of its calls are open', async () => {
    const bench = new Bench();
    await bench.propose();
    await bench.installation.record(await bench.propose(), COMPLETE);
    await bench.installation.propose({ runLabel: 'another', arguments: { orderId: 'x', amountMinor: 1 } });
    expect(await bench.get()).toEqual({
      runId: bench.runId,
      status: 'running',
      implicit: true,
      label: 'ticket 7',
      principal: { sub: 'alice', act: 'agent-7' },
      openCalls: 1,
      planReviewApproved: false,
      canStop: true,
      stop: null,
      createdAt: bench.installation.clock.iso,
      updatedAt: bench.installation.clock.iso,
      links: {
        self: `/v1/runs/${bench.runId}`,
        toolCalls: `/v1/tool-calls?runId=${bench.runId}`,
        view: `/v1/runs/${bench.runId}/view`,
        planReviews: `/v1/plan-reviews?runId=${bench.runId}`,
        timeline: `/v1/runs/${bench.runId}/timeline`,
      },
    });
  });

  it('that nobody named has no label, and one of a person alone has no agent', async () => {
    const bench = new Bench();
    const person = callerWith({ actor: { sub: 'alice' }, isAgent: false });
    await bench.installation.propose({}, person);
    expect(await bench.get(person)).toMatchObject({ label: null, principal: { sub: 'alice', act: null } });
  });

  it.each([
    ['its own agent', AGENT, true],
    ['an operator', OPERATOR, true],
    ['an auditor', AUDITOR, true],
    ['an approver', APPROVER, true],
    ['another agent of the same person', callerWith({ actor: { sub: 'alice', act: { sub: 'agent-8' } } }), false],
    ['the person without the agent', callerWith({ actor: { sub: 'alice' } }), false],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' }), false],
    [
      'another agent, though its token has every role',
      callerWith({ actor: { sub: 'eve', act: { sub: 'agent-9' } }, roles: ['operator', 'auditor', 'approver'] }),
      false,
    ],
  ])('for %s exists: %p', async (_, caller, exists) => {
    const bench = new Bench();
    await bench.propose();
    const found = bench.get(caller);
    if (exists) expect((await found).runId).toBe(bench.runId);
    else await expect(found).rejects.toMatchObject({ code: 'run_not_found' });
  });

  it('that is none is not found', async () => {
    await expect(new Bench().get(OPERATOR, 'run_0')).rejects.toMatchObject({ code: 'run_not_found' });
  });
});

describe('what a run waits for', () => {
  it('is nothing while its calls are carried out, and after they have ended', async () => {
    const bench = new Bench();
    const id = await bench.propose();
    expect(await bench.status()).toBe('running');
    await bench.installation.record(id, COMPLETE);
    expect(await bench.status()).toBe('running');
  });

  it('is people while a question of one of its calls is open', async () => {
    const bench = new Bench();
    await bench.propose();
    await bench.ask();
    expect(await bench.status()).toBe('waiting_for_approval');
  });

  it('is evidence while a result is unknown or looked up, before any question', async () => {
    const bench = new Bench();
    const id = await bench.propose();
    await bench.ask();
    await bench.installation.record(id, UNKNOWN);
    expect(await bench.status()).toBe('awaiting_reconciliation');
    await bench.installation.record(id, START);
    expect(await bench.status()).toBe('awaiting_reconciliation');
  });

  it('is no evidence any more once people have to find out', async () => {
    const bench = new Bench();
    const id = await bench.propose();
    await bench.installation.record(id, UNKNOWN, HAND_OFF);
    expect(await bench.status()).toBe('running');
  });

  it('is never a read, which has no effect that could be unknown', async () => {
    const bench = new Bench();
    const id = await bench.propose('order.read');
    await bench.installation.record(id, UNKNOWN);
    expect((await bench.installation.call(id)).state.status).toBe('result_unknown');
    expect(await bench.status()).toBe('running');
  });

  it('is never what another run waits for', async () => {
    const bench = new Bench();
    await bench.propose();
    bench.installation.policy.ask();
    await bench.installation.propose({ runLabel: 'another', arguments: { orderId: 'x', amountMinor: 1 } });
    expect(await bench.status()).toBe('running');
  });

  it.each(RUN_STATUSES.filter((status) => status !== 'running'))(
    'comes after %s, which is recorded',
    async (status) => {
      const bench = new Bench();
      const id = await bench.propose();
      await bench.ask();
      await bench.installation.record(id, UNKNOWN);
      bench.become(status);
      expect(await bench.status()).toBe(status);
    },
  );
});
