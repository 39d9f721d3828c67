import { join } from 'node:path';
import Database from 'better-sqlite3';
import { halfWrittenRecords, untrueHistories } from '../../support/broken-records.mjs';

/** What the provider saw of one call, by the key that the proxy sent. */
export interface CallRecord {
  readonly toolCallId: string;
  readonly downstreamKey: string;
  readonly status: string;
}

/**
 * The database of a proxy in another process. Never of one in this one: closing a descriptor on it in the same process
 * would drop locks, and a test that only looks must not be able to change what it looks at.
 */
export function withDatabase<T>(dataDir: string, look: (database: Database.Database) => T): T {
  const database = new Database(join(dataDir, 'countersign.sqlite'), { fileMustExist: true });
  try {
    return look(database);
  } finally {
    database.close();
  }
}

export function callRecords(dataDir: string): readonly CallRecord[] {
  const sql = 'SELECT tool_call_id AS toolCallId, downstream_key AS downstreamKey, status FROM tool_calls';
  return withDatabase(dataDir, (database) => database.prepare(sql).all() as CallRecord[]);
}

/** How many events of a type each stream holds; streams without one are missing. */
export function eventCounts(dataDir: string, eventType: string): ReadonlyMap<string, number> {
  const sql = 'SELECT stream_id AS id, COUNT(*) AS n FROM events WHERE event_type = ? GROUP BY stream_id';
  const rows = withDatabase(dataDir, (database) => database.prepare(sql).all(eventType) as { id: string; n: number }[]);
  return new Map(rows.map(({ id, n }) => [id, n]));
}

/** Ids of all events whose type begins with one of the words. */
export function eventIds(dataDir: string, beginnings: readonly string[]): readonly string[] {
  const rows = withDatabase(
    dataDir,
    (database) =>
      database.prepare('SELECT event_id AS id, event_type AS type FROM events').all() as { id: string; type: string }[],
  );
  return rows.filter(({ type }) => beginnings.some((word) => type.startsWith(word))).map(({ id }) => id);
}

/** Everything in the database that a unit which is all or nothing cannot have written. */
export const halfWritten = (dataDir: string): readonly string[] => withDatabase(dataDir, halfWrittenRecords);

/** Calls that are never retried and whose events tell a transition twice, or not at all. */
export const untrue = (dataDir: string): readonly string[] => withDatabase(dataDir, untrueHistories);
