import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { reached } from '../../system/crash-points.js';
import type { KeyRing } from '../key-ring.js';
import { SCHEMA_VERSION, migrateSqlite } from '../migrations.js';
import { newPrivateFile, privateFile, syncDirectory } from '../private-files.js';
import { APPLICATION_ID, PAGE_BYTES } from './connection.js';
import { KEY_CHECK, assertRightKey, keyCheckValue } from './key-check.js';

export const databasePath = (dataDir: string): string => join(dataDir, 'countersign.sqlite');

/** The file header, SQLite file format section 1.3. */
const HEADER_BYTES = 100;
const APPLICATION_ID_AT = 68;
const MAGIC = 'SQLite format 3\u0000';

const SQLITE_VERSION_MIN = [3, 51, 3] as const;
const SQLITE_VERSIONS_WITHDRAWN: readonly string[] = ['3.52.0'];

/** Throws `sqlite_version_refused` for a library that can corrupt a log or was withdrawn by its makers. */
export function assertSqliteVersion(version: string): void {
  const parts = version.split('.').map(Number);
  const difference = SQLITE_VERSION_MIN.map((part, index) => (parts[index] ?? 0) - part).find((by) => by !== 0) ?? 0;
  if (difference < 0 || SQLITE_VERSIONS_WITHDRAWN.includes(version)) {
    throw new CountersignError('sqlite_version_refused', `SQLite ${version} is not used`);
  }
}

/** The version of the SQLite library this process has loaded. */
export function sqliteVersion(): string {
  const database = new Database(':memory:');
  try {
    return String(database.prepare('SELECT sqlite_version()').pluck().get());
  } finally {
    database.close();
  }
}

/**
 * True when there is a database of ours at the schema version of this program; false when there is none yet. Nothing is written, to the
 * file of another program or to one of another version least of all. Only called while nobody has the file open.
 */
export function inspectDatabase(path: string): boolean {
  if (sizeOf(path) === 0) {
    if (walBytes(path) === 0) return false;
    throw new CountersignError(
      'store_unavailable',
      'the database is missing but its write-ahead log is there; restore both',
    );
  }
  const version = schemaVersionOf(path);
  if (version < SCHEMA_VERSION) {
    const message = `the database has schema version ${version}, not ${SCHEMA_VERSION}; copy the data directory, then run countersign migrate`;
    throw new CountersignError('schema_migration_needed', message);
  }
  return true;
}

/**
 * The schema version of a database of ours. Throws `sqlite_application_id_mismatch` for another program's file and
 * `schema_version_unsupported` for one that a newer program wrote. Writes nothing.
 */
export function schemaVersionOf(path: string): number {
  assertOurs(path);
  // Through SQLite and not from the header: the newest version may still be in the log.
  const version = readOnce(path, (database) => Number(database.pragma('user_version', { simple: true })));
  if (version <= SCHEMA_VERSION) return version;
  const message = `the database has schema version ${version}; this program knows ${SCHEMA_VERSION}`;
  throw new CountersignError('schema_version_unsupported', message);
}

function assertOurs(path: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  const isOurs =
    header.toString('latin1', 0, MAGIC.length) === MAGIC && header.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID;
  if (!isOurs) throw new CountersignError('sqlite_application_id_mismatch', 'the file is not a Countersign database');
}

/** Throws `key_ring_unusable` unless the key ring has the key that the database was written with. */
export function assertKeyOf(path: string, keyRing: KeyRing): void {
  readOnce(path, (database) => assertRightKey(database, keyRing));
}

/** Facts of `meta` by name; null for one that is not there. Only called while nobody has the file open. */
export function metaOf(path: string, names: readonly string[]): ReadonlyMap<string, string | null> {
  return readOnce(path, (database) => {
    const find = database.prepare<[string], string>('SELECT value FROM meta WHERE name = ?').pluck();
    return new Map(names.map((name) => [name, find.get(name) ?? null]));
  });
}

function readOnce<T>(path: string, read: (database: Database.Database) => T): T {
  const database = new Database(path, { readonly: true, fileMustExist: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/**
 * Makes the database under another name and renames it when it is complete and on disk: a crash leaves either no database or a whole
 * one. It holds the proof of the key it is written with from its first moment on.
 */
export async function createDatabase(path: string, keyRing: KeyRing): Promise<void> {
  const draft = `${path}.new`;
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${draft}${suffix}`, { force: true });
  newPrivateFile(draft);
  await migrateSqlite(draft, (database) => {
    database.pragma(`page_size = ${PAGE_BYTES}`);
    database.pragma(`application_id = ${APPLICATION_ID}`);
    database.pragma('synchronous = FULL');
  });
  const database = new Database(draft, { fileMustExist: true });
  database.pragma('journal_mode = WAL');
  database.prepare('INSERT INTO meta (name, value) VALUES (?, ?)').run(KEY_CHECK, keyCheckValue(keyRing));
  database.close();
  syncFile(draft);
  reached('storage.database-unnamed', path);
  renameSync(draft, path);
  syncDirectory(dirname(path));
}

/** Takes the database and what lies beside it away from everybody else. */
export function privateDatabase(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) privateFile(file);
}

/** Bytes of the write-ahead log on disk. Only asks the directory: opening the files of a running store by path drops its locks. */
export function walBytes(path: string): number {
  return sizeOf(`${path}-wal`);
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
