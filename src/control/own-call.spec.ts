import { describe, expect, it } from '@jest/globals';
import { AGENT, APPROVER, callerWith, Installation, OPERATOR } from '../../test/builders/installation.js';
import { loadOwnCall, requireOperator } from './own-call.js';

describe('a call that somebody wants to control', () => {
  it.each([
    ['its own agent', AGENT],
    ['another process of the same agent', callerWith({ roles: ['harness'] })],
    ['an operator of the tenant', OPERATOR],
  ])('is found by %s', async (_, caller) => {
    const installation = new Installation();
    const id = await installation.propose();
    expect((await loadOwnCall(installation.store.read, caller, id)).row.tool_call_id).toBe(id);
  });

  it.each([
    ['another agent of the same person', callerWith({ actor: { sub: 'alice', act: { sub: 'agent-8' } } })],
    ['the same agent for another person', callerWith({ actor: { sub: 'bob', act: { sub: 'agent-7' } } })],
    ['the person without the agent', callerWith({ actor: { sub: 'alice' } })],
    ['an approver', APPROVER],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' })],
  ])('does not exist for %s', async (_, caller) => {
    const installation = new Installation();
    const id = await installation.propose();
    await expect(loadOwnCall(installation.store.read, caller, id)).rejects.toMatchObject({
      code: 'tool_call_not_found',
    });
  });
});

describe('what only an operator may do', () => {
  it('is refused to everybody else', () => {
    expect(() => requireOperator(OPERATOR)).not.toThrow();
    for (const caller of [AGENT, APPROVER, callerWith({ roles: [] })]) {
      expect(() => requireOperator(caller)).toThrow(/only an operator/);
    }
  });
});
