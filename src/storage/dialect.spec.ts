import { describe, expect, it } from '@jest/globals';
import { SQLITE_DIALECT } from './dialect.js';

describe('the dialect of SQLite', () => {
  it('writes before it has read: a transaction is IMMEDIATE', () => {
    expect(SQLITE_DIALECT.begin).toBe('BEGIN IMMEDIATE');
  });

  it('inserts by named columns', () => {
    expect(SQLITE_DIALECT.insert('meta', ['name', 'value'])).toBe('INSERT INTO meta (name, value) VALUES (?, ?)');
  });

  it('replaces every column that is not of the key', () => {
    expect(SQLITE_DIALECT.upsert('counters', ['tenant', 'counter_key', 'value'], ['tenant', 'counter_key'])).toBe(
      'INSERT INTO counters (tenant, counter_key, value) VALUES (?, ?, ?)' +
        ' ON CONFLICT (tenant, counter_key) DO UPDATE SET value = excluded.value',
    );
  });

  it('leaves a row alone that is all key', () => {
    expect(SQLITE_DIALECT.upsert('t', ['a'], ['a'])).toBe('INSERT INTO t (a) VALUES (?) ON CONFLICT (a) DO NOTHING');
  });
});
