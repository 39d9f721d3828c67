import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { ListSource } from './list-source.js';
import type { ToolCallReader } from './store-reader.js';

export function toolCallReader(connection: ReadConnection, lists: ListSource): ToolCallReader {
  return {
    toolCall: (tenant, toolCallId) =>
      connection.one<TableRow<'tool_calls'>>(
        'SELECT * FROM tool_calls WHERE tool_call_id = ? AND tenant = ?',
        toolCallId,
        tenant,
      ),
    attempt: (tenant, toolCallId, attempt) =>
      connection.one<TableRow<'attempts'>>(
        'SELECT * FROM attempts WHERE tool_call_id = ? AND attempt = ? AND tenant = ?',
        toolCallId,
        attempt,
        tenant,
      ),
    handoff: (tenant, handoffId) =>
      connection.one<TableRow<'handoffs'>>(
        'SELECT * FROM handoffs WHERE handoff_id = ? AND tenant = ?',
        handoffId,
        tenant,
      ),
    toolCalls: (query) => lists.toolCalls(query),
  };
}
