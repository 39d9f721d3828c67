import { existsSync } from 'node:fs';
import { SCHEMA_VERSION, migrateSqlite } from '../migrations.js';
import { assertSqliteVersion, databasePath, schemaVersionOf, sqliteVersion } from './database-file.js';
import { InstanceLock } from './instance-lock.js';

/**
 * Brings the database of a data directory to the schema version of this program, while no process runs on it. Answers the versions
 * before and after. Throws `instance_already_running`, `sqlite_application_id_mismatch` or `schema_version_unsupported` and changes
 * nothing; a migration that fails is rolled back.
 */
export async function migrateStore(dataDir: string, now: () => number): Promise<{ from: number; to: number }> {
  const lock = InstanceLock.take(dataDir, { pid: process.pid, since: new Date(now()).toISOString() });
  try {
    assertSqliteVersion(sqliteVersion());
    const path = databasePath(dataDir);
    const from = schemaVersionOf(path);
    if (from < SCHEMA_VERSION) await migrateSqlite(path, (database) => database.pragma('synchronous = FULL'));
    return { from, to: SCHEMA_VERSION };
  } finally {
    lock.release();
  }
}

/**
 * The schema version of the database of a data directory, null when there is none, and that of this program. Refuses what
 * `migrateStore` refuses, a running process included, and changes nothing in the database.
 */
export function schemaVersions(dataDir: string, now: () => number): { found: number | null; known: number } {
  const path = databasePath(dataDir);
  if (!existsSync(path)) return { found: null, known: SCHEMA_VERSION };
  const lock = InstanceLock.take(dataDir, { pid: process.pid, since: new Date(now()).toISOString() });
  try {
    assertSqliteVersion(sqliteVersion());
    return { found: schemaVersionOf(path), known: SCHEMA_VERSION };
  } finally {
    lock.release();
  }
}
