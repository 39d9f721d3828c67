/** @import { Database } from 'better-sqlite3' */

const ENDINGS = `('tool.call.completed', 'tool.call.failed', 'tool.call.not_executed', 'tool.call.denied')`;

/** What only half of a unit leaves behind; each finds the ids of what has it. @type {Readonly<Record<string, string>>} */
const HALVES = {
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

/** What no call that is never retried can have in its history. @type {Readonly<Record<string, string>>} */
const UNTRUE = {
  'sent more than once': `SELECT stream_id FROM events WHERE event_type = 'tool.call.dispatching' GROUP BY stream_id
    HAVING COUNT(*) > 1`,
  'said more than once to be unknown': `SELECT stream_id FROM events WHERE event_type = 'tool.call.result_unknown'
    GROUP BY stream_id HAVING COUNT(*) > 1`,
  'consumed more than once': `SELECT stream_id FROM events WHERE event_type = 'approval.consumed' GROUP BY stream_id
    HAVING COUNT(*) > 1`,
  'ended more than once': `SELECT stream_id FROM events WHERE event_type IN ${ENDINGS} GROUP BY stream_id
    HAVING COUNT(*) > 1`,
  'has another state than its last transition says': `SELECT tool_call_id FROM tool_calls
    WHERE status IN ('completed', 'failed', 'not_executed', 'denied') AND NOT EXISTS (SELECT 1 FROM events
      WHERE stream_id = tool_call_id AND event_type = 'tool.call.' || status)`,
};

/**
 * Streams without a row, rows without a stream, rows of another version than the last event of their stream.
 * @param {string} kind @param {string} table @param {string} id
 */
function rowsThatDiffer(kind, table, id) {
  return `SELECT COALESCE(${id}, stream_id) FROM ${table}
    FULL JOIN (SELECT stream_id, MAX(version) AS last FROM events WHERE stream_kind = '${kind}' GROUP BY stream_id)
    ON stream_id = ${id} WHERE last IS NOT version`;
}

/** @param {Database} database @param {Readonly<Record<string, string>>} queries */
function findings(database, queries) {
  return Object.entries(queries).flatMap(([what, sql]) =>
    /** @type {string[]} */ (database.prepare(sql).pluck().all()).map((id) => `${id}: ${what}`),
  );
}

/** Everything in the database that a unit which is all or nothing cannot have written. @param {Database} database */
export const halfWrittenRecords = (database) => findings(database, HALVES);

/** Calls whose events tell a transition twice, or not at all. @param {Database} database */
export const untrueHistories = (database) => findings(database, UNTRUE);

/** Both. @param {Database} database */
export const brokenRecords = (database) => [...halfWrittenRecords(database), ...untrueHistories(database)];
