import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  manifestText,
  parsedManifest,
  READ,
  SURROUNDINGS,
} from '../../test/contract/capabilities/manifest-examples.js';
import type { Changes } from '../../test/contract/capabilities/manifest-examples.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { CapabilityRegistry, loadCapabilities, manifestDigest } from './capability-registry.js';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'capabilities-'));
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

async function put(file: string, content: string | Uint8Array): Promise<void> {
  await writeFile(join(dir, file), content);
}

async function problemsOf(): Promise<readonly string[]> {
  try {
    await loadCapabilities(dir, SURROUNDINGS);
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'invalid_manifest') return error.details.problems ?? [];
    throw error;
  }
  throw new Error('nothing was refused');
}

function digestOf(changes: Changes): string {
  const parsed = parsedManifest(changes);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return manifestDigest(parsed.manifest);
}

describe('a capability registry', () => {
  it('holds what the folder holds, in order of name', async () => {
    await put('z.yaml', manifestText());
    await put('a.yaml', manifestText({ ...READ, name: 'order.read', version: '2.1.0' }));
    await put('README.md', 'not a manifest');
    await mkdir(join(dir, 'notes.yaml'));
    const registry = await loadCapabilities(dir, SURROUNDINGS);
    expect(registry.list().map(({ id }) => id)).toEqual(['order.read@2.1.0', 'refund.create@1.0.0']);
    expect(registry.get('order.read')?.manifest.effect).toBe('read_only');
  });

  it('resolves a name with and without its version and says which of the two is wrong', async () => {
    await put('a.yaml', manifestText());
    const registry = await loadCapabilities(dir, SURROUNDINGS);
    const refund = registry.get('refund.create');
    expect(registry.resolve('refund.create')).toBe(refund);
    expect(registry.resolve('refund.create@1.0.0')).toBe(refund);
    expect(
      ['refund.create@1.0.1', 'refund.create@', 'refund.create@1.0.0@1.0.0'].map((name) => registry.resolve(name)),
    ).toEqual(['capability_version_unknown', 'capability_version_unknown', 'capability_version_unknown']);
    expect(
      ['refund', 'Refund.create', 'refund.create ', '@1.0.0', '', 'toString', '__proto__'].map((name) =>
        registry.resolve(name),
      ),
    ).toEqual(Array.from({ length: 7 }, () => 'capability_unknown'));
  });

  it('is empty for an empty folder', async () => {
    expect((await loadCapabilities(dir, SURROUNDINGS)).list()).toEqual([]);
  });

  it('loads nothing unless everything is right, and reports the problems of all files together', async () => {
    await put('a.yaml', manifestText());
    await put('b.yaml', 'name: Bad\nrisk: high');
    await put('c.yaml', 'a: [');
    await put('d.yaml', manifestText({ name: 'other', timeout: 1 }));
    const problems = await problemsOf();
    expect(problems.filter((problem) => problem.startsWith('a.yaml'))).toEqual([]);
    expect(problems).toContainEqual(expect.stringMatching(/^b\.yaml:1 \/name: /));
    expect(problems).toContainEqual(expect.stringMatching(/^b\.yaml:1 \/connector: is missing/));
    expect(problems).toContainEqual(expect.stringMatching(/^c\.yaml:1 : YAML: /));
    expect(problems).toContainEqual(expect.stringMatching(/^d\.yaml:\d+ \/timeout: /));
  });

  it('has one version of each name in force', async () => {
    await put('a.yaml', manifestText());
    await put('b.yaml', manifestText({ version: '1.1.0' }));
    await put('c.yaml', manifestText({ title: 'again' }));
    expect(await problemsOf()).toEqual([
      'b.yaml /name: a.yaml has another version of this name, and one version of a name is in force at a time',
      'c.yaml /name: a.yaml has this name and version too',
    ]);
    const parsed = parsedManifest();
    if (!parsed.ok) throw new Error('refused');
    const twice = { manifest: parsed.manifest, id: 'x', manifestDigest: 'x', input: parsed.input, output: null };
    expect(() => new CapabilityRegistry([twice, twice])).toThrow('one name');
  });

  it.each(['a.yml', 'a.json', 'a.YML'])('does not pass over %s in silence', async (file) => {
    await put(file, manifestText());
    expect(await problemsOf()).toEqual([`${file}: would not be read: manifests end in .yaml`]);
  });

  it.each<[string, string | Uint8Array]>([
    ['bytes that are no UTF-8', new Uint8Array([0x6e, 0x3a, 0x20, 0xff])],
    ['a byte order mark', `\ufeff${manifestText()}`],
    ['a text that is too large', `# ${'x'.repeat(300_000)}\n${manifestText()}`],
  ])('refuses %s', async (_, content) => {
    await put('a.yaml', content);
    expect(await problemsOf()).toEqual([expect.stringContaining('a.yaml: must be a readable UTF-8 text')]);
  });

  it('says so when the folder is missing', async () => {
    await expect(loadCapabilities(join(dir, 'none'), SURROUNDINGS)).rejects.toMatchObject({ code: 'invalid_manifest' });
  });

  it('gives out capabilities that nobody can change', async () => {
    await put('a.yaml', manifestText());
    const capability = (await loadCapabilities(dir, SURROUNDINGS)).get('refund.create');
    const manifest = capability?.manifest as unknown as {
      risk: string;
      connector: { request: { headers: Record<string, string> } };
    };
    expect(() => (manifest.risk = 'low')).toThrow(TypeError);
    expect(() => (manifest.connector.request.headers['x'] = 'y')).toThrow(TypeError);
    expect(() => ((capability as unknown as { manifestDigest: string }).manifestDigest = 'x')).toThrow(TypeError);
  });

  it('compiles both schemas', async () => {
    await put('a.yaml', manifestText({ outputSchema: { type: 'object', required: ['id'] } }));
    const capability = (await loadCapabilities(dir, SURROUNDINGS)).get('refund.create');
    expect(capability?.input.effectiveArguments({ orderId: 'o', amountMinor: 1 })).toMatchObject({
      ok: true,
      arguments: { currency: 'EUR' },
    });
    expect(capability?.output?.checkResult({}).ok).toBe(false);
  });
});

