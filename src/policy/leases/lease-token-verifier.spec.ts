import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { CompactEncrypt, CompactSign, SignJWT } from 'jose';
import { LeaseTokenVerifier } from './lease-token-verifier.js';

const NOW = Date.parse('2031-01-01T10:00:00.000Z');
const SECONDS = NOW / 1000;
const ISSUER = 'countersign:test';
const AUDIENCE = 'https://tool.example';
const KID = 'a'.repeat(24);
const ours = generateKeyPairSync('ed25519');
const theirs = generateKeyPairSync('ed25519');
const { x } = ours.publicKey.export({ format: 'jwk' });

type Json = Record<string, unknown>;

const CLAIMS: Json = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'alice',
  act: { sub: 'agent-7' },
  jti: 'lse_01jz0q6k3v5m8x2c4d7f9h1k3n',
  iat: SECONDS,
  nbf: SECONDS,
  exp: SECONDS + 60,
  txn: 'call_01jz0q6k3v5m8x2c4d7f9h1k3n',
  attempt: 1,
  env: 'prod',
  cap: 'refund.create',
  cap_v: '1.0.0',
  args_h: 'sha256:args',
  scope: 'refund:create',
  max_uses: 1,
};
const HEADER = { alg: 'Ed25519', typ: 'lease+jwt', kid: KID };

const b64 = (text: string): string => Buffer.from(text).toString('base64url');
const text = (value: unknown): string => b64(JSON.stringify(value));
const verifier = new LeaseTokenVerifier({
  issuer: ISSUER,
  keyOf: (kid) => (kid === KID ? ours.publicKey : null),
  now: () => NOW,
});

/** Signs whatever is in the segments, as somebody with a key could. */
async function signed(header: Json, claims: Json | string = CLAIMS, key: KeyObject = ours.privateKey): Promise<string> {
  const payload = typeof claims === 'string' ? claims : JSON.stringify(claims);
  const { crit, b64: unencoded, ...rest } = header as Json & { alg: string };
  if (crit === undefined && unencoded === undefined) {
    return new CompactSign(Buffer.from(payload)).setProtectedHeader(rest as never).sign(key);
  }
  const input = `${text(header)}.${b64(payload)}`;
  const { sign } = await import('node:crypto');
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}

