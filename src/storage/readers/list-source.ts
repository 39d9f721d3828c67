import type { TableRow } from '../rows/tables.js';
import type { ApprovalListQuery, LeaseListQuery, Page, ToolCallListQuery } from './lists.js';

/** Lists with filters, newest first, in pages. */
export interface ListSource {
  toolCalls(query: ToolCallListQuery): Promise<Page<TableRow<'tool_calls'>>>;
  approvals(query: ApprovalListQuery): Promise<Page<TableRow<'approvals'>>>;
  leases(query: LeaseListQuery): Promise<Page<TableRow<'leases'>>>;
}
