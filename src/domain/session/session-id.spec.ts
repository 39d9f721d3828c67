import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  newSessionIdProblem,
  safeSessionName,
  safeTenantName,
  sessionIdProblem,
  shownSessionId,
} from './session-id.js';

describe('a session id', () => {
  it.each(['', '../etc', 'a/b', 'a\\b', 'a\0b', 'a..b', '..', '.', 'x'.repeat(201), undefined, 7, {}])(
    'is not %j [A-54, A-55, A-57, A-61]',
    (id) => {
      expect(sessionIdProblem(id)).toMatch(/^a session id /u);
      expect(() => safeSessionName(id as string)).toThrow();
    },
  );

  it.each([
    ['sess 1', 'sess_1'],
    ['会话', '__'],
    ['会话-001', '__-001'],
    ['烘焙会话-001', '____-001'],
    ['a\nb', 'a_b'],
    ['\u{1F389}', '__'],
    ['A-z_0.9', 'A-z_0.9'],
    ['CON', 'CON'],
    ['~x', '_x'],
  ])('%j has the name %s [A-56, A-58]', (id, name) => {
    expect(sessionIdProblem(id)).toBeNull();
    expect(safeSessionName(id)).toBe(name);
  });

  it('of 200 characters is one, and control characters are none for a new session', () => {
    expect(sessionIdProblem('x'.repeat(200))).toBeNull();
    expect(newSessionIdProblem('a\u2028b')).toMatch(/control characters/u);
    expect(newSessionIdProblem('a/b')).toMatch(/separators/u);
    expect(newSessionIdProblem('会话-001')).toBeNull();
  });

  it('whatever it is, its name stays in one directory and is a file name anywhere [A-53]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (id) => {
        if (sessionIdProblem(id) !== null) return;
        expect(safeSessionName(id)).toMatch(/^[A-Za-z0-9_.-]{1,200}$/u);
        expect(safeSessionName(id)).not.toMatch(/\.\./u);
      }),
      { numRuns: 500 },
    );
  });

  it('is shown by at most eight characters [A-62]', () => {
    expect(shownSessionId('12345678')).toBe('12345678');
    expect(shownSessionId('123456789')).toBe('12345678...');
  });
});

describe('the directory of a tenant', () => {
  it('is its name where that is plain, and a digest of it otherwise', () => {
    expect(safeTenantName('acme-2_x')).toBe('acme-2_x');
    for (const tenant of ['Acme', '../x', '', '.', '_x', 'x'.repeat(65), 'a/b', '~acme']) {
      expect(safeTenantName(tenant)).toMatch(/^~[0-9a-f]{32}$/u);
    }
  });

  it('is never that of another tenant, also where case does not count', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 6 }), fc.string({ maxLength: 6 }), (one, two) => {
        fc.pre(one !== two);
        expect(safeTenantName(one).toLowerCase()).not.toBe(safeTenantName(two).toLowerCase());
      }),
      { numRuns: 300 },
    );
    expect(safeTenantName('acme').toLowerCase()).not.toBe(safeTenantName('ACME').toLowerCase());
  });
});
