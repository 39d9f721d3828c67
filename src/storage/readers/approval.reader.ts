import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { ListSource } from './list-source.js';
import type { ApprovalReader } from './store-reader.js';

export function approvalReader(connection: ReadConnection, lists: ListSource): ApprovalReader {
  return {
    approval: (tenant, approvalId) =>
      connection.one<TableRow<'approvals'>>(
        'SELECT * FROM approvals WHERE approval_id = ? AND tenant = ?',
        approvalId,
        tenant,
      ),
    votes: (tenant, approvalId) =>
      connection.many<TableRow<'approval_votes'>>(
        'SELECT * FROM approval_votes WHERE approval_id = ? AND tenant = ? ORDER BY event_id',
        approvalId,
        tenant,
      ),
    approvals: (query) => lists.approvals(query),
  };
}
