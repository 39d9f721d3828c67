import { CountersignError } from '../../domain/errors/countersign-error.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import { hasRole, type Caller, type Role } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import type { Store } from '../../storage/store.js';

/** A run of the caller's own principal, or of the tenant for the roles named. @throws CountersignError `run_not_found` */
export async function runSeenBy(
  store: Store,
  caller: Caller,
  runId: string,
  ...roles: readonly Role[]
): Promise<TableRow<'runs'>> {
  const row = await store.read.run(caller.tenant, runId);
  const own = row !== null && row.principal === principalKey(principalOf(caller.actor));
  if (row === null || !(own || hasRole(caller, ...roles))) {
    throw new CountersignError('run_not_found', 'there is no such run');
  }
  return row;
}
