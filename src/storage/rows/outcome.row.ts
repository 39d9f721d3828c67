import type { OutcomeState, SeenEvidence } from '../../domain/outcome/outcome.state.js';
import { needed } from './needed.js';
import type { TableRow } from './tables.js';

type Row = TableRow<'outcomes'>;

const FACT_COLUMNS = [
  'tool_call_id',
  'tenant',
  'run_id',
  'session_id',
  'correlation_id',
  'version',
  'verdict_event_id',
  'last_event_id',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Row)[];

/** The columns of an outcome's row that its state does not hold. */
export type OutcomeFacts = Pick<Row, (typeof FACT_COLUMNS)[number]>;

/** The facts of a row, to be carried into its next version. */
export function outcomeFacts(row: Row): OutcomeFacts {
  return Object.fromEntries(FACT_COLUMNS.map((column) => [column, row[column]])) as unknown as OutcomeFacts;
}

export function outcomeRow(facts: OutcomeFacts, state: OutcomeState): Row {
  return {
    ...facts,
    criteria_id: state.criteriaId,
    criteria_version: state.criteriaVersion,
    needs: JSON.stringify(state.needs),
    within_ms: state.withinMs,
    attempt: state.attempt,
    deadline: state.deadline,
    seen: JSON.stringify(state.seen),
    status: state.status,
    status_reason: reasonOf(state),
  };
}

function reasonOf(state: OutcomeState): string | null {
  switch (state.status) {
    case 'pending':
    case 'confirmed_success':
      return null;
    case 'confirmed_failure':
      return state.basis;
    case 'inconclusive':
      return state.reason;
  }
}

/** The state that the row says. */
export function outcomeState(row: Row): OutcomeState {
  const verification = {
    criteriaId: row.criteria_id,
    criteriaVersion: row.criteria_version,
    needs: JSON.parse(row.needs) as readonly string[],
    withinMs: row.within_ms,
    attempt: row.attempt,
    deadline: row.deadline,
    seen: JSON.parse(row.seen) as readonly SeenEvidence[],
  };
  switch (row.status) {
    case 'pending':
    case 'confirmed_success':
      return { ...verification, status: row.status };
    case 'confirmed_failure':
      return { ...verification, status: row.status, basis: needed(row.status_reason, 'status_reason') };
    case 'inconclusive':
      return { ...verification, status: row.status, reason: needed(row.status_reason, 'status_reason') };
  }
}
