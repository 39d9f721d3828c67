import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair } from 'jose';
import { credentialSchema } from '../../../src/config/credential.schema.js';
import { providerSchema } from '../../../src/config/identity-provider.schema.js';
import type { CredentialSettings } from '../../../src/config/settings.js';
import { HttpClient } from '../../../src/egress/http-client.js';
import { TokenVerifier } from '../../../src/identity/token-verifier.js';
import { Credentials } from '../../../src/secrets/credentials.js';
import { UpstreamCredentials } from '../../../src/secrets/upstream/upstream-credentials.js';
import { SystemClock } from '../../../src/system/clock.js';
import { Logger } from '../../../src/system/logger.js';
import { settingsWith } from '../../builders/settings-examples.js';
import { AuthorizationServer, CLIENT_SECRET, SUBJECT_TOKEN } from '../../support/authorization-server.js';

/** Keeps what it is told, to be searched. */
class KeptLog extends Logger {
  readonly lines: string[] = [];
  override error(...line: unknown[]): void {
    this.lines.push(JSON.stringify(line));
  }
  override warn(...line: unknown[]): void {
    this.lines.push(JSON.stringify(line));
  }
  override info(): void {}
  override debug(): void {}
}

const NAMES = { SPEC_CLIENT_SECRET: CLIENT_SECRET, SPEC_SUBJECT_TOKEN: SUBJECT_TOKEN };
const clock = new SystemClock();
const http = new HttpClient();

let dir: string;
let server: AuthorizationServer;
let log: KeptLog;

beforeAll(async () => {
  Object.assign(process.env, NAMES);
  dir = mkdtempSync(join(tmpdir(), 'openid-'));
  const { publicKey } = await generateKeyPair('Ed25519', { extractable: true });
  writeFileSync(
    join(dir, 'jwks.json'),
    JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'Ed25519' }] }),
  );
  server = await AuthorizationServer.start();
});
afterAll(async () => {
  await server.stop();
  await http.destroy();
  for (const name of Object.keys(NAMES)) delete process.env[name];
  rmSync(dir, { recursive: true });
});
beforeEach(async () => {
  log = new KeptLog();
  await server.be('serve');
  await server.requests();
});

