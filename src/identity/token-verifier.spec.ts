import { createHmac, createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK, exportSPKI, generateKeyPair, type JWK } from 'jose';
import { ManualClock } from '../../test/builders/manual-clock.js';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { TokenVerifier } from './token-verifier.js';

const START = '2031-01-01T10:00:00.000Z';
const NOW = Date.parse(START) / 1000;
const CLAIMS = {
  iss: 'https://issuer.example',
  aud: 'countersign',
  sub: 'alice',
  tenant: 'acme',
  roles: ['approver'],
  iat: NOW,
  exp: NOW + 600,
};

interface KeyPair {
  readonly key: KeyObject;
  readonly jwk: JWK;
  readonly pem: string;
}

let dir: string;
let ours: KeyPair;
let second: KeyPair;
let theirs: KeyPair;
let clock: ManualClock;
let verifier: TokenVerifier;

async function keyPair(kid: string): Promise<KeyPair> {
  const { publicKey, privateKey } = await generateKeyPair('Ed25519', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const key = createPrivateKey({ key: (await exportJWK(privateKey)) as Record<string, string>, format: 'jwk' });
  return { key, jwk: { ...jwk, kid, alg: 'EdDSA', use: 'sig' }, pem: await exportSPKI(publicKey) };
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'keys-'));
  [ours, second, theirs] = [await keyPair('key-1'), await keyPair('key-2'), await keyPair('key-9')];
});

afterAll(() => {
  rmSync(dir, { recursive: true });
});

beforeEach(() => {
  publish(ours, second);
  clock = new ManualClock(START);
  verifier = verifierWith();
});

const file = (): string => join(dir, 'jwks.json');

function publish(...keys: readonly { readonly jwk: object }[]): void {
  writeFileSync(file(), JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
}

function verifierWith(more: { tokenCacheMax?: number; algorithms?: readonly string[] } = {}): TokenVerifier {
  return new TokenVerifier(settingsWith({ identity: { jwksFile: file(), ...more } }).identity, clock);
}

const encoded = (text: string): string => Buffer.from(text).toString('base64url');

/** A compact JWS over exactly these texts, so that a test can write what a JSON library would not. */
function signed(header: string, payload: string, key = ours.key): string {
  const input = `${encoded(header)}.${encoded(payload)}`;
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}

function token(claims: object = {}, header: object = {}, key = ours.key): string {
  const all = { alg: 'EdDSA', typ: 'at+jwt', kid: 'key-1', ...header };
  return signed(JSON.stringify(all), JSON.stringify({ ...CLAIMS, ...claims }), key);
}

async function refusal(text: string): Promise<string> {
  try {
    await verifier.verify(text);
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'unauthenticated') return error.message;
    throw error;
  }
  return 'accepted';
}

