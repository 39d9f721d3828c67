import { describe, expect, it } from '@jest/globals';
import { callerWith } from '../../test/builders/installation.js';
import { hasRole, requesters } from './caller.js';

describe('a caller', () => {
  it('counts as requester with everybody in its chain and the owner of its agent', () => {
    const actor = { sub: 'alice', act: { sub: 'agent-7', act: { sub: 'agent-8' } } };
    expect(requesters(callerWith({ actor, agentOwner: 'oscar' }))).toEqual(['alice', 'agent-7', 'agent-8', 'oscar']);
  });

  it('counts once where the owner is the person it acts for', () => {
    expect(requesters(callerWith({ actor: { sub: 'alice', act: { sub: 'a' } }, agentOwner: 'alice' }))).toEqual([
      'alice',
      'a',
    ]);
  });

  it('has a role when its token names one of those asked for', () => {
    const caller = callerWith({ roles: ['auditor', 'operator'], isAgent: false });
    expect(hasRole(caller, 'approver', 'operator')).toBe(true);
    expect(hasRole(caller, 'approver', 'harness')).toBe(false);
    expect(hasRole(caller)).toBe(false);
  });

  it('that is an agent never has a role of people, whatever its token names', () => {
    const agent = callerWith({ roles: ['harness', 'approver', 'operator'], isAgent: true });
    expect(hasRole(agent, 'approver', 'operator')).toBe(false);
    expect(hasRole(agent, 'harness')).toBe(true);
  });
});
