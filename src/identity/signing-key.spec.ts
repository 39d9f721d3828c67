import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, type JSONWebKeySet } from 'jose';
import { TokenSigner, newKeyPair } from './signing-key.js';

const TERMS = { issuer: 'i', audience: 'a', issuedAtSeconds: 1_700_000_000, lifetimeSeconds: 60 };

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-keys-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const mode = (file: string): number => statSync(file).mode & 0o777;

describe('a new key pair', () => {
  it('signs what its public half verifies, with the claims and terms that were asked for', async () => {
    const { privateFile, jwksFile } = await newKeyPair(join(dir, 'new'));
    const token = await (await TokenSigner.read(privateFile)).sign({ sub: 'x', roles: ['auditor'] }, TERMS);
    const keys = createLocalJWKSet(JSON.parse(readFileSync(jwksFile, 'utf8')) as JSONWebKeySet);
    const { payload, protectedHeader } = await jwtVerify(token, keys, { currentDate: new Date(1_700_000_030_000) });
    expect(payload).toEqual({
      jti: expect.stringMatching(/^[\w-]{22}$/) as unknown,
      sub: 'x',
      roles: ['auditor'],
      iss: 'i',
      aud: 'a',
      iat: 1_700_000_000,
      exp: 1_700_000_060,
    });
    expect(protectedHeader).toMatchObject({ alg: 'Ed25519', typ: 'at+jwt' });
  });

  it('has a private half that is its owner’s alone, and a public half without it', async () => {
    const { privateFile, jwksFile } = await newKeyPair(join(dir, 'new'));
    expect([mode(join(dir, 'new')), mode(privateFile)]).toEqual([0o700, 0o400]);
    const { d } = JSON.parse(readFileSync(privateFile, 'utf8')) as { d: string };
    expect(d.length).toBeGreaterThan(20);
    expect(readFileSync(jwksFile, 'utf8')).not.toContain(d);
    expect(inspect(await TokenSigner.read(privateFile), { depth: 5 })).not.toContain(d);
  });

  it.each(['private-key.json', 'public-keys.json'])('never replaces a %s', async (name) => {
    writeFileSync(join(dir, name), 'kept');
    await expect(newKeyPair(dir)).rejects.toMatchObject({ code: 'signing_key_exists' });
    expect(readFileSync(join(dir, name), 'utf8')).toBe('kept');
  });
});

describe('a key file', () => {
  const file = (): string => join(dir, 'key.jwk');
  const write = (content: unknown, fileMode = 0o600): void => {
    writeFileSync(file(), typeof content === 'string' ? content : JSON.stringify(content));
    chmodSync(file(), fileMode);
  };
  const privateJwk = async (alg: string): Promise<object> => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    return exportJWK(privateKey);
  };

  it.each([
    ['ES256', 'ES256'],
    ['ES384', 'ES384'],
    ['Ed25519', 'Ed25519'],
    ['RS256', 'RS256'],
  ])('of %s that names no algorithm signs with the one of its kind', async (alg, expected) => {
    write(await privateJwk(alg));
    expect((await TokenSigner.read(file())).algorithm).toBe(expected);
  });

  it.each([0o604, 0o644, 0o602, 0o620, 0o666])('of mode %o is refused', async (fileMode) => {
    write(await privateJwk('ES256'), fileMode);
    await expect(TokenSigner.read(file())).rejects.toMatchObject({ code: 'signing_key_unusable' });
  });

  it.each([0o400, 0o600, 0o440])('of mode %o is taken', async (fileMode) => {
    write(await privateJwk('ES256'), fileMode);
    await expect(TokenSigner.read(file())).resolves.toBeInstanceOf(TokenSigner);
  });

  it.each([
    ['is no JSON', 'sk_live_secret'],
    ['holds null', 'null'],
    ['holds a list', []],
    ['holds a public key', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }],
    ['holds a key of no known kind', { kty: 'ZZ', d: 'sk_live_secret' }],
    ['holds a damaged key', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA', d: 'sk_live_secret' }],
  ])('that %s is refused without a word of what it holds', async (_, content) => {
    write(content);
    const refusal = await TokenSigner.read(file()).catch((error: unknown) => error as Error);
    expect(refusal).toMatchObject({ code: 'signing_key_unusable' });
    expect((refusal as Error).message).not.toContain('sk_live');
  });

  it('that is not there is refused', async () => {
    await expect(TokenSigner.read(join(dir, 'none'))).rejects.toMatchObject({ code: 'signing_key_unusable' });
  });
});
