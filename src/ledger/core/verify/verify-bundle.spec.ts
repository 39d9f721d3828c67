import { describe, expect, it } from '@jest/globals';
import { ATTACKS } from '../../../../test/builders/evidence-attacks.js';
import { TRUST } from '../../../../test/builders/evidence-bundle.js';
import { verifyBundle } from './verify-bundle.js';

describe('a bundle', () => {
  it.each(ATTACKS)('is found out when $title', ({ bundle, trust, found }) => {
    const { findings } = verifyBundle(bundle(), trust ?? TRUST);
    expect(findings.map(({ code, position }) => [code, position])).toEqual(found);
  });
});
