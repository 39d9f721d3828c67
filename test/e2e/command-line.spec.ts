import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { countersign, launch } from '../support/command-line.js';
import { Client } from '../support/http-client.js';
import { until } from '../support/until.js';

const EXAMPLE = fileURLToPath(new URL('../../examples/refunds/', import.meta.url));

let dir: string;
const running: ReturnType<typeof launch>[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill('SIGKILL');
    await child.ended;
  }
  rmSync(dir, { recursive: true, force: true });
});

/** Settings of an installation below the folder of the test, as a file. */
function config(more: Readonly<Record<string, unknown>> = {}): string {
  const file = join(dir, 'countersign.yaml');
  const settings = {
    installation: { operatorTenant: 'acme' },
    dataDir: 'data',
    http: { port: 0 },
    identity: {
      issuer: 'https://issuer.example.test',
      audience: 'countersign',
      algorithms: ['Ed25519'],
      jwksFile: 'keys/public-keys.json',
    },
    capabilities: { dir: join(EXAMPLE, 'capabilities') },
    policy: { dir: join(EXAMPLE, 'policies'), approverGroups: ['support-lead'] },
    storage: { keyFile: 'data/keys/kek.json' },
    credentials: { payments: { secret: 'env:PAYMENTS_KEY', header: 'authorization', scheme: 'Bearer' } },
    upstreams: { payments: 'http://127.0.0.1:9' },
    ...more,
  };
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

const ENV = { PAYMENTS_KEY: 'cli-provider-key' };

/** Starts a server that stays; answers what it printed so far and its address. */
async function serving(args: readonly string[]): Promise<{ child: ReturnType<typeof launch>; url: string }> {
  const child = launch(args, ENV);
  running.push(child);
  const line = await until(
    'the server listens',
    () => child.out() + child.err(),
    (text) => text.includes('"msg":"listening"') || text.includes('invalid'),
    30_000,
  );
  const url = /"url":"([^"]+)"/.exec(line)?.[1];
  if (url === undefined) throw new Error(`it did not start: ${line}`);
  return { child, url };
}

describe('the program', () => {
  it('runs the golden cases of the refund family as the document says', async () => {
    const settings = join(EXAMPLE, '../policies/countersign.yaml');
    const family = join(EXAMPLE, 'policies-full');
    expect(await countersign(['policy', 'test', '--config', settings, '--dir', family])).toEqual({
      code: 0,
      out: '28 passed, 0 failed\n',
      err: '',
    });
  });

  it('says its versions, for people and as JSON', async () => {
    const json = await countersign(['version', '--json']);
    expect(json.code).toBe(0);
    expect(json.out.trim().split('\n')).toHaveLength(1);
    const versions = JSON.parse(json.out) as Record<string, unknown>;
    const { version } = JSON.parse(readFileSync(join(EXAMPLE, '../../package.json'), 'utf8')) as { version: string };
    expect(versions).toEqual({
      version,
      schema: expect.any(Number),
      node: process.versions.node,
      sqlite: expect.stringMatching(/^3\.\d+\.\d+$/),
    });
    const words = await countersign(['--version']);
    expect(words.out).toBe(
      `countersign ${version} (schema ${String(versions['schema'])}, Node ${process.versions.node}, SQLite ${String(versions['sqlite'])})\n`,
    );
  });

  it('refuses what it does not know with 2 and starts nothing', async () => {
    for (const args of [[], ['run'], ['start', '--confg', 'x'], ['start', 'now'], ['migrate', '--check=no']]) {
      expect({ args, code: (await countersign(args)).code }).toEqual({ args, code: 2 });
    }
  });

  it('takes its settings from --config before COUNTERSIGN_CONFIG, and says what is wrong with them', async () => {
    const given = await countersign(['start', '--config', join(dir, 'none.yaml')], { COUNTERSIGN_CONFIG: config() });
    expect(given).toMatchObject({ code: 1, out: '' });
    expect(given.err).toContain('invalid_settings: ');
    expect(given.err).toContain('none.yaml: cannot be read');
  });
});

