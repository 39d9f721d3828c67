import { describe, expect, it } from '@jest/globals';
import { COMPLETED, SUCCESS, VerifyingInstallation } from '../../../test/builders/outcome-installation.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';

const complete: ToolCallCommand = {
  kind: 'complete',
  completion: COMPLETED,
  sentAt: null,
  acceptedAt: '2031-01-01T10:00:00.000Z',
};
const lose: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null };
const reject = (effect: 'none' | 'partial'): ToolCallCommand => ({
  kind: 'fail',
  failure: { code: 'rejected', effect, basis: 'rejected', retryable: false },
  sentAt: null,
  acceptedAt: '2031-01-01T10:00:00.000Z',
});
const absent: ToolCallCommand = {
  kind: 'resolve_failed',
  resolution: { verdict: 'not_happened', evidenceRefs: ['look-up'] },
  failure: { code: 'absent_at_tool', effect: 'none', basis: 'callback', retryable: true },
};
const happened: ToolCallCommand = {
  kind: 'resolve_happened',
  resolution: { verdict: 'happened', evidenceRefs: ['look-up'] },
  completion: { ...COMPLETED, basis: 'callback' },
};

async function after(...commands: readonly ToolCallCommand[]) {
  const installation = new VerifyingInstallation();
  const id = await installation.propose();
  await installation.record(id, ...commands);
  return { installation, id };
}

describe('the settlement of a call with success criteria', () => {
  it('opens the verification in its own unit, and an answer of 200 confirms nothing', async () => {
    const { installation, id } = await after(complete);
    expect(installation.store.lastTypes).toEqual([
      'tool.call.accepted',
      'tool.call.completed',
      'outcome.verification_opened',
    ]);
    expect(installation.outcome(id)).toMatchObject({
      status: 'pending',
      criteria_id: 'refund_settled',
      criteria_version: '1',
      deadline: '2031-01-01T11:00:00.000Z',
      verdict_event_id: null,
    });
  });

  it('opens it when nobody knows whether the effect happened, and once only', async () => {
    const { installation, id } = await after(lose, happened);
    expect(installation.outcome(id)).toMatchObject({ status: 'pending', version: 1 });
  });

  it('opens it after a failure that left something behind', async () => {
    const { installation, id } = await after(reject('partial'));
    expect(installation.outcome(id)?.status).toBe('pending');
  });

  it('opens nothing after a proven failure without effect: there is nothing to look for', async () => {
    const { installation, id } = await after(reject('none'));
    expect(installation.outcome(id)).toBeUndefined();
  });

  it('fails the outcome when the effect turns out not to be there', async () => {
    const { installation, id } = await after(lose, absent);
    expect(installation.store.lastTypes.slice(-1)).toEqual(['feedback.success_criteria_failed']);
    expect(installation.outcome(id)).toMatchObject({ status: 'confirmed_failure', status_reason: 'not_executed' });
  });

  it('puts a success that was confirmed before in doubt when the effect turns out not to be there', async () => {
    const { installation, id } = await after(lose);
    await installation.give(id);
    await installation.record(id, absent);
    expect(installation.outcome(id)?.status).toBe('pending');
    expect(installation.store.lastTypes).toContain('feedback.contradiction_recorded');
  });

  it('opens it anew for a later attempt', async () => {
    const { installation, id } = await after(lose, absent);
    const { row } = await installation.call(id);
    installation.store.seed('tool_calls', { ...row, status: 'dispatching', attempt: 2, status_reason: null });
    const [attempt] = installation.store.rows('attempts');
    if (attempt === undefined) throw new Error('there is no attempt');
    installation.store.seed('attempts', { ...attempt, attempt: 2, nonce: 'att_2' });
    await installation.record(id, complete);
    expect(installation.outcome(id)).toMatchObject({ status: 'pending', attempt: 2, status_reason: null });
  });
});

describe('a definition that has changed since', () => {
  it('verifies by the criteria in force when the call was proposed with some', async () => {
    const { installation, id } = await after();
    const { gate } = new VerifyingInstallation({ ...SUCCESS, version: '2' });
    Object.assign(installation.recorder, { gate });
    await installation.record(id, complete);
    expect(installation.outcome(id)?.criteria_version).toBe('2');
  });
});

describe('the settlement of a call without success criteria', () => {
  it('opens nothing and asks the store nothing', async () => {
    const installation = new VerifyingInstallation(null);
    const asked: string[] = [];
    Object.assign(installation.store.read, { outcome: async (_tenant: string, id: string) => (asked.push(id), null) });
    const id = await installation.completed();
    expect([installation.outcome(id), asked]).toEqual([undefined, []]);
    expect(installation.store.events.filter(({ payload }) => 'successCriteria' in payload)).toEqual([]);
  });

  it('opens nothing either when the definition has got some since', async () => {
    const installation = new VerifyingInstallation(null);
    const id = await installation.propose();
    Object.assign(installation.recorder, { gate: new VerifyingInstallation().gate });
    await installation.record(id, complete);
    expect(installation.outcome(id)).toBeUndefined();
  });
});
