import { beforeEach, describe, expect, it } from '@jest/globals';
import { Installation, refundCapability } from '../../../test/builders/installation.js';
import { GO_ON } from '../../../test/builders/resume-examples.js';
import { ApprovalExpiry } from '../../policy/approvals/approval-expiry.js';
import type { Executor } from '../executor/executor.worker.js';
import { AuthorizedCalls } from './authorized-calls.js';
import { IdleRuns } from './idle-runs.js';
import { LeftBehind } from './left-behind.js';
import { OrphanedAttempts } from './orphaned-attempts.js';
import { Patience } from './patience.js';

const EXECUTOR = { isCarrying: () => false, enqueue: () => {}, pump: () => {} } as unknown as Executor;
const DAY_MS = 86_400_000;

/** A store with work for every sweep: an attempt of an owner that is gone, a question and an authorization that are overdue. */
async function leftovers(): Promise<Installation> {
  const installation = new Installation({ capabilities: [refundCapability({ timeout: '30s' })] });
  const { store, policy } = installation;
  let orders = 0;
  const propose = (): Promise<string> => {
    orders += 1;
    return installation.propose({ arguments: { orderId: `o-${orders}`, amountMinor: 1 }, runLabel: `run-${orders}` });
  };
  for (let n = 0; n < 3; n += 1) {
    const id = await propose();
    const row = store.rows('attempts').find(({ tool_call_id }) => tool_call_id === id);
    if (row === undefined) throw new Error('no attempt');
    store.seed('attempts', { ...row, owner: 'ins_0', owner_epoch: 1 });
  }
  policy.ask();
  for (let n = 0; n < 3; n += 1) await propose();
  policy.deny('no');
  await propose();
  return installation;
}

/** Two processes' worth of sweeps: each has its own objects, and all of them read before any of them writes. */
function sweepsOf({ desk, recorder, log, settings, gate }: Installation): readonly (() => Promise<number>)[] {
  const patience = new Patience(gate, GO_ON);
  const authorized = new AuthorizedCalls(desk, new LeftBehind(desk, settings, GO_ON), EXECUTOR, recorder, log);
  return [
    () => new ApprovalExpiry(desk, log).tick(),
    () => new OrphanedAttempts(desk, EXECUTOR, recorder, log, patience).tick(),
    () => authorized.tick(),
    () => new IdleRuns(desk, settings, log).tick(),
  ];
}

describe('sweeps of two processes at once', () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await leftovers();
    installation.clock.advance(2 * DAY_MS);
  });

  it('record each end once, and none of them takes the other’s work for a failure', async () => {
    const runs = [...sweepsOf(installation), ...sweepsOf(installation), ...sweepsOf(installation)];
    expect(await Promise.all(runs.map((run) => run()))).toEqual(runs.map(() => 0));
    const ends = ['tool.call.result_unknown', 'approval.expired', 'tool.call.not_executed', 'run.completed'];
    const { events } = installation.store;
    const counts = ends.map((type) => events.filter(({ envelope }) => envelope.eventType === type).length);
    expect(counts).toEqual([3, 3, 3, 1]);
    expect(installation.log.lines).toEqual([]);
  });

  it('change nothing when they run again', async () => {
    for (const run of sweepsOf(installation)) await run();
    for (const run of sweepsOf(installation)) await run();
    const after = installation.store.events.length;
    for (const run of sweepsOf(installation)) expect(await run()).toBe(0);
    expect(installation.store.events).toHaveLength(after);
  });
});

describe('a sweep that meets a row nobody can read', () => {
  it('looks after all the others, says which one it was, and answers that it was one', async () => {
    const installation = new Installation();
    installation.policy.deny('no');
    for (const n of [1, 2, 3]) {
      await installation.propose({ arguments: { orderId: `o-${n}`, amountMinor: 1 }, runLabel: `run-${n}` });
    }
    const [bad, ...others] = installation.store.rows('runs');
    if (bad === undefined) throw new Error('no run');
    installation.store.seed('runs', { ...bad, principal: 'not json' });
    // What was seeded anew stands last; the broken one must come first to be in the way.
    for (const row of others) installation.store.seed('runs', row);
    installation.clock.advance(2 * DAY_MS);
    expect(await new IdleRuns(installation.desk, installation.settings, installation.log).tick()).toBe(1);
    const statuses = installation.store.rows('runs').map(({ run_id, status }) => [run_id === bad.run_id, status]);
    expect(statuses).toEqual([
      [true, 'running'],
      [false, 'completed'],
      [false, 'completed'],
    ]);
    expect(installation.log.lines).toMatchObject([{ level: 'error', fields: { runId: bad.run_id } }]);
  });
});
