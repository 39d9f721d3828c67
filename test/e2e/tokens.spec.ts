import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventCount } from '../support/event-records.js';
import { expectProblem } from '../support/http-client.js';
import { Stack } from '../support/stack.js';
import { ANOTHER, TokenForge, type Forgery } from '../support/token-forge.js';

const NOW = Math.floor(Date.now() / 1000);

let stack: Stack;
let forge: TokenForge;

beforeAll(async () => {
  stack = await Stack.start({ env: { COUNTERSIGN_IDENTITY__CLOCK_TOLERANCE_MS: '0' } });
  forge = new TokenForge(stack.signingDir);
});
afterAll(() => stack.destroy());

const wrong: readonly (readonly [string, () => string])[] = [
  ['has expired', () => make({ claims: { iat: NOW - 600, exp: NOW - 1 } })],
  ['never expires', () => make({ claims: { exp: undefined } })],
  ['expires at a text', () => make({ claims: { exp: String(NOW + 600) } })],
  ['lives for a month', () => make({ claims: { exp: NOW + 30 * 86_400 } })],
  ['was issued tomorrow', () => make({ claims: { iat: NOW + 86_400, exp: NOW + 86_500 } })],
  ['counts from tomorrow', () => make({ claims: { nbf: NOW + 86_400 } })],
  ['is for another audience', () => make({ claims: { aud: 'another-front' } })],
  ['is for this audience and another', () => make({ claims: { aud: ['countersign', 'another-front'] } })],
  ['is for nobody', () => make({ claims: { aud: undefined } })],
  ['is of another issuer', () => make({ claims: { iss: 'https://issuer.example.test.evil' } })],
  ['is unsigned', () => make({ header: { alg: 'none' }, signer: () => '' })],
  ['says none and carries a signature', () => make({ header: { alg: 'none' } })],
  ['says NONE', () => make({ header: { alg: 'NONE' }, signer: () => '' })],
  ['is signed with the public key as a secret', () => hmac('x')],
  ['is signed with the bytes of the public key as a secret', () => hmac('raw')],
  ['is signed with the text of the public key as a secret', () => hmac('jwk')],
  ['is signed by another key under a kid that is known', () => make({ signer: forge.byAnotherKey })],
  ['is signed by a key that is not known', () => make({ header: { kid: 'x' }, signer: forge.byAnotherKey })],
  ['names a kid that is not known', () => make({ header: { kid: '../../etc/passwd' } })],
  ['brings its own key', () => make({ header: { jwk: OWN_JWK, kid: undefined }, signer: forge.byAnotherKey })],
  ['says where its key is', () => make({ header: { jku: 'http://127.0.0.1:1/keys' }, signer: forge.byAnotherKey })],
  ['has an extension nobody knows', () => make({ header: { crit: ['exp2'], exp2: 1 } })],
  ['is of the type of a lease', () => make({ header: { typ: 'lease+jwt' } })],
  ['is of no type', () => make({ header: { typ: undefined } })],
  ['has no subject', () => make({ claims: { sub: undefined } })],
  ['has an empty subject', () => make({ claims: { sub: '' } })],
  ['has a subject with a line break', () => make({ claims: { sub: 'lena\n' } })],
  ['has no tenant', () => make({ claims: { tenant: undefined } })],
  ['has a tenant that walks through folders', () => make({ claims: { tenant: '../acme' } })],
  ['has a role nobody knows', () => make({ claims: { roles: ['approver', 'root'] } })],
  ['has its roles in a text', () => make({ claims: { roles: 'approver' } })],
  ['has no roles at all', () => make({ claims: { roles: undefined } })],
  ['has an act that is no actor', () => make({ claims: { act: 'support-agent' } })],
  ['says its roles twice', () => make({ rawClaims: doubled })],
  ['was changed after it was signed', () => tampered()],
  ['lost its signature', () => make({ signer: () => '' })],
];

const OWN_JWK = ANOTHER.publicKey.export({ format: 'jwk' });
const doubled = `{"iss":"https://issuer.example.test","aud":"countersign","iat":${NOW},"exp":${NOW + 3_600},"sub":"lena","tenant":"acme","roles":["auditor"],"roles":["operator"]}`;

const make = (forgery: Forgery): string => forge.make(forgery);
const hmac = (form: 'x' | 'raw' | 'jwk'): string =>
  make({ header: { alg: 'HS256' }, signer: forge.byPublicKeyAsSecret(form) });

function tampered(): string {
  const [head, , signature] = make({}).split('.');
  return [head, make({ claims: { roles: ['operator'] } }).split('.')[1], signature].join('.');
}

describe('a token', () => {
  it('that is right opens the door', async () => {
    expect((await stack.withToken(make({})).get('/v1/approvals')).status).toBe(200);
    expect((await stack.withToken(make({ header: { typ: 'JWT' } })).get('/v1/approvals')).status).toBe(200);
  });

  it.each(wrong)('that %s is refused with 401, on reading and on writing, and leaves no trace', async (_, forged) => {
    const token = forged();
    const before = eventCount(stack.dataDir);
    const client = stack.withToken(token);
    const answers = [
      await client.get('/v1/approvals'),
      await client.get('/v1/tool-calls/call_x'),
      await client.propose('order.read', { orderId: 'ord_1001' }),
      await client.post('/v1/approvals/apr_x/decision', { decision: 'allow', digest: `sha256:${'0'.repeat(64)}` }),
      await client.control({ type: 'pause', target: 'all' }),
    ];
    for (const answer of answers) {
      expectProblem(answer, 'unauthenticated');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      for (const part of token.split('.')) if (part.length > 8) expect(answer.text).not.toContain(part);
    }
    expect(eventCount(stack.dataDir)).toBe(before);
    expect(stack.output).not.toContain(token.split('.')[1]);
  });

  it('that was good is refused as soon as its time is over, although it was verified before', async () => {
    const now = Math.floor(Date.now() / 1000);
    const client = stack.withToken(make({ claims: { iat: now, exp: now + 2 } }));
    expect((await client.get('/v1/approvals')).status).toBe(200);
    await pause((now + 2) * 1000 + 50 - Date.now());
    expectProblem(await client.get('/v1/approvals'), 'unauthenticated');
  });

  it('in the address or in a cookie is none', async () => {
    const token = make({});
    const nobody = stack.withToken(null);
    expectProblem(await nobody.get(`/v1/approvals?access_token=${token}`), 'unauthenticated');
    expectProblem(await nobody.get('/v1/approvals', { headers: { cookie: `token=${token}` } }), 'unauthenticated');
  });
});
