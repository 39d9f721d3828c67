import { principalKey } from '../../domain/principal.js';
import type { RunState } from '../../domain/run/run.state.js';
import { principalFromKey } from './principal-column.js';
import type { TableRow } from './tables.js';

type Row = TableRow<'runs'>;

const FACT_COLUMNS = [
  'run_id',
  'tenant',
  'session_id',
  'version',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Row)[];

/** The columns of a run's row that its state does not hold. */
export type RunFacts = Pick<Row, (typeof FACT_COLUMNS)[number]>;

/** The facts of a row, to be carried into its next version. */
export function runFacts(row: Row): RunFacts {
  return Object.fromEntries(FACT_COLUMNS.map((column) => [column, row[column]])) as unknown as RunFacts;
}

export function runRow(facts: RunFacts, state: RunState): Row {
  return {
    ...facts,
    principal: principalKey(state.principal),
    status: state.status,
    implicit: state.implicit ? 1 : 0,
    label: state.label,
    model_leg: state.modelLeg,
    end_reason: state.endReason,
  };
}

export function runState(row: Row): RunState {
  return {
    status: row.status,
    implicit: row.implicit === 1,
    label: row.label,
    principal: principalFromKey(row.principal),
    modelLeg: row.model_leg,
    endReason: row.end_reason,
  };
}
