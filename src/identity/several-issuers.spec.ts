import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SignJWT, exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose';
import { ManualClock } from '../../test/builders/manual-clock.js';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { providerSchema } from '../config/identity-provider.schema.js';
import type { OutboundRequest, OutboundResult } from '../egress/outbound-request.js';
import type { TokenFacts } from './revocations.js';
import { TokenVerifier } from './token-verifier.js';

interface Signer {
  readonly key: CryptoKey;
  readonly jwk: JWK;
}

const NOW = Math.floor(Date.now() / 1000);
const LOCAL = 'https://issuer.example';
const evidence = { bytesWritten: true, headersFlushed: true, startedAtMs: 0, endedAtMs: 0 };

let dir: string;
let ours: Signer;
let corp: Signer;
let partner: Signer;
let clock: ManualClock;
let published: Map<string, readonly JWK[] | 'down' | 'nonsense'>;
let requests: string[];
let covered: (facts: TokenFacts) => boolean;
let onRevoked: () => void;
let verifier: TokenVerifier;

async function signer(kid: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair('Ed25519', { extractable: true });
  return { key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'Ed25519' } };
}

const provider = (name: string, more: object = {}) =>
  providerSchema.parse({
    name,
    issuer: `https://${name}.example`,
    audience: 'countersign',
    algorithms: ['Ed25519'],
    jwksUri: `https://${name}.example/jwks`,
    tenant: 'acme',
    rolesClaim: 'roles',
    ...more,
  });

const http = {
  send: async ({ url }: OutboundRequest): Promise<OutboundResult> => {
    requests.push(url);
    const keys = published.get(new URL(url).hostname);
    if (keys === undefined || keys === 'down') {
      return { kind: 'no_response', cause: 'timeout', evidence: { ...evidence, bytesWritten: false } };
    }
    const headers = { 'content-type': 'application/json' };
    return {
      kind: 'response',
      status: 200,
      headers,
      body: Buffer.from(keys === 'nonsense' ? '{}' : JSON.stringify({ keys })),
      bodyTruncated: false,
      evidence,
    };
  },
};

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'issuers-'));
  // The same key id everywhere: it must never decide whose key is used.
  [ours, corp, partner] = [await signer('k1'), await signer('k1'), await signer('k1')];
  writeFileSync(join(dir, 'jwks.json'), JSON.stringify({ keys: [ours.jwk] }));
});
afterAll(() => rmSync(dir, { recursive: true }));

beforeEach(() => {
  clock = new ManualClock(new Date(NOW * 1000).toISOString());
  published = new Map([
    ['corp.example', [corp.jwk]],
    ['partner.example', [partner.jwk]],
  ]);
  [requests, covered] = [[], () => false];
  const providers = [provider('corp'), provider('partner', { tokens: 'id', cooldownMs: 60_000 })];
  const { identity } = settingsWith({
    identity: { jwksFile: join(dir, 'jwks.json'), algorithms: ['Ed25519'], providers },
  });
  const revocations = {
    covers: (facts: TokenFacts) => covered(facts),
    onChange: (listener: () => void) => {
      onRevoked = listener;
    },
  };
  verifier = new TokenVerifier(identity, clock, { http, revocations });
});

function token(iss: string, by: Signer, claims: object = {}, header: object = {}): Promise<string> {
  return new SignJWT({ iss, aud: 'countersign', sub: 'u1', iat: NOW, exp: NOW + 600, roles: ['approver'], ...claims })
    .setProtectedHeader({ alg: 'Ed25519', typ: 'JWT', kid: 'k1', ...header })
    .sign(by.key);
}

const ofCorp = (claims: object = {}, header: object = {}): Promise<string> =>
  token('https://corp.example', corp, claims, header);
const refused = (code: string) => expect.objectContaining({ code });

