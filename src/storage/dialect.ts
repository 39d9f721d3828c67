/**
 * Everything that SQLite and PostgreSQL spell differently in the statements of the one write path and of the readers.
 * The schema is not here: migrations are history and spell themselves.
 */
export interface Dialect {
  readonly begin: string;
  readonly commit: string;
  readonly rollback: string;
  readonly savepoint: string;
  readonly releaseSavepoint: string;
  readonly rollbackToSavepoint: string;
  /** The n-th parameter of a statement, from 1. */
  parameter(n: number): string;
  insert(table: string, columns: readonly string[]): string;
  /** Insert, or replace every column that is not of the key. */
  upsert(table: string, columns: readonly string[], key: readonly string[]): string;
}

const list = (dialect: Pick<Dialect, 'parameter'>, columns: readonly string[]): string =>
  columns.map((_, index) => dialect.parameter(index + 1)).join(', ');

export const SQLITE_DIALECT: Dialect = {
  // IMMEDIATE: a transaction that reads first and writes later would meet SQLITE_BUSY_SNAPSHOT, which no waiting mends.
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  savepoint: 'SAVEPOINT unit',
  releaseSavepoint: 'RELEASE unit',
  rollbackToSavepoint: 'ROLLBACK TO unit',
  parameter: () => '?',
  insert: (table, columns) => `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${list(SQLITE_DIALECT, columns)})`,
  upsert: (table, columns, key) => {
    const replaced = columns
      .filter((column) => !key.includes(column))
      .map((column) => `${column} = excluded.${column}`);
    const action = replaced.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${replaced.join(', ')}`;
    return `${SQLITE_DIALECT.insert(table, columns)} ON CONFLICT (${key.join(', ')}) ${action}`;
  },
};
