import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { repository } from './fixture-tree.js';

/** A pooler that lends connections per transaction gives such a lock to whoever comes next, or never gives it back. */
const SESSION_LOCK = /pg_(?:try_)?advisory_(?:lock|unlock)\w*/giu;

const sessionLocksIn = (text: string): string[] => [...text.matchAll(SESSION_LOCK)].map(([found]) => found);

function findings(folder: string): string[] {
  const names = readdirSync(path.join(repository, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.(?:ts|mjs|sql)$/u.test(name))
    .flatMap((name) =>
      sessionLocksIn(readFileSync(path.join(repository, folder, name), 'utf8')).map(
        (found) => `${folder}/${name}: ${found}`,
      ),
    );
}

describe('Locks of a database session', () => {
  it('are taken nowhere: what must be held is held by a transaction or by a row with an epoch', () => {
    expect(['src', 'migrations'].flatMap(findings)).toEqual([]);
  });

  it('are recognised in every form, and a lock that ends with its transaction is none', () => {
    const held = [
      'pg_advisory_lock(1)',
      'pg_try_advisory_lock(1)',
      'PG_ADVISORY_LOCK_SHARED(1)',
      'pg_advisory_unlock_all()',
    ];
    expect(held.filter((text) => sessionLocksIn(`SELECT ${text}`).length !== 1)).toEqual([]);
    expect(sessionLocksIn('SELECT pg_advisory_xact_lock(1), pg_try_advisory_xact_lock_shared(2)')).toEqual([]);
  });
});
