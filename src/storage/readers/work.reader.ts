import type { ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import { wordList } from './sql-words.js';
import type { WorkReader } from './store-reader.js';

/** The index over calls that may still need somebody holds all but these. */
export const SETTLED: readonly ToolCallStatus[] = ['completed', 'failed', 'denied', 'not_executed'];

export function workReader(connection: ReadConnection): WorkReader {
  return {
    workOf: (tenant, toolCallId) =>
      connection.one<TableRow<'work'>>('SELECT * FROM work WHERE tool_call_id = ? AND tenant = ?', toolCallId, tenant),
    dueWork: (kind, now, limit) =>
      connection.many<TableRow<'work'>>(
        `SELECT * FROM work WHERE kind = ? AND next_at <= ? AND (claim_until IS NULL OR claim_until <= ?)
         ORDER BY next_at, tool_call_id LIMIT ?`,
        kind,
        now,
        now,
        limit,
      ),
    nextWorkAt: async (kind) => {
      const row = await connection.one<{ next_at: string }>(
        'SELECT next_at FROM work WHERE kind = ? AND claim_until IS NULL ORDER BY next_at LIMIT 1',
        kind,
      );
      return row?.next_at ?? null;
    },
    overdueApprovals: (now, limit) =>
      connection.many<TableRow<'approvals'>>(
        `SELECT * FROM approvals WHERE status = 'pending' AND decide_by <= ? ORDER BY decide_by LIMIT ?`,
        now,
        limit,
      ),
    questionsOutsideOf: (policyRevision, manifestDigests, limit) =>
      connection.many<TableRow<'approvals'>>(
        `SELECT * FROM approvals WHERE status = 'pending'
         AND (policy_revision <> ? OR manifest_digest NOT IN (SELECT value FROM json_each(?)))
         ORDER BY decide_by LIMIT ?`,
        policyRevision,
        JSON.stringify(manifestDigests),
        limit,
      ),
    overdueGrants: (now, limit) =>
      connection.many<TableRow<'approvals'>>(
        `SELECT * FROM approvals WHERE status = 'granted' AND execute_by <= ? ORDER BY execute_by LIMIT ?`,
        now,
        limit,
      ),
    overdueAuthorizations: (now, limit) =>
      connection.many<TableRow<'tool_calls'>>(
        `SELECT * FROM tool_calls WHERE status = 'authorized' AND execute_by <= ? ORDER BY execute_by LIMIT ?`,
        now,
        limit,
      ),
    callsInStates: async (statuses, limit, afterId) => {
      if (statuses.length === 0) return [];
      const unsettled = statuses.some((status) => SETTLED.includes(status))
        ? ''
        : ` AND status NOT IN ${wordList(...SETTLED)}`;
      return connection.many<TableRow<'tool_calls'>>(
        `SELECT * FROM tool_calls WHERE status IN ${wordList(...statuses)}${unsettled} AND tool_call_id > ?
         ORDER BY tool_call_id LIMIT ?`,
        afterId ?? '',
        limit,
      );
    },
  };
}
