import { describe, expect, it } from '@jest/globals';
import { AGENT, OPERATOR } from '../../../test/builders/installation.js';
import { evidence } from '../../../test/builders/outcome-examples.js';
import { BANK, PSP, source, SUCCESS, VerifyingInstallation } from '../../../test/builders/outcome-installation.js';

const refusal = async (answer: Promise<unknown>): Promise<unknown> => {
  try {
    return await answer;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

async function verified(): Promise<{ installation: VerifyingInstallation; id: string }> {
  const installation = new VerifyingInstallation();
  return { installation, id: await installation.completed() };
}

describe('feedback about a call', () => {
  it('moves the outcome and nothing of the execution', async () => {
    const { installation, id } = await verified();
    const before = await installation.call(id);
    expect(await installation.give(id)).toMatchObject({ outcome: 'confirmed_success', replayed: false });
    expect(installation.store.lastTypes).toEqual(['feedback.received', 'feedback.success_criteria_met']);
    expect((await installation.call(id)).row).toEqual(before.row);
    const [received] = installation.store.stream({ kind: 'outcome', id }).slice(1);
    expect(received?.envelope).toMatchObject({
      producer: 'feedback-intake',
      feedbackId: 'fb-1',
      toolCallId: id,
      actor: { sub: 'bank' },
      causeKind: 'external',
    });
  });

  it('is recorded once however often it is sent, and its id never means anything else', async () => {
    const { installation, id } = await verified();
    await installation.give(id);
    const { length } = installation.store.events;
    expect(await installation.give(id)).toMatchObject({ replayed: true, outcome: 'confirmed_success' });
    expect(await refusal(installation.give(id, { verdict: 'failed' }))).toBe('feedback_id_conflict');
    expect(installation.store.events).toHaveLength(length);
  });

  it('under the same id of another source is another feedback', async () => {
    const { installation, id } = await verified();
    await installation.give(id, { evidence: [evidence('provider_status')] }, PSP);
    expect(await installation.give(id, { evidence: [evidence('statement_line')] }, BANK)).toMatchObject({
      replayed: false,
      outcome: 'confirmed_success',
    });
  });

  it('that races with another is looked at again, so that both count', async () => {
    const { installation, id } = await verified();
    let commits = 0;
    installation.store.beforeCommit = () => void (commits += 1);
    await Promise.all([
      installation.give(id, { evidence: [evidence('provider_status')] }, PSP),
      installation.give(id, { evidence: [evidence('statement_line')] }, BANK),
    ]);
    expect(commits).toBe(3);
    expect(installation.outcome(id)?.status).toBe('confirmed_success');
  });

  it.each([
    ['a source that is not on the list', source('mallory')],
    [
      'a listed name with an agent behind it',
      source('bank', { actor: { sub: 'bank', act: { sub: 'x' } }, isAgent: true }),
    ],
    ['the agent whose call it is', source('agent-7')],
    ['an operator', { ...OPERATOR, roles: ['operator', 'feedback'] as const }],
  ])('of %s is refused, and the refusal is on record', async (_who, caller) => {
    const { installation, id } = await verified();
    expect(await refusal(installation.give(id, {}, caller))).toBe('feedback_source_missing');
    expect(installation.store.lastTypes).toEqual(['feedback.rejected']);
    expect(installation.outcome(id)?.status).toBe('pending');
    expect(await refusal(installation.give(id, {}, caller))).toBe('feedback_source_missing');
    expect(installation.store.lastTypes).toEqual(['feedback.rejected']);
    expect(installation.store.rows('outcome_feedback')).toHaveLength(1);
  });

  it('of a kind that the source may not give is refused', async () => {
    const { installation, id } = await verified();
    expect(await refusal(installation.give(id, {}, PSP))).toBe('feedback_source_missing');
  });

  it('without evidence, or for other criteria, is refused', async () => {
    const { installation, id } = await verified();
    expect(await refusal(installation.give(id, { evidence: [] }))).toBe('feedback_evidence_missing');
    expect(await refusal(installation.give(id, { feedbackId: 'fb-2', criteriaVersion: '9' }))).toBe(
      'feedback_criteria_unknown',
    );
    expect(installation.outcome(id)?.status).toBe('pending');
  });

  it.each([
    ['in the future', 3_600_000],
    ['before the call was made', -3_600_000],
  ])('that was seen %s is refused and not recorded', async (_when, offset) => {
    const { installation, id } = await verified();
    const { length } = installation.store.events;
    const verifiedAt = new Date(installation.clock.now() + offset).toISOString();
    expect(await refusal(installation.give(id, { verifiedAt }))).toBe('invalid_timestamp');
    expect(installation.store.events).toHaveLength(length);
  });

  it('is not taken before anything can have happened, nor for another tenant', async () => {
    const installation = new VerifyingInstallation();
    const id = await installation.propose();
    expect(await refusal(installation.give(id))).toBe('outcome_not_open');
    expect(await refusal(installation.give(id, {}, { ...BANK, tenant: 'umbrella' }))).toBe('tool_call_not_found');
  });

  it('is not taken from a source that was struck off the list since', async () => {
    const { installation, id } = await verified();
    const later = new VerifyingInstallation({ ...SUCCESS, sources: [{ subject: 'other', evidence: SUCCESS.needs }] });
    Object.assign(installation, { gate: later.gate });
    Object.assign(installation.intake, { gate: later.gate });
    expect(await refusal(installation.give(id))).toBe('feedback_source_missing');
  });

  it('comes from no agent, whatever roles its token has', async () => {
    const { installation, id } = await verified();
    const agent = { ...AGENT, actor: { sub: 'bank' }, roles: ['harness', 'feedback'] as const };
    expect(await refusal(installation.give(id, {}, agent))).toBe('feedback_source_missing');
  });
});
