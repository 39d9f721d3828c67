import { describe, expect, it } from '@jest/globals';
import { VerifyingInstallation } from '../../../test/builders/outcome-installation.js';
import { OutcomeDeadlines } from './outcome-deadlines.js';

async function passed(
  minutes: number,
  prepare: (installation: VerifyingInstallation, id: string) => unknown = () => {},
) {
  const installation = new VerifyingInstallation();
  const id = await installation.completed();
  await prepare(installation, id);
  installation.clock.advance(minutes * 60_000);
  await new OutcomeDeadlines(installation.desk, installation.log).tick();
  return { installation, row: installation.outcome(id), id };
}

describe('a verification that nobody answers', () => {
  it('is inconclusive at its deadline, as an event that time caused', async () => {
    const { installation, row } = await passed(60);
    expect(row).toMatchObject({ status: 'inconclusive', status_reason: 'deadline_passed' });
    expect(installation.store.events.at(-1)?.envelope).toMatchObject({
      eventType: 'feedback.inconclusive',
      causeKind: 'timer',
      causationId: null,
    });
  });

  it('is pending before', async () => {
    expect((await passed(59.9)).row?.status).toBe('pending');
  });

  it('takes an answer that comes later all the same', async () => {
    const { installation, id } = await passed(600);
    expect(await installation.give(id)).toMatchObject({ outcome: 'confirmed_success' });
  });

  it('is left alone when an answer comes in the last moment', async () => {
    const { installation, row } = await passed(60, ({ store }, id) => {
      store.beforeCommit = () => {
        store.beforeCommit = () => {};
        const outcome = store.rows('outcomes').find(({ tool_call_id: call }) => call === id);
        if (outcome !== undefined) Object.assign(outcome, { version: 9, status: 'confirmed_success' });
      };
    });
    expect(row?.status).toBe('confirmed_success');
    expect(installation.log.lines).toEqual([]);
  });
});

describe('an outcome that has a verdict', () => {
  it('keeps it when the deadline passes', async () => {
    const { row } = await passed(600, (installation, id) => installation.give(id));
    expect(row?.status).toBe('confirmed_success');
  });
});
