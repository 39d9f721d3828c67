import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseDocument, isMap, isScalar, type YAMLMap } from 'yaml';
import { z } from 'zod';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { Environment } from './environment.js';
import { loadSettings } from './load-settings.js';
import { settingsSchema } from './settings.schema.js';
import type { Settings } from './settings.js';

const REQUIRED = `
identity:
  issuer: https://issuer.example
  audience: countersign
  algorithms: [EdDSA]
  jwksFile: jwks.json
`;
const DEFAULT_FILE = fileURLToPath(new URL('../../config/default.yaml', import.meta.url));

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'settings-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

function load(yaml: string, environment: Environment = {}): Settings {
  const file = join(dir, 'countersign.yaml');
  writeFileSync(file, yaml);
  return loadSettings({ file, environment });
}

function problemsWith(yaml: string, environment: Environment = {}): readonly string[] {
  try {
    load(yaml, environment);
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'invalid_settings') return error.details.problems ?? [];
    throw error;
  }
  return [];
}

describe('loading the settings', () => {
  it('takes the shipped defaults where the operator says nothing', () => {
    const settings = load(REQUIRED);
    expect(settings.http.host).toBe('127.0.0.1');
    expect(settings.execution.recordSentAfterMs).toBe(50);
    expect(settings.identity.issuer).toBe('https://issuer.example');
  });

  it('lets a file override single keys and leaves their neighbours alone', () => {
    const settings = load(`${REQUIRED}\nhttp:\n  port: 9000\n`);
    expect(settings.http).toMatchObject({ port: 9000, host: '127.0.0.1', bodyBytesMax: 1_048_576 });
  });

  it('lets the environment override the file, nested and in camel case, with lists as JSON', () => {
    const settings = load(`${REQUIRED}\nhttp:\n  port: 9000\n  bodyBytesMax: 2048\n`, {
      COUNTERSIGN_HTTP__PORT: '9001',
      COUNTERSIGN_HTTP__BODY_BYTES_MAX: '4096',
      COUNTERSIGN_IDENTITY__ALGORITHMS: '["ES256","RS256"]',
      COUNTERSIGN_SHUTDOWN_GRACE_MS: '5',
    });
    expect(settings.http).toMatchObject({ port: 9001, bodyBytesMax: 4096 });
    expect(settings.identity.algorithms).toEqual(['ES256', 'RS256']);
    expect(settings.shutdownGraceMs).toBe(5);
  });

  it('replaces a list as a whole instead of mixing two', () => {
    const settings = load(REQUIRED, { COUNTERSIGN_IDENTITY__ALGORITHMS: '["RS256"]' });
    expect(settings.identity.algorithms).toEqual(['RS256']);
  });

  it('is frozen at every depth', () => {
    const settings = load(REQUIRED);
    const open = (value: unknown): boolean =>
      typeof value === 'object' && value !== null && (!Object.isFrozen(value) || Object.values(value).some(open));
    expect(open(settings)).toBe(false);
  });

  it('reads relative paths from the folder of the file that names them', () => {
    mkdirSync(join(dir, 'deeper'));
    const settings = load(`${REQUIRED}\ndataDir: deeper/data\nstorage:\n  keyFile: ../key.json\n`);
    expect(settings.dataDir).toBe(join(dir, 'deeper/data'));
    expect(settings.identity.jwksFile).toBe(join(dir, 'jwks.json'));
    expect(settings.storage.keyFile).toBe(join(dirname(dir), 'key.json'));
    expect(settings.policy.dir).toBe(join(dirname(DEFAULT_FILE), 'policies'));
  });

  it('reads the file of a secret from the folder of the settings that name it', () => {
    const settings = load(
      `${REQUIRED}\ncredentials:\n  payments: { secret: 'file:secrets/payments', header: authorization, scheme: null }\n`,
    );
    expect(settings.credentials['payments']).toMatchObject({ secret: `file:${join(dir, 'secrets/payments')}` });
  });
});