describe('the digest of a manifest', () => {
  it('is a SHA-256 in the form of every other digest', () => {
    expect(digestOf({})).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('does not depend on the order of keys, on comments, or on how a default or duration is spelled', async () => {
    const reversed = (value: unknown): unknown =>
      typeof value !== 'object' || value === null || Array.isArray(value)
        ? value
        : Object.fromEntries(
            Object.entries(value)
              .toReversed()
              .map(([key, child]) => [key, reversed(child)]),
          );
    await put('a.yaml', `# a comment\n${JSON.stringify(reversed(JSON.parse(manifestText())))}`);
    const loaded = (await loadCapabilities(dir, SURROUNDINGS)).get('refund.create');
    expect(loaded?.manifestDigest).toBe(digestOf({}));
    expect(digestOf({ timeout: '30s', concurrency: 16, redact: [] })).toBe(digestOf({}));
    expect(digestOf({ connector: { baseUrl: 'https://PAYMENTS.example.com:443/api/' } })).toBe(digestOf({}));
  });

  it.each<[string, Changes]>([
    ['the description', { description: 'Something else.' }],
    ['a description in the schema', { inputSchema: { properties: { note: { description: 'bcc too' } } } }],
    ['a new argument', { inputSchema: { properties: { bcc: { type: 'string' } } } }],
    ['the version', { version: '1.0.1' }],
    ['the risk', { risk: 'critical' }],
    ['a default', { inputSchema: { properties: { currency: { default: 'USD' } } } }],
    ['the address', { connector: { baseUrl: 'https://evil.example.com/api' } }],
    ['the path', { connector: { request: { path: '/v2/refunds' } } }],
    ['a header', { connector: { request: { headers: { 'x-a': 'b' } } } }],
    ['what is redacted', { redact: ['/note'] }],
    ['the timeout', { timeout: '29s' }],
    ['the probe', { probe: { absenceIsProof: false } }],
  ])('changes with %s', (_, changes) => {
    expect(digestOf(changes)).not.toBe(digestOf({}));
  });
});
