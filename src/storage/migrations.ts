import Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import type { MigrationInterface } from 'typeorm';
import { reached } from '../system/crash-points.js';

/** In order; the file of number n brings the schema to version n. Built and source programs load the same files. */
const MIGRATION_FILES = [
  '0001-first-schema.mjs',
  '0002-outbox.mjs',
  '0003-late-evidence.mjs',
  '0004-stop-and-compensation.mjs',
  '0005-outcomes-and-run-objects.mjs',
  '0006-sessions.mjs',
  '0007-leases.mjs',
  '0008-approvals.mjs',
  '0009-limits.mjs',
  '0010-policy-sets.mjs',
  '0011-secrets.mjs',
  '0012-plan-reviews.mjs',
] as const;

/** The version this program reads and writes: `user_version` of the database. */
export const SCHEMA_VERSION = Math.max(...MIGRATION_FILES.map((file) => Number.parseInt(file, 10)));

type MigrationClass = new () => MigrationInterface;

async function loadMigrations(): Promise<MigrationClass[]> {
  const modules = await Promise.all(
    MIGRATION_FILES.map(async (file) => {
      const module = (await import(new URL(`../../migrations/${file}`, import.meta.url).href)) as object;
      return Object.values(module) as MigrationClass[];
    }),
  );
  return modules.flat();
}

/**
 * Brings a SQLite database to `SCHEMA_VERSION`, each migration in a transaction of its own. The file exists and nobody else has it
 * open. TypeORM keeps its own table of what has run; `synchronize` is never used.
 */
export async function migrateSqlite(path: string, prepare: (database: Database.Database) => void): Promise<void> {
  const source = new DataSource({
    type: 'better-sqlite3',
    driver: Database,
    database: path,
    fileMustExist: true,
    prepareDatabase: (database: Database.Database) => prepare(database),
    verbose: (statement: unknown) => reached('storage.migration-statement', statement),
    migrations: await loadMigrations(),
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false,
  });
  await source.initialize();
  try {
    await source.runMigrations();
  } finally {
    await source.destroy();
  }
}
