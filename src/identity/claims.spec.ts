import { describe, expect, it } from '@jest/globals';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { readClaims, type ReadClaims } from './claims.js';

const NOW_MS = Date.parse('2031-01-01T10:00:00.000Z');
const NOW = NOW_MS / 1000;
const { identity } = settingsWith();

const CLAIMS = {
  iss: 'https://issuer.example',
  aud: 'countersign',
  sub: 'alice',
  act: { sub: 'agent-7' },
  tenant: 'acme',
  roles: ['harness'],
  iat: NOW,
  exp: NOW + 3600,
};

const read = (more: Record<string, unknown> = {}): ReadClaims => {
  const claims: Record<string, unknown> = { ...CLAIMS, ...more };
  for (const [name, value] of Object.entries(claims)) if (value === undefined) delete claims[name];
  return readClaims(claims, identity, NOW_MS);
};

const callerOf = (more: Record<string, unknown> = {}) => {
  const claims = read(more);
  if (!claims.ok) throw new Error(claims.problem);
  return claims.caller;
};

/** `act` nested so many times below the subject. */
const chain = (depth: number): Record<string, unknown> =>
  depth === 0 ? {} : { act: { sub: `agent-${depth}`, ...chain(depth - 1) } };

describe('the claims of a token', () => {
  it('say who is calling, for whom and in which roles', () => {
    expect(callerOf({ groups: ['finance'], agent_owner: 'oscar' })).toEqual({
      tenant: 'acme',
      actor: { sub: 'alice', act: { sub: 'agent-7' } },
      roles: ['harness'],
      groups: ['finance'],
      agentOwner: 'oscar',
      isAgent: true,
    });
  });

  it('need no groups and no owner of the agent', () => {
    expect(callerOf()).toMatchObject({ groups: [], agentOwner: null });
  });

  it('keep the whole chain of actors up to the bound and nothing beyond it', () => {
    expect(callerOf({ act: undefined, ...chain(4) }).actor.act?.act?.act?.act?.sub).toBe('agent-1');
    expect(read({ act: undefined, ...chain(5) })).toMatchObject({ ok: false });
  });

  it.each([
    ['an actor', { act: { sub: 'agent-7' }, roles: ['approver'] }],
    ['the role harness', { act: undefined, roles: ['harness', 'approver'] }],
  ])('make an agent of whoever has %s, whatever other roles there are', (_, more) => {
    expect(callerOf(more).isAgent).toBe(true);
  });

  it('make a person of whoever has neither', () => {
    expect(callerOf({ act: undefined, roles: ['approver'] }).isAgent).toBe(false);
  });

  it('are good until exp and the tolerated difference of clocks', () => {
    expect(read()).toMatchObject({ expiresAtMs: (NOW + 3600) * 1000 + identity.clockToleranceMs });
  });

  it.each([
    ['the lifetime that the settings allow', { exp: NOW + identity.tokenLifetimeMsMax / 1000 }],
    ['an iat within the tolerance', { iat: NOW + 5, exp: NOW + 60 }],
    ['a list of this audience alone', { aud: ['countersign'] }],
  ])('are read with %s', (_, more) => {
    expect(read(more).ok).toBe(true);
  });

  it.each([
    ['exp as text', { exp: String(NOW + 60) }],
    ['exp beyond any date', { exp: 1e300 }],
    ['exp as a fraction', { exp: NOW + 0.5 }],
    ['a negative iat', { iat: -1, exp: 60 }],
    ['iat as text', { iat: String(NOW) }],
    ['no iat', { iat: undefined }],
    ['no exp', { exp: undefined }],
    ['a lifetime that is too long', { exp: NOW + identity.tokenLifetimeMsMax / 1000 + 1 }],
    ['an iat in the future', { iat: NOW + 6, exp: NOW + 60 }],
    ['a second audience', { aud: ['countersign', 'somebody-else'] }],
    ['no audience in a list', { aud: [] }],
    ['no tenant', { tenant: undefined }],
    ['the tenant of the installation itself', { tenant: '*' }],
    ['a tenant with a slash', { tenant: 'acme/other' }],
    ['a tenant that is no text', { tenant: 7 }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['a subject with a space', { sub: 'alice smith' }],
    ['a subject with a letter that looks like another', { sub: '\u0430lice' }],
    ['a subject that is too long', { sub: 'a'.repeat(257) }],
    ['an actor that is text', { act: 'agent-7' }],
    ['an actor that is a list', { act: [{ sub: 'agent-7' }] }],
    ['an actor without a subject', { act: {} }],
    ['an actor that is null', { act: null }],
    ['no roles', { roles: undefined }],
    ['a role nobody knows', { roles: ['harness', 'root'] }],
    ['roles as text', { roles: 'operator' }],
    ['groups as text', { groups: 'finance' }],
    ['a group that is no name', { groups: ['finance', 7] }],
    ['more groups than anybody has', { groups: Array.from({ length: 101 }, (_, n) => `g${n}`) }],
    ['an owner that is no name', { agent_owner: ['oscar'] }],
    ['an owner that is null', { agent_owner: null }],
  ])('are refused with %s', (_, more) => {
    expect(read(more)).toEqual({ ok: false, problem: expect.any(String) });
  });

  it('are refused without repeating a value', () => {
    for (const field of ['exp', 'tenant', 'sub', 'act', 'roles', 'groups', 'agent_owner']) {
      expect(read({ [field]: 'hunter 2' })).toEqual({ ok: false, problem: expect.not.stringContaining('hunter') });
    }
  });
});
