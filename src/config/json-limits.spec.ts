import { describe, expect, it } from '@jest/globals';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { parseStrictJson } from '../domain/json/strict-json.js';
import { jsonLimits } from './json-limits.js';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const wide = (keys: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, n) => [n, n])));

describe('the configured limits of JSON', () => {
  const settings = settingsWith({ limits: { jsonDepthMax: 5, jsonKeysMax: 7 } });

  it('take depth and keys from the settings, and the size from where the text comes from', () => {
    expect(jsonLimits(settings, 1000)).toEqual({ bytesMax: 1000, depthMax: 5, keysMax: 7, stringUnitsMax: 1000 });
  });

  it.each([
    ['depth', nested(5), nested(6), 1000],
    ['keys', wide(7), wide(8), 1000],
    ['size', '"12345678"', '"123456789"', 10],
  ])('let through what just fits in %s and nothing beyond', (_, fits, exceeds, bytesMax) => {
    expect(parseStrictJson(bytes(fits), jsonLimits(settings, bytesMax)).ok).toBe(true);
    expect(parseStrictJson(bytes(exceeds), jsonLimits(settings, bytesMax)).ok).toBe(false);
  });

  it('never refuse a text for one long string that the size allows', () => {
    const text = `"${'x'.repeat(9_998)}"`;
    expect(parseStrictJson(bytes(text), jsonLimits(settings, 10_000)).ok).toBe(true);
  });
});
