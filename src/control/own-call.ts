import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { principalKey, principalOf } from '../domain/principal.js';
import { hasRole, type Caller } from '../identity/caller.js';
import type { StoreReader } from '../storage/readers/store-reader.js';
import { loadCall, type LoadedCall } from '../storage/units/load.js';

/**
 * A call this caller may control: an operator any of the tenant, a harness those of its own principal. For everybody
 * else the id does not exist.
 */
export async function loadOwnCall(read: StoreReader, caller: Caller, toolCallId: string): Promise<LoadedCall> {
  const call = await loadCall(read, caller.tenant, toolCallId);
  const own = call !== null && call.row.principal === principalKey(principalOf(caller.actor));
  if (call === null || !(own || hasRole(caller, 'operator'))) {
    throw new CountersignError('tool_call_not_found', 'there is no such tool call');
  }
  return call;
}

/** @throws CountersignError `not_authorized`, which the command log records. */
export function requireOperator(caller: Caller): void {
  if (!hasRole(caller, 'operator')) throw new CountersignError('not_authorized', 'only an operator may do this');
}

/** For what touches every tenant. @throws CountersignError `not_authorized` */
export function requireInstallationOperator(caller: Caller, settings: Pick<Settings, 'installation'>): void {
  requireOperator(caller);
  if (caller.tenant !== settings.installation.operatorTenant) {
    throw new CountersignError(
      'not_authorized',
      'only an operator of the installation may do this (installation.operatorTenant)',
    );
  }
}
