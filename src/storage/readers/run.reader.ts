import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import { wordList } from './sql-words.js';
import type { RunReader } from './store-reader.js';

// Written out and not given as parameters: only so does SQLite use the indexes over what is still open.
const RUN_IS_OPEN = `status IN ${wordList('running', 'suspending', 'suspended', 'interrupted', 'stopping')}`;
const CALL_IS_OPEN = `status NOT IN ${wordList('completed', 'failed', 'manual_handoff', 'denied', 'not_executed')}`;

export function runReader(connection: ReadConnection): RunReader {
  return {
    run: (tenant, runId) =>
      connection.one<TableRow<'runs'>>('SELECT * FROM runs WHERE run_id = ? AND tenant = ?', runId, tenant),
    openRunByLabel: (tenant, principal, label) =>
      connection.one<TableRow<'runs'>>(
        `SELECT * FROM runs WHERE tenant = ? AND principal = ? AND label = ? AND ${RUN_IS_OPEN}`,
        tenant,
        principal,
        label,
      ),
    openCallCount: async (tenant, runId) => {
      const row = await connection.one<{ n: number }>(
        `SELECT count(*) AS n FROM tool_calls WHERE run_id = ? AND tenant = ? AND ${CALL_IS_OPEN}`,
        runId,
        tenant,
      );
      return row?.n ?? 0;
    },
    pendingApprovalCount: async (tenant, runId) => {
      const row = await connection.one<{ n: number }>(
        `SELECT count(*) AS n FROM approvals WHERE run_id = ? AND status = 'pending' AND tenant = ?`,
        runId,
        tenant,
      );
      return row?.n ?? 0;
    },
    callsInStop: (tenant, runId, since) =>
      connection.many<TableRow<'tool_calls'>>(
        `SELECT * FROM tool_calls WHERE run_id = ? AND tenant = ? AND updated_at >= ?
         UNION SELECT * FROM tool_calls WHERE run_id = ? AND tenant = ? AND ${CALL_IS_OPEN}
         ORDER BY tool_call_id`,
        runId,
        tenant,
        since,
        runId,
        tenant,
      ),
    stoppingRuns: (limit) =>
      connection.many<TableRow<'runs'>>(`SELECT * FROM runs WHERE status = 'stopping' ORDER BY run_id LIMIT ?`, limit),
    idleImplicitRuns: (before, limit) =>
      connection.many<TableRow<'runs'>>(
        `SELECT * FROM runs AS r WHERE implicit = 1 AND status = 'running' AND updated_at < ?
           AND NOT EXISTS (SELECT 1 FROM tool_calls AS c WHERE c.run_id = r.run_id AND c.updated_at >= ?)
           AND NOT EXISTS (SELECT 1 FROM tool_calls AS c WHERE c.run_id = r.run_id AND c.${CALL_IS_OPEN})
         ORDER BY updated_at LIMIT ?`,
        before,
        before,
        limit,
      ),
  };
}