describe('verifying a bearer token', () => {
  it('answers who is calling', async () => {
    expect(await verifier.verify(token())).toMatchObject({ tenant: 'acme', actor: { sub: 'alice' } });
  });

  it.each(['at+jwt', 'application/at+jwt', 'JWT', 'AT+JWT'])('takes the type %s', async (typ) => {
    expect(await refusal(token({}, { typ }))).toBe('accepted');
  });

  it('takes a token of each key of the set by its id', async () => {
    expect(await refusal(token({}, { kid: 'key-2' }, second.key))).toBe('accepted');
  });

  it('takes an audience that is a list of this one alone', async () => {
    expect(await refusal(token({ aud: ['countersign'] }))).toBe('accepted');
  });

  it.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'somebody-else' }],
    ['this audience beside another', { aud: ['countersign', 'somebody-else'] }],
    ['no issuer', { iss: undefined }],
    ['no audience', { aud: undefined }],
    ['no subject', { sub: undefined }],
    ['no exp', { exp: undefined }],
    ['no iat', { iat: undefined }],
    ['exp as text', { exp: String(NOW + 600) }],
    ['exp of 1e300', { exp: 1e300 }],
    ['an exp that has passed', { iat: NOW - 700, exp: NOW - 6 }],
    ['an iat in the future', { iat: NOW + 60 }],
    ['an nbf in the future', { nbf: NOW + 60 }],
    ['a lifetime that is too long', { exp: NOW + 43_201 }],
  ])('refuses %s', async (_, claims) => {
    expect(await refusal(token(claims))).not.toBe('accepted');
  });

  it.each([
    ['a lease', { typ: 'lease+jwt' }],
    ['no type', { typ: undefined }],
    ['a type that is no text', { typ: 7 }],
    ['an unknown key id', { kid: 'key-3' }],
    ['the key id of another key', { kid: 'key-2' }],
    ['no key id where the set has several keys', { kid: undefined }],
    ['an extension nobody knows', { crit: ['x-new'], 'x-new': 1 }],
    ['a payload that is not encoded', { crit: ['b64'], b64: false }],
    ['an algorithm that is not listed', { alg: 'ES256' }],
  ])('refuses %s in the header', async (_, header) => {
    expect(await refusal(token({}, header))).not.toBe('accepted');
  });

  it('refuses alg none, with and without a signature', async () => {
    const [header, payload] = [JSON.stringify({ alg: 'none', typ: 'JWT' }), JSON.stringify(CLAIMS)];
    expect(await refusal(`${encoded(header)}.${encoded(payload)}.`)).not.toBe('accepted');
    expect(await refusal(signed(header, payload))).not.toBe('accepted');
  });

  it('refuses a token that is signed with the public key as a shared secret', async () => {
    for (const secret of [ours.pem, ours.jwk.x as string, Buffer.from(ours.jwk.x as string, 'base64url')]) {
      const input = `${encoded('{"alg":"HS256","typ":"JWT","kid":"key-1"}')}.${encoded(JSON.stringify(CLAIMS))}`;
      const mac = createHmac('sha256', secret).update(input).digest('base64url');
      expect(await refusal(`${input}.${mac}`)).not.toBe('accepted');
    }
  });

  it('never takes a key from the token', async () => {
    const jwk = { ...theirs.jwk, kid: 'key-1' };
    expect(await refusal(token({}, { jwk, kid: 'key-1' }, theirs.key))).not.toBe('accepted');
    expect(await refusal(token({}, { jwk, kid: 'key-9' }, theirs.key))).not.toBe('accepted');
    expect(await refusal(token({}, { jku: 'https://evil.example/jwks', kid: 'key-9' }, theirs.key))).not.toBe(
      'accepted',
    );
  });

  it('refuses a token of which anything was changed after signing', async () => {
    const [header, payload, signature] = token().split('.') as [string, string, string];
    const other = encoded(JSON.stringify({ ...CLAIMS, roles: ['operator'] }));
    expect(await refusal(`${header}.${other}.${signature}`)).not.toBe('accepted');
    expect(await refusal(`${header}.${payload}.${signature.slice(0, -4)}AAAA`)).not.toBe('accepted');
    expect(await refusal(`${header}.${payload}.`)).not.toBe('accepted');
  });

  it('refuses duplicate keys, which two readers would read differently', async () => {
    const claims = JSON.stringify(CLAIMS);
    const header = '{"alg":"EdDSA","typ":"at+jwt","kid":"key-1"}';
    expect(await refusal(signed(`{"typ":"lease+jwt",${header.slice(1)}`, claims))).not.toBe('accepted');
    expect(await refusal(signed(header, `{"roles":["operator"],${claims.slice(1)}`))).not.toBe('accepted');
    expect(await refusal(signed(header, claims))).toBe('accepted');
  });

  it.each(['', '.', '..', 'a.b', 'a.b.c', 'a.b.c.d', 'e30.e30.'])('refuses the text "%s"', async (text) => {
    expect(await refusal(text)).not.toBe('accepted');
  });

  it('refuses dots too many around a good token', async () => {
    for (const text of [`${token()}.`, `.${token()}`, `${token()}.x`, token().replace('.', '..')])
      expect(await refusal(text)).not.toBe('accepted');
  });

  it('refuses a payload that is no object', async () => {
    const header = '{"alg":"EdDSA","typ":"at+jwt","kid":"key-1"}';
    for (const payload of ['[]', 'null', '"x"', '1', '', '{'])
      expect(await refusal(signed(header, payload))).not.toBe('accepted');
  });

  it('refuses 70 kB before anything looks into them', async () => {
    expect(await refusal('x'.repeat(70_000))).toBe('the token is too long');
    expect(await refusal(token({ filler: 'x'.repeat(70_000) }))).toBe('the token is too long');
  });

  it('tolerates the configured difference of clocks and no more', async () => {
    clock.moveTo('2031-01-01T10:10:04.000Z');
    expect(await refusal(token())).toBe('accepted');
    clock.moveTo('2031-01-01T10:10:05.000Z');
    expect(await refusal(token())).toBe('the token has expired');
  });

  it('never repeats anything of the token', async () => {
    for (const text of [
      token({ sub: 'hunter 2' }),
      token({ iss: 'hunter2' }),
      token({}, { kid: 'hunter2' }),
      token({}, { typ: 'hunter2' }),
      'hunter2',
    ])
      expect(await refusal(text)).not.toContain('hunter');
  });
});

