import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { errorList } from './error-list.js';

const PAGE = new URL('../../docs/errors.md', import.meta.url);

describe('docs/errors.md', () => {
  it('lists every error code with its status and how to mend it (UPDATE_DOCS=1 writes it anew)', () => {
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, errorList());
    expect(readFileSync(PAGE, 'utf8')).toBe(errorList());
  });
});
