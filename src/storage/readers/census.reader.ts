import type { ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import type { ReadConnection } from '../read-connection.js';
import { wordList } from './sql-words.js';
import type { CensusReader } from './store-reader.js';
import { SETTLED } from './work.reader.js';

export function censusReader(connection: ReadConnection): CensusReader {
  return {
    openCallCounts: async () => {
      const rows = await connection.many<{ status: ToolCallStatus; calls: number }>(
        `SELECT status, COUNT(*) AS calls FROM tool_calls
         WHERE status NOT IN ${wordList(...SETTLED)} AND status <> 'manual_handoff' GROUP BY status
         UNION ALL
         SELECT status, COUNT(*) AS calls FROM tool_calls
         WHERE status = 'manual_handoff' AND status NOT IN ${wordList(...SETTLED)} AND resolution_finding IS NULL`,
      );
      return new Map(rows.filter(({ calls }) => calls > 0).map(({ status, calls }) => [status, calls]));
    },
    pendingApprovals: async () => {
      const row = await connection.one<{ pending: number }>(
        `SELECT COUNT(*) AS pending FROM approvals WHERE status = 'pending'`,
      );
      return row?.pending ?? 0;
    },
  };
}