describe('a token of one of several issuers', () => {
  it('is somebody below the prefix of its provider', async () => {
    expect(await verifier.verify(await ofCorp())).toMatchObject({
      tenant: 'acme',
      actor: { sub: 'corp:u1' },
      roles: ['approver'],
    });
    expect(await verifier.verify(await token('https://partner.example', partner))).toMatchObject({
      actor: { sub: 'partner:u1' },
    });
    expect(await verifier.verify(await token(LOCAL, ours, { tenant: 'acme' }))).toMatchObject({ actor: { sub: 'u1' } });
  });

  it('is held against the keys of the issuer it names alone, whatever key id it says', async () => {
    for (const [iss, by] of [
      [LOCAL, corp],
      ['https://corp.example', ours],
      ['https://corp.example', partner],
    ] as const) {
      await expect(verifier.verify(await token(iss, by, { tenant: 'acme' }))).rejects.toEqual(
        refused('unauthenticated'),
      );
    }
    requests = [];
    await expect(verifier.verify(await token('https://nobody.example', corp))).rejects.toEqual(
      refused('unauthenticated'),
    );
    expect(requests).toEqual([]);
  });

  it('cannot be a person of another provider, nor can our own issuer say that it is one', async () => {
    expect(await verifier.verify(await ofCorp({ sub: 'partner:u1' }))).toMatchObject({
      actor: { sub: 'corp:partner:u1' },
    });
    await expect(verifier.verify(await token(LOCAL, ours, { tenant: 'acme', sub: 'corp:u1' }))).rejects.toEqual(
      refused('unauthenticated'),
    );
    const agent = await token(LOCAL, ours, { tenant: 'acme', sub: 'corp:u1', act: { sub: 'bot' }, roles: ['harness'] });
    expect(await verifier.verify(agent)).toMatchObject({
      actor: { sub: 'corp:u1', act: { sub: 'bot' } },
      isAgent: true,
    });
  });

  it.each([
    ['an ID token where access tokens are meant', { nonce: 'n' }, {}],
    ['one with a hash of an access token', { at_hash: 'h' }, {}],
    ['a lease', {}, { typ: 'lease+jwt' }],
    ['one of no type', {}, { typ: undefined }],
  ])('is refused as %s', async (_, claims, header) => {
    await expect(verifier.verify(await ofCorp(claims, header))).rejects.toEqual(refused('unauthenticated'));
  });

  it('may be an ID token where the settings say so, and then no access token', async () => {
    const issuer = 'https://partner.example';
    expect(await verifier.verify(await token(issuer, partner, { nonce: 'n' }, { typ: undefined }))).toMatchObject({
      actor: { sub: 'partner:u1' },
    });
    await expect(verifier.verify(await token(issuer, partner, {}, { typ: 'at+jwt' }))).rejects.toEqual(
      refused('unauthenticated'),
    );
  });

  it('with a chain of agents that is too long is refused', async () => {
    const chain = (links: number): object => (links === 1 ? { sub: 'a' } : { sub: 'a', act: chain(links - 1) });
    expect(await verifier.verify(await ofCorp({ act: chain(4) }))).toMatchObject({ isAgent: true });
    await expect(verifier.verify(await ofCorp({ act: chain(5) }))).rejects.toEqual(refused('unauthenticated'));
  });
});

describe('a provider that cannot be reached', () => {
  it('makes its own tokens unusable with a code of its own, and nobody else’s', async () => {
    published.set('corp.example', 'down');
    await expect(verifier.verify(await ofCorp())).rejects.toEqual(refused('identity_provider_unavailable'));
    expect(await verifier.verify(await token('https://partner.example', partner))).toBeDefined();
    expect(await verifier.verify(await token(LOCAL, ours, { tenant: 'acme' }))).toBeDefined();
  });

  it('is not asked again at once, and serves as soon as it answers', async () => {
    published.set('corp.example', 'down');
    for (let n = 0; n < 50; n += 1) await verifier.verify(await ofCorp({ n })).catch(() => undefined);
    expect(requests).toHaveLength(1);
    published.set('corp.example', [corp.jwk]);
    clock.advance(5_000);
    expect(await verifier.verify(await ofCorp())).toBeDefined();
  });
});

describe('a provider that answers nonsense', () => {
  it('is asked once for any number of tokens that name it, and serves when its answer makes sense again', async () => {
    published.set('corp.example', 'nonsense');
    for (let n = 0; n < 50; n += 1) {
      await expect(verifier.verify(await ofCorp({ n }))).rejects.toEqual(refused('identity_provider_unavailable'));
    }
    expect(requests).toHaveLength(1);
    published.set('corp.example', [corp.jwk]);
    clock.advance(5_000);
    expect(await verifier.verify(await ofCorp())).toBeDefined();
  });
});

describe('the keys of a provider', () => {
  it('are asked for once, however many key ids are made up', async () => {
    await verifier.verify(await ofCorp());
    for (let n = 0; n < 50; n += 1) {
      await expect(verifier.verify(await ofCorp({}, { kid: `made-up-${n}` }))).rejects.toEqual(
        refused('unauthenticated'),
      );
    }
    expect(requests).toEqual(['https://corp.example/jwks']);
  });

  it('that are fetched anew end what was verified before', async () => {
    const text = await ofCorp();
    await verifier.verify(text);
    await verifier.verify(text);
    expect(requests).toHaveLength(1);
  });
});

describe('a revoked token', () => {
  it('that was verified before is refused from then on, by its id and all its subjects', async () => {
    const text = await ofCorp({ jti: 'tok-1', act: { sub: 'bot' } });
    await verifier.verify(text);
    const seen: TokenFacts[] = [];
    covered = (facts) => seen.push(facts) > 0;
    onRevoked();
    await expect(verifier.verify(text)).rejects.toEqual(refused('unauthenticated'));
    expect(seen).toEqual([{ jti: 'tok-1', issuedAt: NOW, tenant: 'acme', subjects: ['corp:u1', 'corp:bot'] }]);
  });
});