describe('countersign token', () => {
  const sign = (...more: string[]) =>
    countersign([
      'token',
      '--config',
      join(dir, 'countersign.yaml'),
      '--key',
      join(dir, 'keys/private-key.json'),
      ...more,
    ]);
  beforeEach(async () => {
    config();
    const made = await countersign(['token', '--new-key', join(dir, 'keys')]);
    expect(made).toMatchObject({ code: 0, out: '' });
  });
  const secretPart = (): string =>
    (JSON.parse(readFileSync(join(dir, 'keys/private-key.json'), 'utf8')) as { d: string }).d;

  it('prints a token that a server with these settings takes, alone on stdout, and never the key', async () => {
    const { url } = await serving(['start', '--config', join(dir, 'countersign.yaml')]);
    const harness = await sign('--sub', 'sam', '--act', 'support-agent', '--roles', 'harness', '--ttl', '10m');
    expect(harness.code).toBe(0);
    expect(harness.out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(harness.err).toMatch(/^signed for sam \(harness\) in tenant acme, good until 20\d\d-/);
    expect(harness.out + harness.err).not.toContain(secretPart());
    const asked = await new Client(() => url, harness.out.trim()).propose(
      'refund.create',
      { orderId: 'ord_1', amountMinor: 7_500 },
      { wait: 0 },
    );
    expect(asked.body).toMatchObject({ waitingFor: 'approval' });
    const lead = await sign('--sub', 'lena', '--roles', 'approver', '--groups', 'support-lead', '--ttl', '10m');
    const shown = await new Client(() => url, lead.out.trim()).get<{ items: unknown[] }>(
      '/v1/approvals?status=pending',
    );
    expect(shown.body.items).toHaveLength(1);
  });

  it.each([
    ['a role that does not exist', ['--sub', 'x', '--roles', 'king'], 'token_refused'],
    ['a life longer than the settings allow', ['--sub', 'x', '--roles', 'auditor', '--ttl', '13h'], 'token_refused'],
    ['a tenant that is no name', ['--sub', 'x', '--roles', 'auditor', '--tenant', 'a b'], 'token_refused'],
  ])('gives none out for %s', async (_, args, code) => {
    const refused = await sign(...args);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(new RegExp(`^${code}: `));
  });

  it.each([
    ['nobody', ['--roles', 'auditor']],
    ['no role', ['--sub', 'x']],
    ['a time that is none', ['--sub', 'x', '--roles', 'auditor', '--ttl', 'soon']],
  ])('is wrong for %s', async (_, args) => {
    expect(await sign(...args)).toMatchObject({ code: 2, out: '' });
  });

  it('gives none out that is signed with a key the installation does not know', async () => {
    await countersign(['token', '--new-key', join(dir, 'other')]);
    const refused = await countersign(
      ['token', '--config', join(dir, 'countersign.yaml'), '--key', join(dir, 'other/private-key.json')].concat([
        '--sub',
        'x',
        '--roles',
        'auditor',
      ]),
    );
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain(
      'token_refused: the installation would refuse it: the token is signed with an unknown key',
    );
  });

  it('uses no key file that others can read, and replaces none', async () => {
    chmodSync(join(dir, 'keys/private-key.json'), 0o644);
    const refused = await sign('--sub', 'x', '--roles', 'auditor');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/^signing_key_unusable: /);
    const before = secretPart();
    expect(await countersign(['token', '--new-key', join(dir, 'keys')])).toMatchObject({ code: 1, out: '' });
    expect(secretPart()).toBe(before);
  });
});

describe('countersign dev', () => {
  const exported = (out: string): Readonly<Record<string, string>> =>
    Object.fromEntries([...out.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]));

  it('prints tokens for every part, with which the whole story can be played', async () => {
    const { child, url } = await serving(['dev', '--config', config()]);
    await until('the tokens are printed', child.out, (out) => out.includes('export AUDITOR='));
    const tokens = exported(child.out());
    expect(Object.keys(tokens)).toEqual(['CS', 'HARNESS', 'LENA', 'OMAR', 'OPERATOR', 'AUDITOR']);
    expect(tokens['CS']).toBe(url);
    const as = (name: string): Client => new Client(() => url, tokens[name] as string);
    const asked = await as('HARNESS').propose('refund.create', { orderId: 'ord_1', amountMinor: 7_500 }, { wait: 0 });
    const approvalId = asked.body.approval?.approvalId as string;
    expect((await as('LENA').decide(approvalId, 'allow')).status).toBe(200);
    expect((await as('OMAR').approval(approvalId)).status).toBe(200);
    expect((await as('AUDITOR').get('/v1/events')).status).toBe(200);
    expect((await as('OPERATOR').get('/v1/tool-calls')).status).toBe(200);
    child.kill('SIGTERM');
    expect(await child.ended).toBe(0);
  });

  it('keeps its key below the data directory, private, and uses it again', async () => {
    const first = await serving(['dev', '--config', config()]);
    const key = join(dir, 'data/dev-keys/private-key.json');
    expect(statSync(key).mode & 0o777).toBe(0o400);
    const { LENA } = exported(
      first.child.out() + (await until('tokens', first.child.out, (out) => out.includes('AUDITOR='))),
    );
    first.child.kill('SIGTERM');
    await first.child.ended;
    expect(first.child.out()).not.toContain((JSON.parse(readFileSync(key, 'utf8')) as { d: string }).d);
    const second = await serving(['dev', '--config', config()]);
    expect((await new Client(() => second.url, LENA as string).get('/v1/approvals')).status).toBe(200);
  });

  it('takes no token of the real issuer of its settings', async () => {
    const file = config();
    await countersign(['token', '--new-key', join(dir, 'keys')]);
    const key = join(dir, 'keys/private-key.json');
    const { out } = await countersign(['token', '--config', file, '--key', key, '--sub', 'x', '--roles', 'auditor']);
    const { url } = await serving(['dev', '--config', file]);
    expect((await new Client(() => url, out.trim()).get('/v1/events')).status).toBe(401);
  });

  it.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])('does not listen on %s', async (host) => {
    const refused = await countersign(['dev', '--config', config({ http: { host, port: 0 } })], ENV);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/^not_loopback: /);
  });
});
