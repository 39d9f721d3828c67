import { approvalFacts, approvalState } from '../rows/approval.row.js';
import { toolCallFacts, toolCallState } from '../rows/tool-call.row.js';
import type { TableRow } from '../rows/tables.js';
import type { ApprovalState } from '../../domain/approval/approval.state.js';
import type { ToolCallState, ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import type { StoreReader } from '../readers/store-reader.js';
import type { ApprovalBefore } from './approval-in-unit.js';
import type { CallBefore } from './call-in-unit.js';
import { loadedLease } from './lease-in-unit.js';

export interface LoadedCall extends CallBefore {
  readonly state: ToolCallState;
  readonly row: TableRow<'tool_calls'>;
}

export interface LoadedApproval extends ApprovalBefore {
  readonly state: ApprovalState;
  readonly row: TableRow<'approvals'>;
  readonly votes: readonly TableRow<'approval_votes'>[];
}

/** Statuses whose state holds what carries the attempt. */
const ATTEMPTED: readonly ToolCallStatus[] = ['dispatching', 'dispatched', 'accepted', 'result_unknown', 'reconciling'];

/** One primary-key read, and one more each for the attempt that is on the wire or unknown, and for its lease. */
export async function loadCall(read: StoreReader, tenant: string, toolCallId: string): Promise<LoadedCall | null> {
  const row = await read.toolCall(tenant, toolCallId);
  return row === null ? null : callFromRow(read, row);
}

/** Rows are never changed in place, so what was read from one holds for as long as it is kept. */
const LOADED = new WeakMap<TableRow<'tool_calls'>, { attempt: TableRow<'attempts'> | null; call: LoadedCall }>();

export async function callFromRow(read: StoreReader, row: TableRow<'tool_calls'>): Promise<LoadedCall> {
  const attempt = ATTEMPTED.includes(row.status) ? await read.attempt(row.tenant, row.tool_call_id, row.attempt) : null;
  if (row.lease_id !== null) return underLease(read, row, attempt);
  const known = LOADED.get(row);
  if (known !== undefined && known.attempt === attempt) return known.call;
  const call = { row, facts: toolCallFacts(row), state: toolCallState(row, attempt) };
  LOADED.set(row, { attempt, call });
  return call;
}

/** A lease moves without its call: it is read each time. */
async function underLease(
  read: StoreReader,
  row: TableRow<'tool_calls'>,
  attempt: TableRow<'attempts'> | null,
): Promise<LoadedCall> {
  const lease = await read.actLease(row.tenant, row.tool_call_id, row.attempt);
  const call = { row, facts: toolCallFacts(row), state: toolCallState(row, attempt) };
  return lease === null ? call : { ...call, lease: loadedLease(lease) };
}

export async function loadApproval(
  read: StoreReader,
  tenant: string,
  approvalId: string,
): Promise<LoadedApproval | null> {
  const row = await read.approval(tenant, approvalId);
  if (row === null) return null;
  const votes = await read.votes(tenant, approvalId);
  return { row, votes, facts: approvalFacts(row), state: approvalState(row, votes) };
}
