import { CountersignError } from '../domain/errors/countersign-error.js';
import { principalKey, principalOf } from '../domain/principal.js';
import { sessionIdProblem } from '../domain/session/session-id.js';
import { hasRole, type Caller, type Role } from '../identity/caller.js';
import type { SessionReader } from '../storage/readers/session-records.js';
import type { TableRow } from '../storage/rows/tables.js';

/**
 * A session of the caller's own principal, or, for callers in one of the other roles, any of the tenant. For everybody else the
 * id does not exist. @throws CountersignError `invalid_session_id` before anything is read, `session_not_found`,
 * `session_deleted`.
 */
export async function loadOwnSession(
  read: Pick<SessionReader, 'session'>,
  caller: Caller,
  sessionId: string,
  ...others: readonly Role[]
): Promise<TableRow<'sessions'>> {
  const row = await loadSessionOrTombstone(read, caller, sessionId, ...others);
  if (row.status === 'deleted') throw new CountersignError('session_deleted', 'the session was deleted');
  return row;
}

/** The same, and of a deleted session what remains of it. */
export async function loadSessionOrTombstone(
  read: Pick<SessionReader, 'session'>,
  caller: Caller,
  sessionId: string,
  ...others: readonly Role[]
): Promise<TableRow<'sessions'>> {
  const problem = sessionIdProblem(sessionId);
  if (problem !== null) throw new CountersignError('invalid_session_id', problem);
  const row = await read.session(caller.tenant, sessionId);
  const own = row !== null && row.principal === principalKey(principalOf(caller.actor));
  if (row === null || !(own || (others.length > 0 && hasRole(caller, ...others)))) {
    throw new CountersignError('session_not_found', 'there is no such session');
  }
  return row;
}

/** @throws CountersignError `owner_epoch_stale` when another harness has attached since. */
export function mustOwn(row: TableRow<'sessions'>, ownerEpoch: number): void {
  if (row.owner_epoch !== ownerEpoch) {
    throw new CountersignError('owner_epoch_stale', `the session is at owner epoch ${row.owner_epoch}`);
  }
}
