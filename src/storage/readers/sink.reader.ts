import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { DeadLetter, SinkBacklog, SinkReader } from './store-reader.js';

const LETTERS = `SELECT k.sink, k.position, k.partition, k.tries, k.last_error, k.parked_at, e.event_id, e.event_type,
    e.tenant, e.recorded_at
  FROM sink_parked AS k
  JOIN positions AS p ON p.idx = k.position
  JOIN events AS e ON e.event_id = p.event_id
  WHERE k.state = 'dead'`;

/** The next event of a cursor, and the oldest that is parked, say how late a sink is. */
const BACKLOG = `SELECT
    (SELECT count(*) FROM sink_parked WHERE sink = c.sink AND state = 'parked') AS parked,
    (SELECT count(*) FROM sink_parked WHERE sink = c.sink AND state = 'dead') AS dead,
    (SELECT e.recorded_at FROM positions AS p JOIN events AS e ON e.event_id = p.event_id
      WHERE p.idx = c.position + 1) AS next_recorded_at,
    (SELECT e.recorded_at FROM sink_parked AS k JOIN positions AS p ON p.idx = k.position
      JOIN events AS e ON e.event_id = p.event_id
      WHERE k.sink = c.sink AND k.state = 'parked' ORDER BY k.position LIMIT 1) AS parked_recorded_at
  FROM sink_cursors AS c WHERE c.sink = ?`;

interface BacklogRow {
  readonly parked: number;
  readonly dead: number;
  readonly next_recorded_at: string | null;
  readonly parked_recorded_at: string | null;
}

export function sinkReader(connection: ReadConnection): SinkReader {
  return {
    sinkCursor: (sink) => connection.one<TableRow<'sink_cursors'>>('SELECT * FROM sink_cursors WHERE sink = ?', sink),
    sinkCursors: () => connection.many<TableRow<'sink_cursors'>>('SELECT * FROM sink_cursors ORDER BY sink'),
    parkedDeliveries: (sink, limit) =>
      connection.many<TableRow<'sink_parked'>>(
        `SELECT * FROM sink_parked WHERE sink = ? AND state = 'parked' ORDER BY position LIMIT ?`,
        sink,
        limit,
      ),
    parkedBeyond: async (sink, position) => {
      const rows = await connection.many<{ position: number }>(
        'SELECT position FROM sink_parked WHERE sink = ? AND position > ?',
        sink,
        position,
      );
      return rows.map((row) => row.position);
    },
    deadLetters: (sink, after, limit) =>
      sink === null
        ? connection.many<DeadLetter>(`${LETTERS} AND k.position > ? ORDER BY k.position, k.sink LIMIT ?`, after, limit)
        : connection.many<DeadLetter>(
            `${LETTERS} AND k.position > ? AND k.sink = ? ORDER BY k.position LIMIT ?`,
            after,
            sink,
            limit,
          ),
    sinkBacklog: async (sink) => {
      const row = await connection.one<BacklogRow>(BACKLOG, sink);
      const { parked = 0, dead = 0 } = row ?? {};
      const waiting = [row?.next_recorded_at, row?.parked_recorded_at].filter((at) => typeof at === 'string');
      return { parked, dead, waitingSince: waiting.toSorted()[0] ?? null } satisfies SinkBacklog;
    },
  };
}