const without = (name: string): Json => Object.fromEntries(Object.entries(CLAIMS).filter(([key]) => key !== name));
const hs256 = (secret: string): string => {
  const input = `${text({ ...HEADER, alg: 'HS256' })}.${text(CLAIMS)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
};

let good = '';
beforeAll(async () => {
  good = await new SignJWT(CLAIMS).setProtectedHeader(HEADER).sign(ours.privateKey);
});

const pem = ours.publicKey.export({ type: 'spki', format: 'pem' }) as string;
const lastBitsAltered = (): string => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(good.at(-1) as string);
  return `${good.slice(0, -1)}${alphabet[last ^ 1] as string}`;
};
const jwe = (): Promise<string> =>
  new CompactEncrypt(Buffer.from(JSON.stringify(CLAIMS)))
    .setProtectedHeader({ alg: 'PBES2-HS256+A128KW', enc: 'A128GCM', kid: KID, typ: 'lease+jwt' })
    .setKeyManagementParameters({ p2c: 1000 })
    .encrypt(Buffer.from('secret'))
    .then((token) => {
      const [header = '', ...rest] = token.split('.');
      const parsed = JSON.parse(Buffer.from(header, 'base64url').toString()) as Json;
      return [text({ ...parsed, p2c: 2_000_000_000 }), ...rest].join('.');
    });

/** X27, one line each. */
const ATTACKS: readonly (readonly [string, () => Promise<string> | string])[] = [
  ['alg none', () => `${text({ alg: 'none', typ: 'lease+jwt', kid: KID })}.${text(CLAIMS)}.`],
  ['alg none with our signature', () => `${text({ ...HEADER, alg: 'none' })}.${good.split('.').slice(1).join('.')}`],
  ['HS256 with the public key as secret, as PEM', () => hs256(pem)],
  ['HS256 with the public key as secret, as its coordinate', () => hs256(x ?? '')],
  ['another name of the algorithm', () => signed({ ...HEADER, alg: 'EdDSA' })],
  ['a JWE with a huge p2c', jwe],
  ['an unknown kid', () => signed({ ...HEADER, kid: 'b'.repeat(24) })],
  ['an odd kid', () => signed({ ...HEADER, kid: '../../etc/passwd' })],
  ['a kid that is no text', () => signed({ ...HEADER, kid: 7 as unknown as string })],
  ['no kid', () => signed({ alg: 'Ed25519', typ: 'lease+jwt' })],
  ['a key of somebody else', () => signed(HEADER, CLAIMS, theirs.privateKey)],
  [
    'an embedded jwk',
    () => signed({ ...HEADER, jwk: theirs.publicKey.export({ format: 'jwk' }) }, CLAIMS, theirs.privateKey),
  ],
  ['an embedded jku', () => signed({ ...HEADER, jku: 'https://evil.example/jwks' })],
  ['an embedded x5u', () => signed({ ...HEADER, x5u: 'https://evil.example/cert' })],
  ['no exp', () => signed(HEADER, without('exp'))],
  ['no aud', () => signed(HEADER, without('aud'))],
  ['no jti', () => signed(HEADER, without('jti'))],
  ['a jti that names no lease', () => signed(HEADER, { ...CLAIMS, jti: 'lse_' })],
  ['aud as an array', () => signed(HEADER, { ...CLAIMS, aud: [AUDIENCE] })],
  ['another audience', () => signed(HEADER, { ...CLAIMS, aud: 'https://other.example' })],
  ['another issuer', () => signed(HEADER, { ...CLAIMS, iss: 'countersign:other' })],
  ['exp as a text', () => signed(HEADER, { ...CLAIMS, exp: String(SECONDS + 60) })],
  ['exp of 1e300', () => signed(HEADER, JSON.stringify(CLAIMS).replace(`"exp":${SECONDS + 60}`, '"exp":1e300'))],
  ['exp beyond the longest lease', () => signed(HEADER, { ...CLAIMS, exp: SECONDS + 301 })],
  ['exp with a fraction', () => signed(HEADER, { ...CLAIMS, exp: SECONDS + 59.5 })],
  ['iat in the future', () => signed(HEADER, { ...CLAIMS, iat: SECONDS + 30 })],
  ['nbf in the future', () => signed(HEADER, { ...CLAIMS, nbf: SECONDS + 30 })],
  ['a wrong typ', () => signed({ ...HEADER, typ: 'at+jwt' })],
  ['no typ', () => signed({ alg: 'Ed25519', kid: KID })],
  ['an unknown crit', () => signed({ ...HEADER, crit: ['exp-strict'], 'exp-strict': true })],
  ['b64 false', () => signed({ ...HEADER, crit: ['b64'], b64: false })],
  [
    'duplicate header keys',
    () => {
      const header = b64(`{"alg":"Ed25519","alg":"none","typ":"lease+jwt","kid":"${KID}"}`);
      return `${header}.${good.split('.').slice(1).join('.')}`;
    },
  ],
  ['duplicate claims', () => signed(HEADER, JSON.stringify(CLAIMS).replace('{', '{"scope":"refund:create admin",'))],
  ['an extra dot', () => `${good}.`],
  ['a dot in front', () => `.${good}`],
  ['a blank inside', () => good.replace('.', '. ')],
  ['a blank at the end', () => `${good} `],
  ['padding', () => `${good}==`],
  ['altered trailing bits of the signature', lastBitsAltered],
  [
    'another payload under our signature',
    () => {
      const [header = '', , signature = ''] = good.split('.');
      return `${header}.${text({ ...CLAIMS, scope: 'admin' })}.${signature}`;
    },
  ],
  ['70 KB', () => `${good}${'A'.repeat(70_000)}`],
  ['nothing', () => ''],
];

describe('a lease token', () => {
  it('of ours is read, for its audience', async () => {
    expect(await verifier.verify(good, AUDIENCE)).toEqual({ ok: true, claims: CLAIMS });
    expect(await verifier.verify(good, null)).toEqual({ ok: true, claims: CLAIMS });
  });

  it.each(ATTACKS)('with %s is refused before anybody looks for a lease [X27, P-07]', async (_, token) => {
    expect(await verifier.verify(await token(), AUDIENCE)).toMatchObject({
      ok: false,
      code: 'lease_signature_invalid',
    });
  });

  it('that has expired says so [K-38]', async () => {
    const old = await signed(HEADER, { ...CLAIMS, iat: SECONDS - 100, nbf: SECONDS - 100, exp: SECONDS - 40 });
    expect(await verifier.verify(old, AUDIENCE)).toMatchObject({ ok: false, code: 'lease_expired' });
  });

  it('is never repeated by a refusal', async () => {
    for (const [, token] of ATTACKS) {
      const made = await token();
      const refused = await verifier.verify(made, AUDIENCE);
      expect(JSON.stringify(refused)).not.toContain(made === '' ? KID : made.slice(0, 40));
    }
  });
});
