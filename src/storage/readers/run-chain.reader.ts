import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import { openedEvent, type PlacedRow } from './event.reader.js';
import type { OpenedKeys } from './opened-keys.js';
import { wordList } from './sql-words.js';
import type { RunChainReader } from './store-reader.js';

// Written out and not given as a parameter: only so does SQLite use the index over what is still open.
const CALL_IS_OPEN = `status NOT IN ${wordList('completed', 'failed', 'manual_handoff', 'denied', 'not_executed')}`;

/** Positions first, so that only the events of the page are read whole. */
const RUN_EVENTS = `
  WITH asked (run, tenant, after, rows_max) AS (VALUES (?, ?, ?, ?)), streams (kind, id) AS (
    SELECT 'run', r.run_id FROM asked AS a JOIN runs AS r ON r.run_id = a.run AND r.tenant = a.tenant
    UNION ALL
    SELECT 'call', c.tool_call_id FROM asked AS a JOIN tool_calls AS c ON c.run_id = a.run AND c.tenant = a.tenant
    UNION ALL
    SELECT 'approval', q.approval_id FROM asked AS a JOIN approvals AS q ON q.run_id = a.run AND q.tenant = a.tenant
    UNION ALL
    SELECT 'outcome', o.tool_call_id FROM asked AS a JOIN outcomes AS o ON o.run_id = a.run AND o.tenant = a.tenant
  ), page (idx, event_id) AS (
    SELECT p.idx, e.event_id
    FROM streams AS s
    CROSS JOIN events AS e ON e.stream_kind = s.kind AND e.stream_id = s.id
    CROSS JOIN positions AS p ON p.event_id = e.event_id
    WHERE p.idx > (SELECT after FROM asked)
    ORDER BY p.idx LIMIT (SELECT rows_max FROM asked)
  )
  SELECT page.idx, e.* FROM page CROSS JOIN events AS e ON e.event_id = page.event_id
  WHERE e.tenant = (SELECT tenant FROM asked) ORDER BY page.idx`;

export function runChainReader(connection: ReadConnection, keys: OpenedKeys): RunChainReader {
  return { ...runStatements(connection), ...runHistory(connection, keys) };
}

type History = 'runStart' | 'runEvents' | 'runEventsBetween';

function runStatements(connection: ReadConnection): Omit<RunChainReader, History> {
  return {
    openCalls: (tenant, runId, limit) =>
      connection.many<TableRow<'tool_calls'>>(
        `SELECT * FROM tool_calls WHERE run_id = ? AND tenant = ? AND ${CALL_IS_OPEN} ORDER BY tool_call_id LIMIT ?`,
        runId,
        tenant,
        limit,
      ),
    questionsOfRun: (tenant, runId, limit) =>
      connection.many<TableRow<'approvals'>>(
        `SELECT * FROM approvals WHERE run_id = ? AND status = 'pending' AND tenant = ? ORDER BY approval_id LIMIT ?`,
        runId,
        tenant,
        limit,
      ),
    runObject: (tenant, objectId) =>
      connection.one<TableRow<'run_objects'>>(
        'SELECT * FROM run_objects WHERE object_id = ? AND tenant = ?',
        objectId,
        tenant,
      ),
    runObjectByClientId: (tenant, runId, kind, clientId) =>
      connection.one<TableRow<'run_objects'>>(
        'SELECT * FROM run_objects WHERE run_id = ? AND kind = ? AND client_id = ? AND tenant = ?',
        runId,
        kind,
        clientId,
        tenant,
      ),
    runObjects: (tenant, runId, kind, limit) =>
      connection.many<TableRow<'run_objects'>>(
        `SELECT * FROM run_objects WHERE run_id = ? AND kind = ? AND tenant = ?
         ORDER BY created_at DESC, object_id DESC LIMIT ?`,
        runId,
        kind,
        tenant,
        limit,
      ),
    callCountUpTo: async (tenant, runId, max) => {
      const row = await connection.one<{ n: number }>(
        'SELECT count(*) AS n FROM (SELECT 1 FROM tool_calls WHERE run_id = ? AND tenant = ? LIMIT ?)',
        runId,
        tenant,
        max,
      );
      return row?.n ?? 0;
    },
  };
}

function runHistory(connection: ReadConnection, keys: OpenedKeys): Pick<RunChainReader, History> {
  return {
    runStart: async (tenant, runId) => {
      const row = await connection.one<PlacedRow>(
        `SELECT p.idx, e.* FROM events AS e JOIN positions AS p ON p.event_id = e.event_id
         WHERE e.stream_kind = 'run' AND e.stream_id = ? AND e.version = 1 AND e.tenant = ?`,
        runId,
        tenant,
      );
      return row === null ? null : openedEvent(row, keys);
    },
    runEvents: async (tenant, runId, after, limit) => {
      const rows = await connection.many<PlacedRow>(RUN_EVENTS, runId, tenant, after, limit);
      return Promise.all(rows.map((row) => openedEvent(row, keys)));
    },
    runEventsBetween: async (tenant, runId, after, upTo) => {
      const rows = await connection.many<PlacedRow>(
        `SELECT p.idx, e.* FROM positions AS p CROSS JOIN events AS e ON e.event_id = p.event_id
         WHERE p.idx > ? AND p.idx <= ? AND e.run_id = ? AND e.tenant = ? ORDER BY p.idx`,
        after,
        upTo,
        runId,
        tenant,
      );
      return Promise.all(rows.map((row) => openedEvent(row, keys)));
    },
  };
}
