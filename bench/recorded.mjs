/** What is in the database of a proxy that has ended. Never used on one that runs: closing its files here would drop its locks. */
import Database from 'better-sqlite3';

/**
 * @typedef {object} Recorded
 * @property {number} leaves positions in the ledger
 * @property {boolean} dense positions are 0, 1, 2, … and each is one event
 * @property {number} calls streams of tool calls
 * @property {number} fewestEvents of one call
 * @property {number} mostEvents of one call
 * @property {number} callEvents events of calls
 * @property {number} callUnits units that hold an event of a call
 * @property {Record<string, number>} statuses calls by the status of their row
 * @property {Record<string, number>} otherEvents events that belong to no call, by type
 */

/** @param {string} file @returns {Recorded} */
export function readRecorded(file) {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    /** @param {string} sql @returns {any} */
    const one = (sql) => database.prepare(sql).get();
    /** @param {string} sql @returns {Record<string, number>} */
    const counted = (sql) => Object.fromEntries(/** @type {[string, number][]} */ (database.prepare(sql).raw().all()));
    const { leaves, last } = one('SELECT count(*) AS leaves, max(idx) AS last FROM positions');
    const { paired } = one('SELECT count(*) AS paired FROM positions JOIN events USING (event_id)');
    const { events } = one('SELECT count(*) AS events FROM events');
    const { calls, fewest, most } = one(
      `SELECT count(*) AS calls, min(n) AS fewest, max(n) AS most
       FROM (SELECT count(*) AS n FROM events WHERE stream_kind = 'call' GROUP BY stream_id)`,
    );
    const { callEvents, units } = one(
      `SELECT count(*) AS callEvents, count(DISTINCT unit_id) AS units FROM events WHERE stream_kind = 'call'`,
    );
    return {
      leaves,
      dense: last + 1 === leaves && paired === leaves && events === leaves,
      calls,
      fewestEvents: fewest ?? 0,
      mostEvents: most ?? 0,
      callEvents,
      callUnits: units,
      statuses: counted('SELECT status, count(*) FROM tool_calls GROUP BY status'),
      otherEvents: counted(`SELECT event_type, count(*) FROM events WHERE stream_kind <> 'call' GROUP BY event_type`),
    };
  } finally {
    database.close();
  }
}
