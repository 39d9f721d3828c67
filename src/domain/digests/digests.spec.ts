import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../json/json-value.js';
import {
  argsDigest,
  consentDigest,
  downstreamKeyFor,
  DOWNSTREAM_KEY_LENGTH,
  DOWNSTREAM_KEY_LENGTH_MIN,
  intentDigest,
  jsonDigest,
  keyHash,
  sha256Digest,
  sha256Hex,
  type Consent,
  type Intent,
} from './digests.js';

interface Vectors {
  readonly sha256Hex: readonly { text: string; hex: string }[];
  readonly argsDigest: readonly { arguments: JsonObject; digest: string }[];
  readonly intentDigest: readonly { intent: Intent; digest: string }[];
  readonly consentDigest: readonly { consent: Consent; digest: string }[];
  readonly downstreamKey: readonly { toolCallId: string; maxLength: number | null; key: string }[];
  readonly keyHash: readonly { tenant: string; key: string; hash: string }[];
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../test/vectors/digests.json', import.meta.url), 'utf8'),
) as Vectors;
const consent = (vectors.consentDigest[0] as { consent: Consent }).consent;
const intent = (vectors.intentDigest[0] as { intent: Intent }).intent;

describe('digests agree with vectors that were computed elsewhere', () => {
  it.each(vectors.sha256Hex)('of the text "$text"', ({ text, hex }) => {
    expect(sha256Hex(text)).toBe(hex);
    expect(sha256Hex(new TextEncoder().encode(text))).toBe(hex);
    expect(sha256Digest(text)).toBe(`sha256:${hex}`);
  });

  it.each(vectors.argsDigest)('of arguments: $digest', ({ arguments: args, digest }) => {
    expect(argsDigest(args)).toBe(digest);
  });

  it.each(vectors.intentDigest)('of an intent: $digest', ({ intent: vector, digest }) => {
    expect(intentDigest(vector)).toBe(digest);
  });

  it.each(vectors.consentDigest)('of a consent: $digest', ({ consent: vector, digest }) => {
    expect(consentDigest(vector)).toBe(digest);
  });

  it.each(vectors.downstreamKey)(
    'of a downstream key of at most $maxLength: $key',
    ({ toolCallId, maxLength, key }) => {
      expect(maxLength === null ? downstreamKeyFor(toolCallId) : downstreamKeyFor(toolCallId, maxLength)).toBe(key);
    },
  );

  it.each(vectors.keyHash)('of the key $key of tenant $tenant', ({ tenant, key, hash }) => {
    expect(keyHash(tenant, key)).toBe(hash);
  });
});

describe('the arguments digest', () => {
  it('is the same whatever the order of the keys, and another for another order of items', () => {
    const [, first, second] = vectors.argsDigest;
    expect(first?.digest).toBe(second?.digest);
    expect(argsDigest({ tags: ['a', 'b'] })).not.toBe(argsDigest({ tags: ['b', 'a'] }));
  });

  it('tells a number from its text', () => {
    expect(argsDigest({ count: 3 })).not.toBe(argsDigest({ count: '3' }));
  });

  it('is refused for what is not JSON', () => {
    expect(() => argsDigest({ when: undefined } as unknown as JsonValue)).toThrow('not JSON');
    expect(() => argsDigest({ text: '\ud800' })).toThrow('not JSON');
  });
});

describe('the intent digest', () => {
  it('depends on each of its four parts and on the agent', () => {
    const others: Intent[] = [
      { ...intent, tenant: 'other' },
      { ...intent, principal: { sub: 'alice' } },
      { ...intent, principal: { sub: 'alice', act: 'agent-8' } },
      { ...intent, principal: { sub: 'bob', act: 'agent-7' } },
      { ...intent, capability: 'refund.cancel' },
      { ...intent, argsDigest: 'sha256:other' },
    ];
    expect(new Set([intent, ...others].map(intentDigest)).size).toBe(others.length + 1);
  });

  it('looks at sub and act only, so a principal with more to it is still the same', () => {
    const richer = { ...intent.principal, email: 'alice@example.com' };
    expect(intentDigest({ ...intent, principal: richer })).toBe(intentDigest(intent));
  });
});

describe('the consent digest', () => {
  it('changes with every single thing a person consents to', () => {
    const changes: Consent[] = [
      { ...consent, toolCallId: 'call_other' },
      { ...consent, attempt: 2 },
      { ...consent, tenant: 'other' },
      { ...consent, principal: { sub: 'alice' } },
      { ...consent, capability: 'refund.create@1.0.1' },
      { ...consent, manifestDigest: 'sha256:other' },
      { ...consent, argsDigest: 'sha256:other' },
      { ...consent, target: { ...consent.target, url: 'https://pay.example/refunds/2' } },
      { ...consent, risk: 'critical' },
      { ...consent, policyRevision: 'sha256:other' },
      { ...consent, decideBy: '2031-01-01T11:00:01.000Z' },
      { ...consent, executeBy: '2031-01-01T18:00:01.000Z' },
    ];
    expect(changes.length).toBe(Object.keys(consent).length);
    expect(new Set([consent, ...changes].map(consentDigest)).size).toBe(changes.length + 1);
  });
});

describe('the downstream key', () => {
  it('is a function of the tool call id alone and never longer than the tool takes', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: DOWNSTREAM_KEY_LENGTH_MIN, max: 255 }), (toolCallId, maxLength) => {
        const key = downstreamKeyFor(toolCallId, maxLength);
        expect(key).toBe(downstreamKeyFor(toolCallId, maxLength));
        expect(key).toMatch(/^cs_[0-9a-f]{24,40}$/);
        expect(key.length).toBe(Math.min(maxLength, DOWNSTREAM_KEY_LENGTH));
        expect(downstreamKeyFor(toolCallId).startsWith(key)).toBe(true);
      }),
    );
  });

  it('differs between calls even where the tool takes the least', () => {
    const keys = Array.from({ length: 10_000 }, (_, n) => downstreamKeyFor(`call_${n}`, DOWNSTREAM_KEY_LENGTH_MIN));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('is refused where it would be too short to tell calls apart', () => {
    expect(() => downstreamKeyFor('call_1', DOWNSTREAM_KEY_LENGTH_MIN - 1)).toThrow('at least 27');
  });
});

describe('the hash of an idempotency key', () => {
  it('can not be made equal by moving characters between tenant and key', () => {
    expect(keyHash('ab', 'c')).not.toBe(keyHash('a', 'bc'));
  });

  it('does not equal the plain digest of the key', () => {
    expect(keyHash('default', 'order-1')).not.toBe(jsonDigest('order-1'));
    expect(keyHash('default', 'order-1')).not.toBe(sha256Digest('order-1'));
  });
});
