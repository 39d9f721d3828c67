import { join } from 'node:path';
import Database from 'better-sqlite3';

/** What the provider saw of one call, by the key that the proxy sent. */
export interface CallRecord {
  readonly toolCallId: string;
  readonly downstreamKey: string;
  readonly status: string;
}

/**
 * The database of a proxy that does not run. Never of one that does: closing a descriptor on it in the same process
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

/** Streams whose versions are not 1, 2, 3 … without a gap. */
export function streamsWithGaps(dataDir: string): readonly string[] {
  const sql =
    'SELECT stream_id AS id FROM events GROUP BY stream_kind, stream_id HAVING MAX(version) <> COUNT(*) OR MIN(version) <> 1';
  return withDatabase(dataDir, (database) => (database.prepare(sql).all() as { id: string }[]).map(({ id }) => id));
}
