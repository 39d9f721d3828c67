import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../domain/json/json-value.js';
import { canonicalRequest } from './canonical-request.js';
import type { PolicyRequest } from './policy-types.js';

const REQUEST: PolicyRequest = {
  tenant: 't',
  sub: 'alice',
  roles: ['harness'],
  capability: 'c',
  capabilityVersion: '1',
  risk: 'low',
  effect: 'opaque',
  input: { b: 1, a: 'x' },
  approvals: {},
  attempt: 1,
  reasoningPresent: false,
  allowDuplicateIntent: false,
  nowMs: 5,
};

describe('canonical request', () => {
  it('is the same text however the request was put together', () => {
    const { input: _, ...rest } = REQUEST;
    const other = { input: { a: 'x', b: 1 }, ...rest } as PolicyRequest;
    expect(canonicalRequest(other)).toEqual(canonicalRequest(REQUEST));
  });

  it('is digested as it reads', () => {
    const { text, digest } = canonicalRequest(REQUEST);
    expect(digest).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
    expect(JSON.parse(text)).toEqual(REQUEST);
  });

  it.each([
    ['a bigint', 5n],
    ['half a surrogate pair', '\ud800'],
    ['undefined', undefined],
    ['not a number', Number.NaN],
  ])('%s has no text, and the error does not repeat it', (_, value) => {
    const input = { value } as unknown as JsonObject;
    expect(() => canonicalRequest({ ...REQUEST, input })).toThrow(/^not JSON/);
  });
});
