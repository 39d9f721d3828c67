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

/** Ids of all events whose type begins with one of the words. */
export function eventIds(dataDir: string, beginnings: readonly string[]): readonly string[] {
  const rows = withDatabase(
    dataDir,
    (database) =>
      database.prepare('SELECT event_id AS id, event_type AS type FROM events').all() as { id: string; type: string }[],
  );
  return rows.filter(({ type }) => beginnings.some((word) => type.startsWith(word))).map(({ id }) => id);
}

const ENDINGS = `('tool.call.completed', 'tool.call.failed', 'tool.call.not_executed', 'tool.call.denied')`;

/** What no call that is never retried can have in its history; each names the calls it finds. */
const UNTRUE: Readonly<Record<string, string>> = {
  'sent more than once': `SELECT stream_id FROM events WHERE event_type = 'tool.call.dispatching' GROUP BY stream_id
    HAVING COUNT(*) > 1`,
  'said more than once to be unknown': `SELECT stream_id FROM events WHERE event_type = 'tool.call.result_unknown'
    GROUP BY stream_id HAVING COUNT(*) > 1`,
  'ended more than once': `SELECT stream_id FROM events WHERE event_type IN ${ENDINGS} GROUP BY stream_id
    HAVING COUNT(*) > 1`,
  'has another state than its last transition says': `SELECT tool_call_id FROM tool_calls
    WHERE status IN ('completed', 'failed', 'not_executed', 'denied') AND NOT EXISTS (SELECT 1 FROM events
      WHERE stream_id = tool_call_id AND event_type = 'tool.call.' || status)`,
};

/** Calls whose events tell a transition twice, or not at all. */
export function untrueHistories(dataDir: string): readonly string[] {
  return withDatabase(dataDir, (database) =>
    Object.entries(UNTRUE).flatMap(([what, sql]) =>
      (database.prepare(sql).pluck().all() as string[]).map((id) => `${id}: ${what}`),
    ),
  );
}

/** What only half of a unit leaves behind; each names the ids it finds. */
const TRACES: Readonly<Record<string, string>> = {
  'versions of the stream have a gap':
    'SELECT stream_id FROM events GROUP BY stream_kind, stream_id HAVING MAX(version) <> COUNT(*) OR MIN(version) <> 1',
  'the unit is not whole': 'SELECT unit_id FROM events GROUP BY unit_id HAVING COUNT(*) <> MAX(unit_size)',
  'the event has no position': 'SELECT event_id FROM events WHERE event_id NOT IN (SELECT event_id FROM positions)',
  'the position has no event': 'SELECT event_id FROM positions WHERE event_id NOT IN (SELECT event_id FROM events)',
  'positions have a gap before':
    'SELECT event_id FROM positions WHERE idx > 0 AND idx - 1 NOT IN (SELECT idx FROM positions)',
  'the call and its last event differ': rowsThatDiffer('call', 'tool_calls', 'tool_call_id'),
  'the approval and its last event differ': rowsThatDiffer('approval', 'approvals', 'approval_id'),
  'the call has no work that would end it': `SELECT tool_call_id FROM tool_calls WHERE status IN ('authorized',
    'dispatching', 'dispatched', 'result_unknown', 'reconciling') AND tool_call_id NOT IN (SELECT tool_call_id FROM work)`,
};

/** Streams without a row, rows without a stream, rows of another version than the last event of their stream. */
function rowsThatDiffer(kind: string, table: string, id: string): string {
  return `SELECT COALESCE(${id}, stream_id) FROM ${table}
    FULL JOIN (SELECT stream_id, MAX(version) AS last FROM events WHERE stream_kind = '${kind}' GROUP BY stream_id)
    ON stream_id = ${id} WHERE last IS NOT version`;
}

/** Everything in the database that a unit which is all or nothing cannot have written. */
export function halfWritten(dataDir: string): readonly string[] {
  return withDatabase(dataDir, (database) =>
    Object.entries(TRACES).flatMap(([trace, sql]) =>
      (database.prepare(sql).pluck().all() as string[]).map((id) => `${id}: ${trace}`),
    ),
  );
}
