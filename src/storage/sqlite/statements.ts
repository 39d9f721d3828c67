import type { Database, Statement } from 'better-sqlite3';
import type { Dialect } from '../dialect.js';
import { TABLE_KEYS } from '../rows/table-rules.js';
import type { TableName } from '../rows/tables.js';
import type { Expectation } from '../unit.js';
import { conditionOf } from './condition.js';
import { assertColumns, sqlValue } from './sql-values.js';
import type { SqlValue } from './sql-values.js';

/** Far more shapes than the product has; reached only by a defect, which then costs time and not memory. */
const SHAPES_MAX = 1_000;

/**
 * The statements of the writer, prepared once per table and set of columns. Every name in them comes from the list of tables and
 * columns; every value is a parameter.
 */
export class Statements {
  private readonly prepared = new Map<string, Statement<SqlValue[]>>();

  constructor(
    private readonly database: Database,
    private readonly dialect: Dialect,
  ) {}

  exists(table: TableName, where: Readonly<Record<string, Expectation>>, now: string): boolean {
    const condition = conditionOf(table, where, now);
    const statement = this.statement(
      `exists ${table} ${condition.shape}`,
      () => `SELECT 1 FROM ${table} WHERE ${condition.sql(this.dialect, 1)} LIMIT 1`,
    );
    return statement.get(...condition.values) !== undefined;
  }

  insert(table: TableName, row: Readonly<Record<string, unknown>>): void {
    const columns = columnsOf(table, row);
    const statement = this.statement(`insert ${table} ${columns.join(',')}`, () => this.dialect.insert(table, columns));
    statement.run(...valuesOf(table, row, columns));
  }

  put(table: TableName, row: Readonly<Record<string, unknown>>): void {
    const columns = columnsOf(table, row);
    const statement = this.statement(`put ${table} ${columns.join(',')}`, () =>
      this.dialect.upsert(table, columns, TABLE_KEYS[table]),
    );
    statement.run(...valuesOf(table, row, columns));
  }

  /** Answers how many rows were changed. */
  update(
    table: TableName,
    set: Readonly<Record<string, unknown>>,
    where: Readonly<Record<string, Expectation>>,
    now: string,
  ): number {
    const columns = columnsOf(table, set);
    const condition = conditionOf(table, where, now);
    const statement = this.statement(`update ${table} ${columns.join(',')} where ${condition.shape}`, () => {
      const assignments = columns.map((column, index) => `${column} = ${this.dialect.parameter(index + 1)}`);
      return `UPDATE ${table} SET ${assignments.join(', ')} WHERE ${condition.sql(this.dialect, columns.length + 1)}`;
    });
    return statement.run(...valuesOf(table, set, columns), ...condition.values).changes;
  }

  delete(table: TableName, where: Readonly<Record<string, Expectation>>, now: string): void {
    const condition = conditionOf(table, where, now);
    const statement = this.statement(
      `delete ${table} ${condition.shape}`,
      () => `DELETE FROM ${table} WHERE ${condition.sql(this.dialect, 1)}`,
    );
    statement.run(...condition.values);
  }

  /** What a counter says, or null when it was never counted. */
  counter(tenant: string, key: string): number | null {
    const statement = this.statement('counter', () => {
      const where = `tenant = ${this.dialect.parameter(1)} AND counter_key = ${this.dialect.parameter(2)}`;
      return `SELECT value FROM counters WHERE ${where}`;
    });
    const row = statement.get(sqlValue('counters', 'tenant', tenant), sqlValue('counters', 'counter_key', key)) as
      { value: number } | undefined;
    return row?.value ?? null;
  }

  private statement(shape: string, sql: () => string): Statement<SqlValue[]> {
    const known = this.prepared.get(shape);
    if (known !== undefined) return known;
    if (this.prepared.size >= SHAPES_MAX) this.prepared.clear();
    const statement = this.database.prepare<SqlValue[]>(sql());
    this.prepared.set(shape, statement);
    return statement;
  }
}

function columnsOf(table: TableName, row: Readonly<Record<string, unknown>>): string[] {
  const columns = Object.keys(row);
  if (columns.length === 0) throw new Error(`a write to ${table} names no column`);
  assertColumns(table, columns);
  return columns;
}

const valuesOf = (table: TableName, row: Readonly<Record<string, unknown>>, columns: readonly string[]): SqlValue[] =>
  columns.map((column) => sqlValue(table, column, row[column]));
