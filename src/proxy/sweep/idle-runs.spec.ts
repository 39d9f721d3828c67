import { describe, expect, it } from '@jest/globals';
import { Installation } from '../../../test/builders/installation.js';
import { IdleRuns } from './idle-runs.js';

async function idleFor(hours: number, prepare: (installation: Installation) => void = () => {}) {
  const installation = new Installation();
  installation.policy.deny('no');
  await installation.propose();
  installation.clock.advance(hours * 3_600_000);
  prepare(installation);
  await new IdleRuns(installation.desk, installation.settings, installation.log).tick();
  return installation;
}

describe('a run that the first call opened', () => {
  it('is complete after a day without anything', async () => {
    const installation = await idleFor(24.01);
    expect(installation.store.rows('runs')[0]).toMatchObject({ status: 'completed', end_reason: 'idle' });
    expect(installation.store.events.at(-1)?.envelope).toMatchObject({
      eventType: 'run.completed',
      producer: 'recovery',
      causationId: null,
      causeKind: 'timer',
    });
  });

  it('is not complete before', async () => {
    expect((await idleFor(23.99)).store.rows('runs')[0]?.status).toBe('running');
  });

  it('is not complete while a call is open, even one that came while it was being completed', async () => {
    const installation = await idleFor(25, ({ store }) => {
      store.beforeCommit = () => {
        store.beforeCommit = () => {};
        const [row] = store.rows('tool_calls');
        if (row !== undefined) store.seed('tool_calls', { ...row, tool_call_id: 'call_new', status: 'proposed' });
      };
    });
    expect(installation.store.rows('runs')[0]?.status).toBe('running');
  });

  it('makes room for a new one under its label', async () => {
    const installation = await idleFor(25);
    const id = await installation.propose({ arguments: { orderId: 'o-2', amountMinor: 1 } });
    expect((await installation.call(id)).row.run_id).not.toBe(installation.store.rows('runs')[0]?.run_id);
  });
});
