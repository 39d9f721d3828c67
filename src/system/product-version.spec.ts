import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { PRODUCT_VERSION } from './product-version.js';

describe('the version of the product', () => {
  it('is that of the package', () => {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    expect((JSON.parse(text) as { version: string }).version).toBe(PRODUCT_VERSION);
  });
});
