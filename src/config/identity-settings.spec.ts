import { describe, expect, it } from '@jest/globals';
import { credentialSchema } from './credential.schema.js';
import { providerSchema, providersSchema } from './identity-provider.schema.js';
import { secretReference } from './secret-reference.schema.js';

const PROVIDER = {
  name: 'corp',
  issuer: 'https://login.example',
  audience: 'countersign',
  algorithms: ['RS256'],
  tenant: 'acme',
};
const other = (more: object) => ({ ...PROVIDER, name: 'partner', issuer: 'https://partner.example', ...more });
const CLIENT = {
  kind: 'oauth_client_credentials',
  issuer: 'https://login.example',
  clientId: 'us',
  clientSecret: 'secret:crm',
};

describe('the settings of a provider', () => {
  it('are few', () => {
    expect(providerSchema.safeParse(PROVIDER).success).toBe(true);
    expect(providersSchema.safeParse([PROVIDER, other({})]).success).toBe(true);
  });

  it.each([
    ['a symmetric algorithm', { algorithms: ['HS256'] }],
    ['no algorithm', { algorithms: [] }],
    ['no audience', { audience: '' }],
    ['no tenant', { tenant: null }],
    ['two tenants', { tenantClaim: 'org' }],
    ['a role that nobody knows', { rolesByGroup: { x: ['root'] } }],
    ['plain HTTP to public addresses', { issuer: 'http://login.example' }],
    ['keys over plain HTTP', { jwksUri: 'http://login.example/jwks' }],
    ['another scheme', { jwksUri: 'file:///etc/jwks.json' }],
    ['a setting that does not exist', { audiance: 'x' }],
  ])('are refused with %s', (_, wrong) => {
    expect(providerSchema.safeParse({ ...PROVIDER, ...wrong }).success).toBe(false);
  });

  it.each([
    ['one issuer', { issuer: PROVIDER.issuer }],
    ['one name', { name: 'corp' }],
    ['one prefix', { subjectPrefix: 'corp:' }],
    ['a prefix that begins with that of the other', { subjectPrefix: 'corp:partner:' }],
    ['a prefix with which that of the other begins', { subjectPrefix: 'co' }],
  ])('are refused for two that have %s: somebody could be somebody else', (_, same) => {
    expect(providersSchema.safeParse([PROVIDER, other(same)]).success).toBe(false);
  });
});

describe('the settings of a credential', () => {
  it('without a kind are those of a secret that stays as it is', () => {
    const written = { secret: 'env:KEY', header: 'authorization', scheme: 'Bearer' };
    expect(credentialSchema.parse(written)).toEqual({ kind: 'static', ...written });
  });

  it('of a fetched one have the usual header', () => {
    expect(credentialSchema.parse(CLIENT)).toMatchObject({
      header: 'authorization',
      scheme: 'Bearer',
      clientAuth: 'basic',
    });
  });

  it.each([
    ['two places of its server', { tokenUrl: 'https://login.example/token' }],
    ['no place of its server', { issuer: null }],
    ['plain HTTP to public addresses', { issuer: 'http://login.example' }],
    ['revocations over plain HTTP', { revocationUrl: 'http://login.example/revoke' }],
    ['a secret in place of a reference', { clientSecret: 'hunter2' }],
    ['a kind that does not exist', { kind: 'password' }],
  ])('are refused with %s', (_, wrong) => {
    expect(credentialSchema.safeParse({ ...CLIENT, ...wrong }).success).toBe(false);
  });

  it('may name plain HTTP for addresses that they name', () => {
    const local = { ...CLIENT, issuer: 'http://127.0.0.1:9', allowAddresses: ['loopback'] };
    expect(credentialSchema.safeParse(local).success).toBe(true);
  });
});

describe('a reference to a secret', () => {
  it.each(['env:KEY', 'file:/run/key', 'secret:crm', 'secret:crm@1', 'secret:crm.client-2@999999999'])(
    'may be %s',
    (text) => {
      expect(secretReference.safeParse(text).success).toBe(true);
    },
  );

  it.each([
    '',
    'crm',
    'env:',
    'env:1',
    'secret:',
    'secret:1',
    'secret:crm@',
    'secret:crm@0',
    'secret:crm@01',
    'secret:../x',
  ])('is not "%s"', (text) => {
    expect(secretReference.safeParse(text).success).toBe(false);
  });
});
