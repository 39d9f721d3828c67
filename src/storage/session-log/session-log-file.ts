import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { newPrivateFile, privateFile, syncDirectory } from '../private-files.js';
import { SESSION_LOG_TABLES } from './session-log-tables.js';

export const sessionDatabasePath = (dataDir: string): string => join(dataDir, 'sessions.sqlite');

/** "Csse" in the header: not the store's number, so that neither is ever opened as the other. */
export const SESSION_LOG_APPLICATION_ID = 0x43737365;
export const SESSION_LOG_SCHEMA_VERSION = 1;

/** How long a writer waits for another process. */
const BUSY_MS = 5_000;
const PAGE_BYTES = 8192;
const CACHE_KIB = 16_384;
/** Pages of the log that are moved into the file at once, on the writer's own thread. */
const CHECKPOINT_PAGES = 4_000;

/** The file header, SQLite file format section 1.3. */
const HEADER_BYTES = 100;
const APPLICATION_ID_AT = 68;
const MAGIC = 'SQLite format 3\u0000';

/**
 * Makes sure that there is a database of sessions at the version of this program, and takes its files away from everybody else. An
 * empty file without a version is initialised; everything else is refused and left as it was: `sqlite_application_id_mismatch`
 * for a file of another program, `schema_version_unsupported` for one of another version, or one with tables but without a version.
 */
export function prepareSessionDatabase(path: string): void {
  if (!existsSync(path)) {
    if (sizeOf(`${path}-wal`) > 0) {
      throw new CountersignError('store_unavailable', 'sessions.sqlite is missing but its log is there; restore both');
    }
    newPrivateFile(path);
    syncDirectory(dirname(path));
  }
  if (sizeOf(path) === 0) initialise(path);
  else assertOurs(path);
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) privateFile(file);
}

/** The one connection that writes. Throws `sqlite_pragma_refused` when a setting is not really in force. */
export function openSessionWriter(path: string): Database.Database {
  const database = new Database(path, { fileMustExist: true, timeout: BUSY_MS });
  return settled(database, [
    ['journal_mode', 'WAL', 'wal'],
    // FULL: the log is synced at every commit, so what a batch answers is durable.
    ['synchronous', 'FULL', 2],
    ['wal_autocheckpoint', String(CHECKPOINT_PAGES), CHECKPOINT_PAGES],
    ['temp_store', 'MEMORY', 2],
    ['cache_size', String(-CACHE_KIB), -CACHE_KIB],
  ]);
}

/** A connection that only reads. */
export function openSessionReader(path: string): Database.Database {
  const database = new Database(path, { fileMustExist: true, timeout: BUSY_MS });
  return settled(database, [['query_only', 'ON', 1]]);
}

type Setting = readonly [name: string, value: string, inForce: string | number];

const EVERYWHERE: readonly Setting[] = [
  ['trusted_schema', 'OFF', 0],
  ['cell_size_check', 'ON', 1],
];

function settled(database: Database.Database, settings: readonly Setting[]): Database.Database {
  try {
    for (const [name, value, inForce] of [...EVERYWHERE, ...settings]) {
      database.pragma(`${name} = ${value}`);
      const actual = database.pragma(name, { simple: true });
      if (actual !== inForce) {
        throw new CountersignError('sqlite_pragma_refused', `${name} is ${String(actual)} and not ${inForce}`);
      }
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Tables, application id and version in one transaction: a crash leaves an empty file or a whole one. */
function initialise(path: string): void {
  const database = new Database(path, { fileMustExist: true });
  try {
    database.pragma(`page_size = ${PAGE_BYTES}`);
    database.pragma('synchronous = FULL');
    database.transaction(() => {
      database.exec(SESSION_LOG_TABLES);
      database.pragma(`application_id = ${SESSION_LOG_APPLICATION_ID}`);
      database.pragma(`user_version = ${SESSION_LOG_SCHEMA_VERSION}`);
    })();
  } finally {
    database.close();
  }
}

function assertOurs(path: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  const isSqlite = header.toString('latin1', 0, MAGIC.length) === MAGIC;
  if (!isSqlite || header.readUInt32BE(APPLICATION_ID_AT) !== SESSION_LOG_APPLICATION_ID) {
    throw new CountersignError('sqlite_application_id_mismatch', 'sessions.sqlite is no database of our sessions');
  }
  // Through SQLite and not from the header: the newest version may still be in the log.
  const database = new Database(path, { readonly: true, fileMustExist: true });
  try {
    const version = Number(database.pragma('user_version', { simple: true }));
    if (version === SESSION_LOG_SCHEMA_VERSION) return;
    const message = `sessions.sqlite has schema version ${version}; this program knows ${SESSION_LOG_SCHEMA_VERSION}`;
    throw new CountersignError('schema_version_unsupported', message);
  } finally {
    database.close();
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
