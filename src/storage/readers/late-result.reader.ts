import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { LateResultReader } from './store-reader.js';

export function lateResultReader(connection: ReadConnection): LateResultReader {
  return {
    lateResult: (lateResultId) =>
      connection.one<TableRow<'late_results'>>('SELECT * FROM late_results WHERE late_result_id = ?', lateResultId),
    waitingLateResults: (toolCallId) =>
      connection.many<TableRow<'late_results'>>(
        `SELECT * FROM late_results WHERE tool_call_id = ? AND state = 'waiting' ORDER BY received_at, late_result_id`,
        toolCallId,
      ),
    callsWithWaitingResults: async (limit, afterId) => {
      const rows = await connection.many<{ tool_call_id: string }>(
        `SELECT DISTINCT tool_call_id FROM late_results WHERE state = 'waiting' AND tool_call_id > ?
         ORDER BY tool_call_id LIMIT ?`,
        afterId ?? '',
        limit,
      );
      return rows.map((row) => row.tool_call_id);
    },
    unmatchedLateResults: (capability, reference, limit) =>
      connection.many<TableRow<'late_results'>>(
        `SELECT * FROM late_results WHERE state = 'unmatched' AND capability = ? AND reference = ? LIMIT ?`,
        capability,
        reference,
        limit,
      ),
    matchableLateResults: (limit) =>
      connection.many<TableRow<'late_results'>>(
        `SELECT l.* FROM late_results AS l JOIN tool_calls AS c
         ON c.capability = l.capability AND c.external_request_id = l.reference
         WHERE l.state = 'unmatched' AND (l.tenant = '*' OR l.tenant = c.tenant)
         GROUP BY l.late_result_id HAVING COUNT(*) = 1 LIMIT ?`,
        limit,
      ),
    unmatchedBefore: (before, limit) =>
      connection.many<TableRow<'late_results'>>(
        `SELECT * FROM late_results WHERE state = 'unmatched' AND received_at <= ? ORDER BY received_at LIMIT ?`,
        before,
        limit,
      ),
    callAnywhere: (toolCallId) =>
      connection.one<TableRow<'tool_calls'>>('SELECT * FROM tool_calls WHERE tool_call_id = ?', toolCallId),
    callOfKey: async (downstreamKey) => {
      const row = await connection.one<TableRow<'late_keys'>>(
        'SELECT * FROM late_keys WHERE downstream_key = ?',
        downstreamKey,
      );
      return row?.tool_call_id ?? null;
    },
    callsByReference: (capability, reference) =>
      connection.many<TableRow<'tool_calls'>>(
        'SELECT * FROM tool_calls WHERE capability = ? AND external_request_id = ? LIMIT 2',
        capability,
        reference,
      ),
    contradictedCount: async () => {
      const row = await connection.one<{ n: number }>('SELECT COUNT(*) AS n FROM tool_calls WHERE contradicted = 1');
      return row?.n ?? 0;
    },
  };
}
