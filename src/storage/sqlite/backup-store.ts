import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { BackupManifest } from '../backup-manifest.js';
import { backupInto } from './backup-directory.js';
import { assertSqliteVersion, databasePath, schemaVersionOf, sqliteVersion } from './database-file.js';
import { finishCopy } from './finish-copy.js';
import { InstanceLock } from './instance-lock.js';

/**
 * Copies the database of a data directory that no process runs on. Throws `instance_already_running` when one does, and what
 * `backupInto` throws. An older schema is copied as it is.
 */
export async function backupStore(dataDir: string, directory: string, now: () => number): Promise<BackupManifest> {
  const path = databasePath(dataDir);
  if (!existsSync(path)) throw new CountersignError('backup_failed', 'there is no database in the data directory');
  const createdAt = new Date(now()).toISOString();
  const lock = InstanceLock.take(dataDir, { pid: process.pid, since: createdAt });
  try {
    assertSqliteVersion(sqliteVersion());
    schemaVersionOf(path);
    return await backupInto(directory, createdAt, async (copy) => {
      await copyTo(path, copy);
      return finishCopy(copy, createdAt);
    });
  } finally {
    lock.release();
  }
}

async function copyTo(path: string, copy: string): Promise<void> {
  const database = new Database(path, { fileMustExist: true });
  try {
    await database.backup(copy);
  } finally {
    database.close();
  }
}
