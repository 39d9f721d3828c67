import type { Capability } from '../../../src/capabilities/manifest.js';
import type { ManifestSurroundings } from '../../../src/capabilities/manifest-rules.js';
import { parseManifest } from '../../../src/capabilities/parse-manifest.js';
import type { ParsedManifest } from '../../../src/capabilities/parse-manifest.js';

/** A merge patch (RFC 7396), with undefined in place of null to remove a key, since null is a value here. */
export type Changes = { readonly [key: string]: unknown };

export const SURROUNDINGS: ManifestSurroundings = {
  upstreams: { payments: 'http://127.0.0.1:7412/api' },
  credentials: { payments: { header: 'authorization' }, keyed: { header: 'x-api-key' } },
};

const REFUND = {
  name: 'refund.create',
  version: '1.0.0',
  title: 'Refund an order',
  description: 'Pays back a part or all of an order.',
  risk: 'high',
  effect: 'probeable',
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['orderId', 'amountMinor'],
    properties: {
      orderId: { type: 'string', minLength: 1, maxLength: 64 },
      amountMinor: { type: 'integer', minimum: 1 },
      currency: { type: 'string', pattern: '^[A-Z]{3}$', default: 'EUR' },
      note: { type: 'string', maxLength: 200 },
      cardToken: { type: 'string' },
      tags: { type: 'array', maxItems: 5, items: { type: 'string' } },
      customer: {
        type: 'object',
        required: ['id'],
        properties: { id: { type: 'string' }, email: { type: 'string' }, tier: { type: 'string', default: 'basic' } },
      },
    },
  },
  connector: {
    kind: 'http',
    baseUrl: 'https://payments.example.com/api',
    request: { method: 'POST', path: '/v1/refunds', body: '{args}' },
  },
  idempotency: { header: 'Idempotency-Key', keyRetention: '24h' },
  probe: {
    strategy: 'query_by_idempotency_key',
    request: { method: 'GET', path: '/v1/refunds', query: { key: '{downstreamKey}' } },
    foundAt: '/data',
    statusAt: '/status',
    happenedWhen: ['succeeded'],
    failedWhen: ['failed'],
    visibilityDelay: '1s',
    absenceIsProof: true,
  },
  onAmbiguous: 'reconcile',
} as const;

/** The text of a manifest that is right, with changes. Every JSON text is YAML. */
export function manifestText(changes: Changes = {}): string {
  return JSON.stringify(patched(REFUND, changes), null, 2);
}

export function parsedManifest(changes: Changes = {}, surroundings = SURROUNDINGS): ParsedManifest {
  return parseManifest(manifestText(changes), surroundings);
}

/** `pointer: message` of everything wrong with the changed manifest. */
export function problemsWith(changes: Changes, surroundings = SURROUNDINGS): readonly string[] {
  const parsed = parsedManifest(changes, surroundings);
  return parsed.ok ? [] : parsed.problems.map(({ pointer, message }) => `${pointer}: ${message}`);
}

/** Where something is wrong with the changed manifest. */
export function pointersWith(changes: Changes, surroundings = SURROUNDINGS): readonly string[] {
  const parsed = parsedManifest(changes, surroundings);
  return parsed.ok ? [] : parsed.problems.map(({ pointer }) => pointer);
}

/** The changed manifest in force. Throws with its problems when it has any. */
export function capabilityWith(changes: Changes = {}, surroundings = SURROUNDINGS): Capability {
  const parsed = parsedManifest(changes, surroundings);
  if (!parsed.ok) throw new Error(problemsWith(changes, surroundings).join('\n'));
  const { manifest, input, output } = parsed;
  return {
    manifest,
    id: `${manifest.name}@${manifest.version}`,
    manifestDigest: `sha256:${'0'.repeat(64)}`,
    input,
    output,
  };
}

/** Changes that make the manifest a plain read of one order. */
export const READ: Changes = {
  risk: 'low',
  effect: 'read_only',
  probe: undefined,
  onAmbiguous: undefined,
  idempotency: undefined,
  connector: { request: { method: 'GET', path: '/v1/orders/{args.orderId}', body: undefined } },
};

function patched(base: unknown, changes: unknown): unknown {
  if (!isMap(changes)) return changes;
  const merged: Record<string, unknown> = isMap(base) ? { ...base } : {};
  for (const [key, change] of Object.entries(changes)) {
    if (change === undefined) delete merged[key];
    else merged[key] = patched(merged[key], change);
  }
  return merged;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
