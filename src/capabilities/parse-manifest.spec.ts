import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  manifestText,
  parsedManifest,
  pointersWith,
  problemsWith,
  READ,
  SURROUNDINGS,
} from '../../test/contract/capabilities/manifest-examples.js';
import type { Changes } from '../../test/contract/capabilities/manifest-examples.js';
import type { Manifest } from './manifest.js';
import { parseManifest } from './parse-manifest.js';

function manifestWith(changes: Changes = {}): Manifest {
  const parsed = parsedManifest(changes);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.manifest;
}

describe('a manifest', () => {
  it('is read with every default filled in and every duration in milliseconds', () => {
    expect(manifestWith()).toMatchObject({
      name: 'refund.create',
      version: '1.0.0',
      outputSchema: null,
      connector: {
        kind: 'http',
        baseUrl: 'https://payments.example.com/api',
        allowAddresses: [],
        credential: null,
        request: { method: 'POST', path: '/v1/refunds', query: {}, headers: {}, body: '{args}' },
        responseBytesMax: 262_144,
      },
      idempotency: {
        header: 'Idempotency-Key',
        argument: null,
        keyLengthMax: 255,
        keyRetentionMs: 86_400_000,
        callerKeyTemplate: null,
      },
      probe: { attemptsMax: 12, budgetMs: 600_000, visibilityDelayMs: 1_000, pendingWhen: [], referenceAt: null },
      definitiveStatus: [400, 401, 403, 404, 405, 410, 422],
      rejectedBeforeExecutionStatus: [],
      pending: null,
      timeoutMs: 30_000,
      quiesceMs: 5_000,
      onAmbiguous: 'reconcile',
      lateResult: 'none',
      retryRejected: true,
      redact: [],
      personal: [],
      concurrency: 16,
      ratePerSecond: null,
    });
    expect(Object.keys(manifestWith()).filter((key) => /^(?:timeout|quiesce)$/.test(key))).toEqual([]);
    expect(JSON.stringify(manifestWith())).not.toMatch(/"(?:timeout|quiesce|budget|visibilityDelay|keyRetention)"/);
  });

  it('is the same however its durations and headers are spelled', () => {
    const words = manifestWith({ timeout: '2s', quiesce: '1m', connector: { request: { headers: { 'X-A': 'b' } } } });
    expect(
      manifestWith({ timeout: 2_000, quiesce: 60_000, connector: { request: { headers: { 'x-a': 'b' } } } }),
    ).toEqual(words);
  });

  it('takes the address of an upstream from the settings', () => {
    const upstream = { connector: { baseUrl: 'upstream:payments', allowAddresses: ['loopback'] } };
    expect(manifestWith(upstream).connector.baseUrl).toBe('http://127.0.0.1:7412/api');
    expect(pointersWith({ connector: { baseUrl: 'upstream:other' } })).toEqual(['/connector/baseUrl']);
  });

  it('needs no probe, key or word about ambiguity for a plain read', () => {
    expect(manifestWith(READ)).toMatchObject({ effect: 'read_only', probe: null, onAmbiguous: 'reconcile' });
  });

  it('leaves a status that was rejected before execution out of the default definitive ones', () => {
    expect(manifestWith({ rejectedBeforeExecutionStatus: [422, 429] }).definitiveStatus).toEqual([
      400, 401, 403, 404, 405, 410,
    ]);
  });

  it.each(['name', 'version', 'title', 'description', 'inputSchema', 'risk', 'effect', 'connector'])(
    'needs %s',
    (key) => {
      expect(problemsWith({ [key]: undefined })).toContainEqual(
        expect.stringMatching(new RegExp(`^/${key}: is missing: `)),
      );
    },
  );

  it('refuses unknown keys everywhere, so that a typing error is never silently a default', () => {
    const found = pointersWith({
      idempotencyy: {},
      annotations: { readOnlyHint: true },
      connector: { extra: 1, request: { body: '{args}', cookies: {} } },
      idempotency: { headers: 'x' },
      probe: { absenceIsproof: true },
      pending: { status: [202], referenceAt: '/id', body: {} },
    });
    expect(found.toSorted()).toEqual(
      [
        '/idempotencyy',
        '/annotations',
        '/connector/extra',
        '/connector/request/cookies',
        '/idempotency/headers',
        '/probe/absenceIsproof',
        '/pending/body',
      ].toSorted(),
    );
  });

  it.each<[string, unknown]>([
    ['name', 'Refund'],
    ['name', 'refund..create'],
    ['name', '.refund'],
    ['name', 'refund.'],
    ['name', '1refund'],
    ['name', 'refund-create'],
    ['name', 'refund@1'],
    ['name', 'refund create'],
    ['name', 'refund\n'],
    ['name', 'r'.repeat(65)],
    ['name', '__proto__'],
    ['name', 5],
    ['version', '1'],
    ['version', '1.0'],
    ['version', 'v1.0.0'],
    ['version', '01.0.0'],
    ['version', '1.0.0@2'],
    ['version', `1.0.0-${'a'.repeat(30)}`],
    ['version', 1.1],
    ['title', ''],
    ['title', 'a\nb'],
    ['title', 'a\u202eb'],
    ['description', 'a\u200bb'],
    ['description', ''],
    ['inputSchema', 'x'],
    ['inputSchema', []],
    ['outputSchema', true],
    ['risk', 'HIGH'],
    ['risk', 'none'],
    ['effect', 'write'],
    ['effect', 'readonly'],
    ['timeout', 99],
    ['timeout', '25d'],
    ['timeout', '1 s'],
    ['timeout', -1],
    ['timeout', 'soon'],
    ['quiesce', 0],
    ['quiesce', '2h'],
    ['onAmbiguous', 'retry'],
    ['lateResult', 'webhook'],
    ['retryRejected', 'no'],
    ['concurrency', 0],
    ['concurrency', 1.5],
    ['ratePerSecond', 0],
    ['ratePerSecond', -1],
  ])('refuses %s: %p', (key, value) => {
    expect(pointersWith({ [key]: value })).toContain(`/${key}`);
  });

  it.each(['1.0.0', '0.0.1', '12.34.56', '1.0.0-rc.1'])('takes the version %s', (version) => {
    expect(manifestWith({ version }).version).toBe(version);
  });

  it.each<[string, Changes]>([
    ['/connector/kind', { kind: 'mcp' }],
    ['/connector/request/method', { request: { method: 'TRACE' } }],
    ['/connector/request/method', { request: { method: 'post' } }],
    ['/connector/responseBytesMax', { responseBytesMax: 0 }],
    ['/connector/responseBytesMax', { responseBytesMax: 2 ** 30 }],
    ['/connector/request/path', { request: { path: undefined } }],
  ])('refuses %s: %p', (pointer, connector) => {
    expect(pointersWith({ connector })).toContain(pointer);
  });

  it.each([0, 26, 256, 30.5])(
    'refuses a tool whose keys have at most %p characters: ours would not be unique or not fit',
    (keyLengthMax) => {
      expect(pointersWith({ idempotency: { keyLengthMax } })).toEqual(['/idempotency/keyLengthMax']);
    },
  );

  it('lists every problem at once, each with its place and line, unreadable keys not hiding others', () => {
    const text = [
      'name: Refund Create',
      'version: 1.0',
      'title: x',
      'description: x',
      'risk: high',
      'effect: opaque',
      'timeout: 1ms',
      'inputSchema:',
      '  type: object',
      '  properties:',
      '    a: {type: string, format: hostname}',
      'connector:',
      '  kind: http',
      '  baseUrl: http://example.com',
      '  request: {method: POST, path: v1, headers: {Host: x}}',
      'redact: [x]',
      'surprise: 1',
    ].join('\n');
    const parsed = parseManifest(text, SURROUNDINGS);
    const found = parsed.ok ? [] : parsed.problems.map(({ pointer, line }) => `${line} ${pointer}`);
    expect(found.toSorted()).toEqual(
      [
        '17 /surprise',
        '1 /name',
        '2 /version',
        '7 /timeout',
        '16 /redact/0',
        '11 /inputSchema/properties/a/format',
        '8 /inputSchema/additionalProperties',
        '1 /onAmbiguous',
        '14 /connector/baseUrl',
        '15 /connector/request/path',
        '15 /connector/request/headers/Host',
      ].toSorted(),
    );
  });

  it.each(['', 'null', '[]', '5', 'text', '- a', '# only a comment'])('is no %p', (text) => {
    const parsed = parseManifest(text, SURROUNDINGS);
    expect(parsed.ok).toBe(false);
  });

  it('keeps a large integer exact or refuses it', () => {
    const text = manifestText().replace('"minimum": 1', '"minimum": 9007199254740993');
    expect(text).toContain('9007199254740993');
    const parsed = parseManifest(text, SURROUNDINGS);
    expect(parsed.ok ? [] : parsed.problems.map(({ pointer }) => pointer)).toEqual([
      '/inputSchema/properties/amountMinor/minimum',
    ]);
  });

  it('never throws, whatever stands in the place of a value', () => {
    const places = [
      'name',
      'inputSchema',
      'outputSchema',
      'connector',
      'idempotency',
      'probe',
      'pending',
      'redact',
      'timeout',
      'definitiveStatus',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue({ maxDepth: 3 }), (key, value) => {
        expect(typeof parsedManifest({ [key]: value }).ok).toBe('boolean');
      }),
      { numRuns: 100 },
    );
    const inside = fc.constantFrom('request', 'baseUrl', 'allowAddresses', 'credential');
    fc.assert(
      fc.property(inside, fc.jsonValue({ maxDepth: 3 }), (key, value) => {
        expect(typeof parsedManifest({ connector: { [key]: value } }).ok).toBe('boolean');
      }),
      { numRuns: 100 },
    );
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(typeof parsedManifest({ inputSchema: { properties: { x: value }, $defs: { d: value } } }).ok).toBe(
          'boolean',
        );
      }),
      { numRuns: 100 },
    );
  });
});
