import type { Database } from 'better-sqlite3';
import type { RewrapProgress } from '../custody.js';
import { dataKeyContext, type DataKeyRow } from '../data-key.js';
import type { KeyRing } from '../key-ring.js';
import { secretKeyContext, type SecretName } from '../secret-key.js';
import { forgetOtherKeys, outstandingKeys } from './key-check.js';

interface SecretKeyRow extends SecretName {
  readonly wrapped: string;
  readonly kek_id: string;
}

/**
 * Wraps the data keys after `after` again under the current key-encryption key, at most so many of them looked at, in one
 * transaction; with the last of them the keys of all secrets. The keys themselves stay as they are, so whoever holds one unwrapped
 * goes on with it, and a process that dies in between leaves rows of both kinds, which a key ring of both reads.
 */
export function rewrapAfter(database: Database, keyRing: KeyRing, after: string, limit: number): RewrapProgress {
  return database
    .transaction((): RewrapProgress => {
      const rows = database
        .prepare<[string, number], DataKeyRow>(
          'SELECT data_key_id, scope, wrapped, kek_id FROM data_keys WHERE data_key_id > ? ORDER BY data_key_id LIMIT ?',
        )
        .all(after, limit);
      const moved = rewrapDataKeys(database, keyRing, rows);
      const last = rows.length < limit ? undefined : rows.at(-1);
      if (last !== undefined) return { moved, next: last.data_key_id, outstanding: outstandingKeys(database, keyRing) };
      const secrets = rewrapSecrets(database, keyRing);
      return { moved: moved + secrets, next: null, outstanding: outstandingKeys(database, keyRing) };
    })
    .immediate();
}

/** Forgets every key-encryption key but the current one. Throws a plain `Error` while anything is wrapped by another. */
export function releaseOtherKeys(database: Database, keyRing: KeyRing): void {
  database
    .transaction(() => {
      for (const table of ['data_keys', 'secrets']) {
        const left = database.prepare(`SELECT 1 FROM ${table} WHERE kek_id <> ? LIMIT 1`).get(keyRing.currentId);
        if (left !== undefined) throw new Error(`something in ${table} is still wrapped by another key-encryption key`);
      }
      forgetOtherKeys(database, keyRing);
    })
    .immediate();
}

function rewrapDataKeys(database: Database, keyRing: KeyRing, rows: readonly DataKeyRow[]): number {
  const set = database.prepare('UPDATE data_keys SET wrapped = ?, kek_id = ? WHERE data_key_id = ?');
  const old = rows.filter(({ kek_id }) => kek_id !== keyRing.currentId);
  for (const { data_key_id, scope, wrapped, kek_id } of old) {
    const context = dataKeyContext(data_key_id, scope);
    set.run(keyRing.wrap(keyRing.unwrap(kek_id, wrapped, context), context), keyRing.currentId, data_key_id);
  }
  return old.length;
}

function rewrapSecrets(database: Database, keyRing: KeyRing): number {
  const old = database
    .prepare<[string], SecretKeyRow>(
      'SELECT tenant, name, version, wrapped, kek_id FROM secrets WHERE retired_at IS NULL AND kek_id <> ?',
    )
    .all(keyRing.currentId);
  const set = database.prepare(
    'UPDATE secrets SET wrapped = ?, kek_id = ? WHERE tenant = ? AND name = ? AND version = ?',
  );
  for (const row of old) {
    const context = secretKeyContext(row);
    const key = keyRing.unwrap(row.kek_id, Buffer.from(row.wrapped, 'base64'), context);
    const wrapped = Buffer.from(keyRing.wrap(key, context)).toString('base64');
    set.run(wrapped, keyRing.currentId, row.tenant, row.name, row.version);
  }
  return old.length;
}
