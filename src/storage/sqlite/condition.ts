import type { Dialect } from '../dialect.js';
import type { TableName } from '../rows/tables.js';
import type { Expectation } from '../unit.js';
import { assertColumns, sqlValue } from './sql-values.js';
import type { SqlValue } from './sql-values.js';

/** A WHERE clause with its parameters. `shape` names the clause: equal shapes have equal SQL. */
export interface Condition {
  readonly shape: string;
  readonly values: readonly SqlValue[];
  /** The SQL; its first parameter is number `firstParameter`. */
  sql(dialect: Dialect, firstParameter: number): string;
}

interface Term {
  readonly column: string;
  readonly kind: '=' | 'null' | 'in' | '>' | '<=';
  readonly values: readonly SqlValue[];
}

/**
 * The condition that every column is as expected. `now` is the writer's clock: `after_now` holds for a time later than it,
 * `not_after_now` for it and every earlier time; neither holds for null. Throws a plain `Error` for an unknown column or no column.
 */
export function conditionOf(table: TableName, where: Readonly<Record<string, Expectation>>, now: string): Condition {
  const columns = Object.keys(where);
  if (columns.length === 0) throw new Error(`a condition on ${table} names no column`);
  assertColumns(table, columns);
  const terms = columns.map((column) => termOf(table, column, where[column], now));
  return {
    shape: terms.map(({ column, kind, values }) => `${column} ${kind}${kind === 'in' ? values.length : ''}`).join(','),
    values: terms.flatMap(({ values }) => values),
    sql: (dialect, firstParameter) => {
      let next = firstParameter;
      return terms.map((term) => termSql(term, () => dialect.parameter(next++))).join(' AND ');
    },
  };
}

function termOf(table: TableName, column: string, expected: Expectation | undefined, now: string): Term {
  if (expected === null) return { column, kind: 'null', values: [] };
  if (typeof expected !== 'object') return { column, kind: '=', values: [sqlValue(table, column, expected)] };
  if ('clock' in expected) return { column, kind: expected.clock === 'after_now' ? '>' : '<=', values: [now] };
  const values = expected.oneOf.map((value) => sqlValue(table, column, value));
  if (values.length === 0) throw new Error(`column ${column} is expected to be one of nothing`);
  return { column, kind: 'in', values };
}

function termSql(term: Term, parameter: () => string): string {
  switch (term.kind) {
    case 'null':
      return `${term.column} IS NULL`;
    case 'in':
      return `${term.column} IN (${term.values.map(parameter).join(', ')})`;
    case '=':
    case '>':
    case '<=':
      return `${term.column} ${term.kind} ${parameter()}`;
  }
}