describe('settings that cannot be used', () => {
  it('have no default for who may come in', () => {
    const problems = problemsWith('');
    for (const key of ['issuer', 'audience', 'algorithms', 'jwksFile'])
      expect(problems.filter((problem) => problem.startsWith(`identity.${key}: missing; required: `))).toHaveLength(1);
    expect(problems).toHaveLength(4);
  });

  it('are reported all at once, each with its key, the kind found and what would be right', () => {
    const problems = problemsWith(
      `${REQUIRED}
http: { port: eighty, bodyBytesMax: 1 }
log: { level: loud }
execution: { maxInFlight: [], authorizedTtlMs: null, resumeAuthorized: { when: now } }
limits: { pageMax: 5000 }
installation: { publicUrl: true }
`,
    );
    expect(problems.toSorted()).toEqual([
      'execution.authorizedTtlMs: found null; required: number',
      'execution.maxInFlight: found a list; required: number',
      expect.stringMatching(/^execution\.resumeAuthorized: found a map; required: one of automatic, on_control$/),
      'http.bodyBytesMax: found a number; required: at least 1024',
      'http.port: found text; required: number',
      'installation.publicUrl: found a boolean; required: string',
      'limits.pageMax: found a number; required: at most 1000',
      expect.stringMatching(/^log\.level: found text; required: one of fatal, error, warn, info, debug$/),
    ]);
  });

  it('never repeat a value', () => {
    const yaml = `${REQUIRED}
installation: { publicUrl: 'hunter2-url' }
credentials: { payments: { secret: hunter2-secret, header: 'Hunter2 Header', scheme: 'hunter2 scheme' } }
upstreams: { pay: hunter2-upstream }
log: { level: hunter2-level }
policy: { approverGroups: ['hunter2 group'] }
`;
    const problems = problemsWith(yaml, { COUNTERSIGN_HTTP__PORT: 'hunter2-port' });
    expect(problems).toHaveLength(8);
    expect(problems.join('\n')).not.toMatch(/hunter2/i);
  });

  it.each(['HS256', 'HS512', 'none', 'A128KW', 'dir'])('name the symmetric or empty algorithm %s', (algorithm) => {
    expect(problemsWith(REQUIRED.replace('EdDSA', `EdDSA, ${algorithm}`))).toEqual([
      expect.stringMatching(/^identity\.algorithms\.1: found text; required: one of Ed25519, EdDSA/),
    ]);
  });

  it('have at least one algorithm', () => {
    expect(problemsWith(REQUIRED.replace('[EdDSA]', '[]'))).toEqual([
      'identity.algorithms: found a list; required: at least 1',
    ]);
  });

  it.each([
    ['a key nobody knows', `${REQUIRED}\nhtpp: { port: 1 }`, 'htpp: unknown setting'],
    ['a key of a section nobody knows', `${REQUIRED}\nhttp: { prot: 1 }`, 'http.prot: unknown setting'],
    ['a section that is no map', `${REQUIRED}\nhttp: 7411`, 'http: found a number; required: object'],
  ])('are refused for %s', (_, yaml, problem) => {
    expect(problemsWith(yaml)).toEqual([problem]);
  });

  it('are refused for a variable with our prefix that is no setting', () => {
    const problems = problemsWith(REQUIRED, {
      COUNTERSIGN_HTTP__PROT: '1',
      COUNTERSIGN_DEBUG: '1',
      COUNTERSIGN_HTTP____PORT: '1',
      OTHER_DEBUG: '1',
    });
    expect(problems.toSorted()).toEqual([
      'COUNTERSIGN_HTTP____PORT: not the name of a setting',
      'debug: unknown setting',
      'http.prot: unknown setting',
    ]);
  });

  it('say the file and line of YAML that cannot be read, and nothing of its text', () => {
    const problems = problemsWith(`${REQUIRED}\nhttp: { port: hunter2\nhttp: {}\n`);
    expect(problems.some((problem) => /countersign\.yaml: [A-Z_]+ at line \d+$/.test(problem))).toBe(true);
    expect(problems.join('\n')).not.toContain('hunter2');
  });

  it('refuse a key that is written twice', () => {
    expect(problemsWith(`${REQUIRED}\nhttp: { port: 1, port: 2 }`)).toContainEqual(
      expect.stringMatching(/countersign\.yaml: DUPLICATE_KEY at line \d+$/),
    );
  });

  it('name a file that cannot be read', () => {
    const file = join(dir, 'missing.yaml');
    expect(() => loadSettings({ file, environment: {} })).toThrow(`${file}: cannot be read`);
  });

  it('are refused where the file is a list', () => {
    expect(problemsWith('- 1')).toContainEqual(expect.stringMatching(/must be a map of settings$/));
  });

  it.each([
    ['a file', `${REQUIRED}\nhttp:\n  __proto__: { polluted: 1 }\n`, {}],
    ['a variable', REQUIRED, { COUNTERSIGN_HTTP: '{"__proto__":{"polluted":1}}' }],
  ])('are refused for the key __proto__ of %s, and nothing else in the process changes', (_, yaml, environment) => {
    try {
      expect(problemsWith(yaml, environment)).toEqual([expect.stringMatching(/__proto__/)]);
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    } finally {
      delete (Object.prototype as { polluted?: number }).polluted;
    }
  });
});

describe('the shipped defaults', () => {
  const document = parseDocument(readFileSync(DEFAULT_FILE, 'utf8'));

  /** Every key with the comment directly above it; the first key of a section carries none of the section's. */
  function* keys(
    map: YAMLMap,
    path: readonly string[],
  ): Generator<{ path: string; documented: boolean; leaf: boolean }> {
    for (const [index, pair] of map.items.entries()) {
      const key = pair.key;
      if (!isScalar(key)) throw new Error('a key is text');
      const at = [...path, String(key.value)];
      const above = key.commentBefore ?? (index === 0 ? map.commentBefore : null);
      const leaf = !isMap(pair.value) || pair.value.items.length === 0;
      yield { path: at.join('.'), documented: typeof above === 'string' && above.trim() !== '', leaf };
      if (isMap(pair.value)) yield* keys(pair.value, at);
    }
  }

  function* schemaKeys(schema: z.ZodType, path: readonly string[]): Generator<string> {
    if (!(schema instanceof z.ZodObject)) return yield path.join('.');
    for (const [key, inner] of Object.entries(schema.shape)) yield* schemaKeys(inner as z.ZodType, [...path, key]);
  }

  it('document every setting in a comment above it', () => {
    const all = [...keys(document.contents as YAMLMap, [])];
    expect(all.filter(({ leaf, documented }) => leaf && !documented).map(({ path }) => path)).toEqual([]);
  });

  it('have a value for every setting but the four that let people in', () => {
    const written = new Set([...keys(document.contents as YAMLMap, [])].map(({ path }) => path));
    expect([...schemaKeys(settingsSchema, [])].filter((key) => !written.has(key))).toEqual([
      'identity.issuer',
      'identity.audience',
      'identity.algorithms',
      'identity.jwksFile',
    ]);
  });
});
