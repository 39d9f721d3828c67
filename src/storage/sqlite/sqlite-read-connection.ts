import type { Database, Statement } from 'better-sqlite3';
import type { ReadConnection, ReadValue } from '../read-connection.js';

/** The read-only connection of a SQLite store: every statement is a short transaction of its own, so no reader holds the log back. */
export class SqliteReadConnection implements ReadConnection {
  private readonly statements = new Map<string, Statement<ReadValue[]>>();

  constructor(private readonly database: Database) {}

  async one<R>(sql: string, ...values: readonly ReadValue[]): Promise<R | null> {
    return (this.statement(sql).get(...values) as R | undefined) ?? null;
  }

  async many<R>(sql: string, ...values: readonly ReadValue[]): Promise<readonly R[]> {
    return this.statement(sql).all(...values) as R[];
  }

  private statement(sql: string): Statement<ReadValue[]> {
    const known = this.statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.database.prepare<ReadValue[]>(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}
