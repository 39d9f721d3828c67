import Database from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';

/** "Csgn" in the header of our databases, so that no other program's file is ever taken for ours. */
export const APPLICATION_ID = 0x4373676e;

/**
 * Of new databases. A commit writes whole pages, and a call touches about forty: small ones halve what one call alone puts into the log
 * (315 KiB with pages of 8 KiB, 177 KiB with these).
 */
export const PAGE_BYTES = 4096;
/** Of databases that earlier versions made; a page size is for ever. */
const EARLIER_PAGE_BYTES = 8192;

/** How long a writer waits for another process before it answers that the store is unavailable. */
export const WRITER_BUSY_MS = 5_000;
const READER_BUSY_MS = 2_000;

/** What the log is cut back to when it starts again from its beginning. */
const WAL_REST_BYTES = 4 * 1024 * 1024;

/** `[pragma, value to set, value that must then be in force]` */
type Setting = readonly [name: string, value: string, inForce: string | number];

const EVERYWHERE: readonly Setting[] = [
  ['trusted_schema', 'OFF', 0],
  ['cell_size_check', 'ON', 1],
  ['foreign_keys', 'OFF', 0],
];

const WRITER: readonly Setting[] = [
  ...EVERYWHERE,
  ['journal_mode', 'WAL', 'wal'],
  // FULL: the log is synced before its index is published, so nothing is visible before it is durable.
  ['synchronous', 'FULL', 2],
  // A checkpoint inside a commit would stall it; the checkpointer makes them.
  ['wal_autocheckpoint', '0', 0],
  ['journal_size_limit', String(WAL_REST_BYTES), WAL_REST_BYTES],
  // Without it REPLACE would delete a row past the trigger that refuses DELETE.
  ['recursive_triggers', 'ON', 1],
  // What savepoints keep of a page stays in memory instead of a temporary file.
  ['temp_store', 'MEMORY', 2],
  ['cache_size', '-16384', -16384],
];

const READER: readonly Setting[] = [...EVERYWHERE, ['query_only', 'ON', 1], ['cache_size', '-8192', -8192]];

/** The one read-write connection of a running store. Throws `sqlite_pragma_refused` when a setting is not really in force. */
export function openForWriting(path: string): Database.Database {
  const database = new Database(path, { fileMustExist: true, timeout: WRITER_BUSY_MS });
  return settled(database, WRITER);
}

/** A connection that only moves pages from the log to the file. */
export function openForCheckpoints(path: string): Database.Database {
  const database = new Database(path, { fileMustExist: true, timeout: 0 });
  return settled(database, [...EVERYWHERE, ['wal_autocheckpoint', '0', 0], ['synchronous', 'FULL', 2]]);
}

/** Settings of a connection that only reads. */
export function settleReader(database: Database.Database): void {
  database.pragma(`busy_timeout = ${READER_BUSY_MS}`);
  settled(database, READER);
}

function mustBe(database: Database.Database, name: string, accepted: readonly (string | number)[]): void {
  const actual = database.pragma(name, { simple: true }) as string | number;
  if (accepted.includes(actual)) return;
  throw new CountersignError('sqlite_pragma_refused', `${name} is ${String(actual)} and not ${accepted.join(' or ')}`);
}

function settled(database: Database.Database, settings: readonly Setting[]): Database.Database {
  try {
    for (const [name, value] of settings) database.pragma(`${name} = ${value}`);
    for (const [name, , inForce] of settings) mustBe(database, name, [inForce]);
    mustBe(database, 'page_size', [PAGE_BYTES, EARLIER_PAGE_BYTES]);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
