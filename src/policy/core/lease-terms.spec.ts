import { describe, expect, it } from '@jest/globals';
import { readLeaseTerms } from './lease-terms.js';

describe('lease terms of a permit', () => {
  it('each part may be left out', () => {
    expect(readLeaseTerms('max_uses=3')).toEqual({
      ok: true,
      value: { ttlMs: null, ttlMsMax: null, usesMax: 3, scopes: null },
    });
  });

  it('scopes are words joined by one space', () => {
    expect(readLeaseTerms('scope=refund:create order:read')).toMatchObject({
      ok: true,
      value: { scopes: ['refund:create', 'order:read'] },
    });
  });

  it.each([
    '',
    ';',
    'ttl',
    'ttl=',
    'ttl=59',
    'ttl=301',
    'ttl=120;ttl=120',
    'ttl=300;max_ttl=120',
    'max_uses=0',
    'max_uses=-1',
    'scope=',
    'scope=a  b',
    'scope=a;b',
    'ttl=120;',
    ' ttl=120',
    'use=1',
    '=1',
  ])('%j is refused', (text) => {
    expect(readLeaseTerms(text).ok).toBe(false);
  });
});
