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

const RECENT = `WITH recent AS (
  SELECT events.* FROM positions CROSS JOIN events USING (event_id) WHERE positions.idx >= @from
) `;

/** The position that the next event of a stopped proxy gets. @param {string} file @returns {number} */
export function headOf(file) {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    const { last } = /** @type {{ last: number | null }} */ (
      database.prepare('SELECT max(idx) AS last FROM positions').get()
    );
    return last === null ? 0 : last + 1;
  } finally {
    database.close();
  }
}

/**
 * @param {string} file
 * @param {number} [from] the first position that counts; what was there before is left out
 * @returns {Recorded}
 */
export function readRecorded(file, from = 0) {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    /** @param {string} sql @returns {any} */
    const one = (sql) => database.prepare(RECENT + sql).get({ from });
    /** @param {string} sql @returns {Record<string, number>} */
    const counted = (sql) =>
      Object.fromEntries(
        /** @type {[string, number][]} */ (
          database
            .prepare(RECENT + sql)
            .raw()
            .all({ from })
        ),
      );
    const { leaves, last } = one('SELECT count(*) AS leaves, max(idx) AS last FROM positions WHERE idx >= @from');
    const { paired } = one('SELECT count(*) AS paired FROM recent');
    const [events, positions] = ['events', 'positions'].map((table) =>
      database.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
    );
    const { calls, fewest, most } = one(
      `SELECT count(*) AS calls, min(n) AS fewest, max(n) AS most
       FROM (SELECT count(*) AS n FROM recent WHERE stream_kind = 'call' GROUP BY stream_id)`,
    );
    const { callEvents, units } = one(
      `SELECT count(*) AS callEvents, count(DISTINCT unit_id) AS units FROM recent WHERE stream_kind = 'call'`,
    );
    return {
      leaves,
      dense: (last ?? from - 1) + 1 - from === leaves && paired === leaves && events === positions,
      calls,
      fewestEvents: fewest ?? 0,
      mostEvents: most ?? 0,
      callEvents,
      callUnits: units,
      statuses: counted(
        `SELECT status, count(*) FROM tool_calls
         WHERE @from = 0 OR tool_call_id IN (SELECT stream_id FROM recent WHERE stream_kind = 'call') GROUP BY status`,
      ),
      otherEvents: counted(`SELECT event_type, count(*) FROM recent WHERE stream_kind <> 'call' GROUP BY event_type`),
    };
  } finally {
    database.close();
  }
}
