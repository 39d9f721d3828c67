import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { APPLICATION_ID, PAGE_BYTES } from '../../../src/storage/sqlite/connection.js';

const FOLDER = fileURLToPath(new URL('../../../migrations/', import.meta.url));

interface Migration {
  readonly name: string;
  up(runner: { query(sql: string): Promise<unknown> }): Promise<void>;
}

/** In order, the newest last. */
async function migrations(): Promise<readonly Migration[]> {
  const files = readdirSync(FOLDER).filter((file) => /^\d{4}-.*\.mjs$/.test(file));
  return Promise.all(
    files.toSorted().map(async (file) => {
      const module = (await import(`${FOLDER}${file}`)) as Readonly<Record<string, new () => Migration>>;
      const [MigrationClass] = Object.values(module);
      if (MigrationClass === undefined) throw new Error(`${file} has no migration`);
      return new MigrationClass();
    }),
  );
}

/** How much the newest migration does. */
export async function newestMigration(): Promise<{ statements: number }> {
  const newest = (await migrations()).at(-1);
  let statements = 0;
  await newest?.up({ query: async () => void (statements += 1) });
  return { statements };
}

/** A database as the release before this one left it: all migrations but the newest. */
export async function olderDatabase(file: string): Promise<void> {
  const database = new Database(file);
  database.pragma(`page_size = ${PAGE_BYTES}`);
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma('journal_mode = WAL');
  // As TypeORM makes it.
  database.exec(
    'CREATE TABLE "schema_migrations" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "timestamp" bigint NOT NULL, "name" varchar NOT NULL)',
  );
  const done = database.prepare('INSERT INTO schema_migrations ("timestamp", "name") VALUES (?, ?)');
  for (const migration of (await migrations()).slice(0, -1)) {
    await migration.up({ query: async (sql) => void database.exec(sql) });
    done.run(Number(/\d+$/.exec(migration.name)?.[0]), migration.name);
  }
  database.close();
}

/** Everything that is defined, and which migrations say that they have run. */
export function schemaOf(database: Database.Database): unknown {
  return {
    defined: database.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all(),
    ran: database.prepare('SELECT name FROM schema_migrations ORDER BY id').pluck().all(),
  };
}
