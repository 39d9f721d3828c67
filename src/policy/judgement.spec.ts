import { describe, expect, it } from '@jest/globals';
import { Installation, TENANT } from '../../test/builders/installation.js';
import { GuardFailed } from '../storage/unit.js';
import { authorizedUntil } from './judgement.js';
import { mustBeAnAnswer } from './judge.js';
import { policyIsCurrent } from './policy-guard.js';

describe('until when an authorization by policy may be used', () => {
  const NOW = '2031-01-01T10:00:00.000Z';

  it.each([
    [null, 60_000, '2031-01-01T10:01:00.000Z'],
    ['2031-01-01T10:00:30.000Z', 60_000, '2031-01-01T10:00:30.000Z'],
    ['2031-01-01T12:00:00.000Z', 60_000, '2031-01-01T10:01:00.000Z'],
  ])('with the caller’s end at %s and %d milliseconds is %s', (executeBefore, ttlMs, until) => {
    expect(authorizedUntil(NOW, executeBefore, ttlMs)).toBe(until);
  });
});

describe('the record of a judgement', () => {
  it('holds the whole request but the arguments, which the proposal holds already', async () => {
    const installation = new Installation();
    await installation.propose();
    const decided = installation.store.events.find(({ envelope }) => envelope.eventType === 'policy.decided');
    expect(decided?.payload).toMatchObject({
      phase: 'propose',
      outcome: 'allow',
      attempt: 1,
      policyRevision: 'sha256:policy-1',
      request: { tenant: TENANT, sub: 'alice', capability: 'refund.create' },
    });
    expect(decided?.payload['request']).not.toHaveProperty('input');
    expect(decided?.envelope.policyDecisionId).toMatch(/^dec_/);
  });

  it('binds the call to the decision and to the question that stands', async () => {
    const installation = new Installation();
    installation.policy.ask();
    const id = await installation.propose();
    const { row } = await installation.call(id);
    expect(row.policy_decision_id).toMatch(/^dec_/);
    expect(row.approval_id).toMatch(/^apr_/);
    expect((await installation.approvalOf(id)).row).toMatchObject({ tool_call_id: id, supersedes_approval_id: null });
  });
});

describe('the guard of the policy in force', () => {
  it('holds for the set that decided and for no other', async () => {
    const { desk } = new Installation();
    await expect(
      desk.commit(desk.beginInstallation('x').guard(policyIsCurrent('sha256:policy-1'))),
    ).resolves.toBeDefined();
    await expect(desk.commit(desk.beginInstallation('x').guard(policyIsCurrent('sha256:other')))).rejects.toThrow(
      GuardFailed,
    );
  });
});

describe('an engine that failed', () => {
  it('has said nothing about the call', async () => {
    const { policy } = new Installation();
    policy.answer = { outcome: 'deny', denyCode: 'engine_error', engineErrors: ['engine_threw'] };
    const failed = await policy.decide({} as never);
    expect(() => mustBeAnAnswer(failed)).toThrow(expect.objectContaining({ code: 'engine_error' }) as unknown as Error);
    policy.deny('no');
    const denied = await policy.decide({} as never);
    expect(() => mustBeAnAnswer(denied)).not.toThrow();
  });
});
