import { describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { isFatal, isUniqueConflict, sqliteCode } from './write-failure.js';

const failure = (code: string): Error => new Database.SqliteError('it has failed', code);

describe('a failure of a write', () => {
  it.each([
    'SQLITE_FULL',
    'SQLITE_IOERR_WRITE',
    'SQLITE_IOERR_FSYNC',
    'SQLITE_CORRUPT_VTAB',
    'SQLITE_NOTADB',
    'SQLITE_READONLY_DBMOVED',
    'SQLITE_NOMEM',
    'SQLITE_BUSY_SNAPSHOT',
  ])('with %s loses the transaction', (code) => {
    expect(isFatal(failure(code))).toBe(true);
  });

  it.each([
    'SQLITE_CONSTRAINT_UNIQUE',
    'SQLITE_CONSTRAINT_CHECK',
    'SQLITE_CONSTRAINT_TRIGGER',
    'SQLITE_TOOBIG',
    'SQLITE_ERROR',
    'SQLITE_MISMATCH',
  ])('with %s loses its own unit only', (code) => {
    expect(isFatal(failure(code))).toBe(false);
  });

  it('that is not of SQLite has no code', () => {
    expect([sqliteCode(new Error('x')), sqliteCode(null), sqliteCode({ code: 'SQLITE_FULL' })]).toEqual([
      null,
      null,
      null,
    ]);
    expect(isFatal(Object.assign(new Error('x'), { code: 'ENOSPC' }))).toBe(false);
  });

  it('is a conflict when a unique place is taken, and not when a check fails', () => {
    expect(isUniqueConflict(failure('SQLITE_CONSTRAINT_UNIQUE'))).toBe(true);
    expect(isUniqueConflict(failure('SQLITE_CONSTRAINT_PRIMARYKEY'))).toBe(true);
    expect(isUniqueConflict(failure('SQLITE_CONSTRAINT_CHECK'))).toBe(false);
  });
});
