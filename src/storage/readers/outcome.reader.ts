import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { OutcomeReader } from './store-reader.js';

export function outcomeReader(connection: ReadConnection): OutcomeReader {
  return {
    outcome: (tenant, toolCallId) =>
      connection.one<TableRow<'outcomes'>>(
        'SELECT * FROM outcomes WHERE tool_call_id = ? AND tenant = ?',
        toolCallId,
        tenant,
      ),
    outcomeFeedback: (tenant, toolCallId, source, feedbackId) =>
      connection.one<TableRow<'outcome_feedback'>>(
        `SELECT * FROM outcome_feedback WHERE tool_call_id = ? AND source = ? AND feedback_id = ? AND tenant = ?`,
        toolCallId,
        source,
        feedbackId,
        tenant,
      ),
    overdueOutcomes: (now, limit) =>
      connection.many<TableRow<'outcomes'>>(
        `SELECT * FROM outcomes WHERE status = 'pending' AND deadline <= ? ORDER BY deadline LIMIT ?`,
        now,
        limit,
      ),
  };
}
