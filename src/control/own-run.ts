import { CountersignError } from '../domain/errors/countersign-error.js';
import { principalKey, principalOf } from '../domain/principal.js';
import { hasRole, type Caller } from '../identity/caller.js';
import type { StoreReader } from '../storage/readers/store-reader.js';
import { runFacts, runState } from '../storage/rows/run.row.js';
import type { TableRow } from '../storage/rows/tables.js';
import type { RunBefore } from '../storage/units/run-in-unit.js';
import type { UnitDesk } from '../storage/units/unit-desk.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import type { RunState } from '../domain/run/run.state.js';
import type { About } from './command-log.js';

export interface LoadedRun extends RunBefore {
  readonly state: RunState;
  readonly row: TableRow<'runs'>;
}

/**
 * A run this caller may control: an operator any of the tenant, a harness those of its own principal. For everybody else
 * the id does not exist.
 */
export async function loadOwnRun(read: StoreReader, caller: Caller, runId: string): Promise<LoadedRun> {
  const row = await read.run(caller.tenant, runId);
  const own = row !== null && row.principal === principalKey(principalOf(caller.actor));
  if (row === null || !(own || hasRole(caller, 'operator'))) {
    throw new CountersignError('run_not_found', 'there is no such run');
  }
  return { row, state: runState(row), facts: runFacts(row) };
}

export const aboutRun = ({ row }: LoadedRun): About => ({
  correlationId: row.run_id,
  runId: row.run_id,
  sessionId: row.session_id,
});

/** A unit about a run on its harness's word. */
export function beginInRun(
  desk: UnitDesk,
  caller: Caller,
  run: { readonly run_id: string; readonly session_id: string },
  more: { readonly lane: 'admit' | 'govern'; readonly now: string; readonly correlationId?: string },
): UnitDraft {
  return desk.begin({
    tenant: caller.tenant,
    lane: more.lane,
    actor: caller.actor,
    correlationId: more.correlationId ?? run.run_id,
    runId: run.run_id,
    sessionId: run.session_id,
    occurredAt: more.now,
    causationId: null,
    causeKind: 'external',
  });
}