describe('a verified token', () => {
  it('is kept until it expires and is refused then', async () => {
    const text = token();
    const caller = await verifier.verify(text);
    publish(theirs);
    expect(await verifier.verify(text)).toBe(caller);
    clock.moveTo('2031-01-01T10:10:05.000Z');
    expect(await refusal(text)).toBe('the token has expired');
  });

  it('is not kept where the settings keep none', async () => {
    verifier = verifierWith({ tokenCacheMax: 0 });
    const text = token();
    expect(await verifier.verify(text)).not.toBe(await verifier.verify(text));
  });

  it('makes room for newer ones', async () => {
    verifier = verifierWith({ tokenCacheMax: 1 });
    const [first, next] = [token(), token({ sub: 'bob' })];
    const caller = await verifier.verify(first);
    const newer = await verifier.verify(next);
    expect(await verifier.verify(next)).toBe(newer);
    expect(await verifier.verify(first)).not.toBe(caller);
  });

  it('is forgotten when the keys are read again', async () => {
    const text = token();
    await verifier.verify(text);
    publish(theirs);
    verifier.reloadKeys();
    expect(await refusal(text)).toBe('the token is signed with an unknown key');
  });

  it('is not kept when the keys changed while it was being verified', async () => {
    const text = token();
    const under = verifier.verify(text);
    publish(theirs);
    verifier.reloadKeys();
    await under.catch(() => undefined);
    expect(await refusal(text)).toBe('the token is signed with an unknown key');
  });
});

describe('a key set', () => {
  it.each([
    ['is missing', null],
    ['is not JSON', 'keys'],
    ['is empty', '{"keys":[]}'],
    ['is no set', '{}'],
    ['holds a shared secret', '{"keys":[{"kty":"oct","k":"aHVudGVyMg"}]}'],
    ['holds a private key', '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","d":"aHVudGVyMg"}]}'],
  ])('that %s stops the start without repeating anything of it', (_, text) => {
    if (text === null) rmSync(file());
    else writeFileSync(file(), text);
    let thrown: unknown;
    try {
      verifierWith();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: 'invalid_settings',
      details: { problems: [expect.stringMatching(/^identity\.jwksFile: /)] },
    });
    expect(String(thrown)).not.toContain('aHVudGVyMg');
  });

  it.each(['null', '{"keys":[null]}', '{"keys":[7]}'])('that is %s is refused as settings, not as a crash', (text) => {
    writeFileSync(file(), text);
    expect(() => verifierWith()).toThrow(CountersignError);
  });

  it('that cannot be read again leaves the old keys in force', async () => {
    writeFileSync(file(), 'half a fi');
    expect(() => verifier.reloadKeys()).toThrow('cannot be read');
    expect(await refusal(token())).toBe('accepted');
  });
});
