import { describe, expect, it } from '@jest/globals';
import { providerSchema } from '../config/identity-provider.schema.js';
import type { IdentityProviderSettings } from '../config/settings.js';
import type { Claims } from './claims.js';
import { claimsOfProvider } from './provider-claims.js';

const provider = (more: object = {}): IdentityProviderSettings =>
  providerSchema.parse({
    name: 'corp',
    issuer: 'https://login.example',
    audience: 'countersign',
    algorithms: ['RS256'],
    tenant: 'acme',
    ...more,
  });
const read = (claims: Claims, more: object = {}): Claims | null =>
  claimsOfProvider({ sub: 'u1', iat: 1, exp: 2, aud: 'countersign', ...claims }, provider(more));

describe('the claims of a provider', () => {
  it('name subjects below the prefix of the provider, in every link of a chain', () => {
    expect(read({ act: { sub: 'bot', act: { sub: 'bot2' } } })).toMatchObject({
      sub: 'corp:u1',
      act: { sub: 'corp:bot', act: { sub: 'corp:bot2' } },
    });
    expect(read({}, { subjectPrefix: 'people/' })).toMatchObject({ sub: 'people/u1' });
  });

  it('of our own words mean nothing by themselves', () => {
    const claims = read({ tenant: 'umbrella', roles: ['operator'], groups: ['finance'], agent_owner: 'lena' });
    expect(claims).toMatchObject({ tenant: 'acme', roles: [], groups: [] });
    expect(claims).not.toHaveProperty('agent_owner');
  });

  it('give the tenant where the settings name its claim', () => {
    expect(read({ org: 'umbrella' }, { tenant: null, tenantClaim: 'org' })).toMatchObject({ tenant: 'umbrella' });
    expect(read({}, { tenant: null, tenantClaim: 'org' })?.['tenant']).toBeUndefined();
  });

  it('give roles by their claim and by groups, and only roles that we know', () => {
    const rules = { rolesClaim: 'realm_access.roles', groupsClaim: 'groups', rolesByGroup: { leads: ['approver'] } };
    const claims = { realm_access: { roles: ['auditor', 'superuser'] }, groups: ['leads', 'constructor', '__proto__'] };
    expect(read(claims, rules)).toMatchObject({ roles: ['approver', 'auditor'] });
  });

  it('give approver groups by the map, or those whose names are names of ours', () => {
    const groups = ['CN=Finance Leads', 'leads', 'toString', 'leads'];
    const mapped = { groupsClaim: 'groups', groups: { 'CN=Finance Leads': 'finance' } };
    expect(read({ groups }, mapped)).toMatchObject({ groups: ['finance'] });
    expect(read({ groups }, { groupsClaim: 'groups' })).toMatchObject({ groups: ['leads', 'toString'] });
  });

  it('find a claim whose name has dots', () => {
    expect(read({ 'https://x.example/roles': ['auditor'] }, { rolesClaim: 'https://x.example/roles' })).toMatchObject({
      roles: ['auditor'],
    });
  });

  it.each([
    ['a text', 'leads'],
    ['numbers', [7]],
    ['more than anybody has', Array.from({ length: 1001 }, String)],
  ])('are refused where groups are %s', (_, groups) => {
    expect(read({ groups }, { groupsClaim: 'groups' })).toBeNull();
  });

  it('with an actor that is none are left for the rules of claims to refuse', () => {
    expect(read({ act: 'bot' })).toMatchObject({ act: null });
    let chain: object = { sub: 'end' };
    for (let n = 0; n < 50; n += 1) chain = { sub: 'x', act: chain };
    expect(JSON.stringify(read({ act: chain })).length).toBeLessThan(500);
  });
});
