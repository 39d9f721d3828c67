import { isWellFormed } from '../../domain/text/well-formed.js';
import { TABLE_COLUMNS } from '../rows/columns.js';
import type { ColumnKind } from '../rows/columns.js';
import type { TableName } from '../rows/tables.js';

export type SqlValue = string | number | null;

/** Throws a plain `Error` unless this is a table a unit may name. */
export function assertTable(table: string): asserts table is TableName {
  if (!Object.hasOwn(TABLE_COLUMNS, table)) throw new Error(`no unit may name the table ${printable(table)}`);
}

/** Throws a plain `Error` unless every name is a column of the table. */
export function assertColumns(table: TableName, columns: readonly string[]): void {
  for (const column of columns) {
    if (!Object.hasOwn(TABLE_COLUMNS[table], column)) {
      throw new Error(`table ${table} has no column ${printable(column)}`);
    }
  }
}

/**
 * The value, if the column gives back exactly it. Half of a surrogate pair has no UTF-8 and would come back as another text; a number
 * that is not a safe integer would come back rounded; a number in a text column would come back as text.
 */
export function sqlValue(table: TableName, column: string, value: unknown): SqlValue {
  if (value === null) return null;
  const kind = (TABLE_COLUMNS[table] as Readonly<Record<string, ColumnKind>>)[column];
  const isText = kind === 'text' || kind === 'text?';
  if (isText && typeof value === 'string' && isWellFormed(value)) return value;
  if (!isText && Number.isSafeInteger(value)) return value as number;
  throw new Error(`column ${column} of ${table} cannot hold this ${typeof value}`);
}

/** A name for an error text, when it is one. */
const printable = (name: string): string => (/^\w{1,64}$/.test(name) ? name : 'that was named');
