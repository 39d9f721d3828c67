import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { CRASH_POINTS } from '../../src/system/crash-points.js';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const HOME = 'system/crash-points.ts';

/** Every program of the product by its path, the home of the points excepted. */
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && path !== HOME)
  .map((path) => ({ path, text: readFileSync(`${SRC}${path}`, 'utf8') }));

describe('crash points', () => {
  it('have no observer anywhere in the product, so that nothing an operator can set ends a process', () => {
    expect(sources.length).toBeGreaterThan(200);
    expect(sources.filter(({ text }) => text.includes('observeCrashPoints')).map(({ path }) => path)).toEqual([]);
  });

  it('are each reached in one place of the product, under a name that is on the list', () => {
    const names = sources.flatMap(({ text }) =>
      [...text.matchAll(/\breached\('([^']+)'/g)].map(([, name = '']) => name),
    );
    expect(names.toSorted()).toEqual(Object.keys(CRASH_POINTS).toSorted());
  });
});
