import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { KnownSecrets } from './known-secrets.js';

describe('known secrets', () => {
  it('are looked for after a newer one of the same name has come', () => {
    const known = new KnownSecrets();
    known.remember('token of crm', 'first-token-value');
    const before = known.scrub;
    known.remember('token of crm', 'second-token-value');
    expect(known.scrub('first-token-value second-token-value')).toBe('[redacted] [redacted]');
    expect(before('second-token-value')).toBe('second-token-value');
  });

  it('are as many of one name as may still come back, so that fetching for ever takes no memory', () => {
    const known = new KnownSecrets();
    known.remember('key', 'constant-secret');
    for (let n = 0; n < 20; n += 1) known.remember('token of crm', `token-number-${n}-`);
    expect(known.scrub('token-number-19- token-number-12-')).toBe('[redacted] [redacted]');
    expect(known.scrub('token-number-11-')).toBe('token-number-11-');
    expect(known.scrub('constant-secret')).toBe('[redacted]');
  });

  it('make no new scrubber for what is known', () => {
    const known = new KnownSecrets();
    known.remember('key', 'constant-secret');
    const { scrub } = known;
    known.remember('key', 'constant-secret');
    expect(known.scrub).toBe(scrub);
  });

  it('are found with those of one call, and print as nothing', () => {
    const known = new KnownSecrets();
    known.remember('key', 'constant-secret');
    expect(known.scrubWith(['card-4711'])('card-4711 constant-secret')).toBe('[redacted] [redacted]');
    expect(inspect(known, { depth: 9, showHidden: true })).not.toContain('constant-secret');
    expect(JSON.stringify(known)).not.toContain('constant-secret');
  });
});