describe('people of a real OpenID provider', () => {
  const verifier = (more: object = {}): TokenVerifier => {
    const provider = providerSchema.parse({
      name: 'corp',
      issuer: server.issuer,
      audience: 'countersign',
      algorithms: ['RS256'],
      tenant: 'acme',
      groupsClaim: 'groups',
      groups: { 'Finance Leads': 'finance' },
      rolesByGroup: { 'Finance Leads': ['approver'] },
      allowAddresses: ['loopback'],
      cooldownMs: 200,
      timeoutMs: 500,
      ...more,
    });
    const { identity } = settingsWith({ identity: { jwksFile: join(dir, 'jwks.json'), providers: [provider] } });
    return new TokenVerifier(identity, clock, {
      http,
      revocations: { covers: () => false, onChange: () => undefined },
    });
  };

  it('are known by discovery, with groups of ours, and its keys are fetched once', async () => {
    const verify = verifier();
    const token = await server.personToken('u-77', { groups: ['Finance Leads', 'Everybody'] });
    await server.requests();
    const caller = await Promise.all([1, 2, 3].map(() => verify.verify(token)));
    expect(caller[0]).toEqual({
      tenant: 'acme',
      actor: { sub: 'corp:u-77' },
      roles: ['approver'],
      groups: ['finance'],
      agentOwner: null,
      isAgent: false,
    });
    expect(await server.requests()).toEqual(['GET /.well-known/openid-configuration', 'GET /jwks']);
  });

  it('stay known when its keys are rotated while both run, and old tokens do not', async () => {
    const verify = verifier();
    const before = await server.personToken('u-77', {});
    await verify.verify(before);
    await server.rotate();
    const after = await server.personToken('u-77', {});
    await new Promise((resolve) => setTimeout(resolve, 250));
    await expect(verify.verify(after)).resolves.toMatchObject({ actor: { sub: 'corp:u-77' } });
    await expect(verify.verify(before)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('are refused for another audience, another algorithm and a provider of another address', async () => {
    const token = await server.personToken('u-77', {});
    await expect(verifier({ audience: 'other' }).verify(token)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(verifier({ algorithms: ['ES256'] }).verify(token)).rejects.toMatchObject({ code: 'unauthenticated' });
    const walled = verifier({ allowAddresses: ['private'] }).verify(token);
    await expect(walled).rejects.toMatchObject({ code: 'identity_provider_unavailable' });
  });

  it.each(['hang', 'fail'] as const)('are turned away with 503 when it does nothing but %s', async (mode) => {
    const token = await server.personToken('u-77', {});
    await server.be(mode);
    await expect(verifier().verify(token)).rejects.toMatchObject({ code: 'identity_provider_unavailable' });
  });
});

describe('a credential of a real authorization server', () => {
  function upstream(more: object): { credentials: Credentials; upstream: UpstreamCredentials } {
    const credential = credentialSchema.parse({
      kind: 'oauth_client_credentials',
      issuer: server.issuer,
      clientId: 'countersign',
      clientSecret: 'env:SPEC_CLIENT_SECRET',
      scope: 'tickets.write',
      allowAddresses: ['loopback'],
      timeoutMs: 500,
      ...more,
    }) as CredentialSettings;
    const settings = settingsWith({ credentials: { crm: credential } });
    const credentials = new Credentials(settings);
    return { credentials, upstream: new UpstreamCredentials(settings, credentials, http, clock, log) };
  }
  const soon = (): number => clock.monotonic() + 5_000;
  const tokenIn = (credentials: Credentials): string =>
    (credentials.header('crm').reveal()['authorization'] ?? '').replace('Bearer ', '');

  it('is fetched by client credentials, used, known to its end, and good no more once it is revoked', async () => {
    const { credentials, upstream: crm } = upstream({});
    expect(credentials.find('crm')).toBeNull();
    expect(await Promise.all([crm.ready('crm', soon()), crm.ready('crm', soon())])).toEqual([true, true]);
    const token = tokenIn(credentials);
    expect(await server.isActive(token)).toBe(true);
    expect((await server.requests()).filter((request) => request === 'POST /token')).toHaveLength(1);
    const lifeMs = Date.parse(crm.expiresAt('crm') ?? '') - Date.now();
    expect(Math.abs(lifeMs - 120_000)).toBeLessThan(5_000);
    expect(credentials.scrub(`you sent ${token}, that is ${Buffer.from(token).toString('base64')}`)).not.toContain(
      token,
    );
    expect(await crm.revoke('crm')).toBe('revoked');
    expect(await server.isActive(token)).toBe(false);
    expect([credentials.find('crm'), crm.expiresAt('crm'), await crm.revoke('crm')]).toEqual([null, null, 'not_held']);
  });

  it('is exchanged for a token that is configured', async () => {
    const exchange = { kind: 'token_exchange', subjectToken: 'env:SPEC_SUBJECT_TOKEN', audience: 'files' };
    const { credentials, upstream: crm } = upstream({ ...exchange, clientAuth: 'post' });
    expect(await crm.ready('crm', soon())).toBe(true);
    expect(await server.isActive(tokenIn(credentials))).toBe(true);
  });

  it.each([
    [
      'an exchange that is refused',
      { kind: 'token_exchange', subjectToken: 'env:SPEC_SUBJECT_TOKEN', audience: 'x' },
      'invalid_target',
    ],
    ['a client that is not known', { clientId: 'nobody' }, 'invalid_client'],
    ['an address that may not be reached', { allowAddresses: ['private'] }, 'server_address_refused'],
    ['a token URL where nobody is', { issuer: null, tokenUrl: 'http://127.0.0.1:9/token' }, 'server_connect_failed'],
  ])('is not to be had after %s, for a reason that says nothing of a secret', async (_, more, problem) => {
    const { credentials, upstream: crm } = upstream(more);
    expect(await crm.ready('crm', soon())).toBe(false);
    expect(credentials.find('crm')).toBeNull();
    expect(log.lines).toEqual([JSON.stringify(['a credential could not be fetched', { credential: 'crm', problem }])]);
  });

  it('is waited for no longer than the call has time', async () => {
    const { upstream: crm } = upstream({ timeoutMs: 3_000 });
    await server.be('hang');
    const startedAt = clock.monotonic();
    expect(await crm.ready('crm', startedAt + 100)).toBe(false);
    expect(clock.monotonic() - startedAt).toBeLessThan(2_000);
    await server.be('serve');
  });
});
