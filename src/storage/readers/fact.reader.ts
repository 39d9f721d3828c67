import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { FactsReader } from './store-reader.js';

export function factsReader(connection: ReadConnection): FactsReader {
  return {
    denialsSince: async (tenant, intentDigest, since) => {
      const rows = await connection.many<{ basis: string; times: number }>(
        `SELECT status_reason AS basis, COUNT(*) AS times FROM tool_calls
         WHERE tenant = ? AND intent_digest = ? AND status = 'denied' AND updated_at >= ? GROUP BY status_reason`,
        tenant,
        intentDigest,
        since,
      );
      const sum = (isCounted: (basis: string) => boolean): number =>
        rows.reduce((total, { basis, times }) => (isCounted(basis) ? total + times : total), 0);
      return { byPeople: sum((basis) => basis === 'approval'), byPolicy: sum((basis) => basis !== 'approval') };
    },
    usedBefore: async (tenant, principal, capability, toolCallId) => {
      const row = await connection.one<{ found: number }>(
        `SELECT 1 AS found FROM idempotency
         WHERE tenant = ? AND principal = ? AND capability = ? AND tool_call_id <> ? LIMIT 1`,
        tenant,
        principal,
        capability,
        toolCallId,
      );
      return row !== null;
    },
    // The condition on the calls is that of the index \`tool_calls_reserved\`.
    endedCounters: (prefix, before, limit) =>
      connection.many<TableRow<'counters'>>(
        `SELECT * FROM counters WHERE counter_key >= ? AND counter_key < ? AND NOT EXISTS (
           SELECT 1 FROM tool_calls, json_each(tool_calls.reserved) AS taken
           WHERE tool_calls.tenant = counters.tenant AND reserved IS NOT NULL AND resolution_finding IS NULL
             AND status NOT IN ('completed', 'failed', 'denied', 'not_executed')
             AND json_extract(taken.value, '$.key') = counters.counter_key
         ) ORDER BY tenant, counter_key LIMIT ?`,
        prefix,
        `${prefix}${before}`,
        limit,
      ),
  };
}
