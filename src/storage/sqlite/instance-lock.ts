import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { newPrivateFile, privateFile } from '../private-files.js';
import { sqliteCode } from './write-failure.js';

export interface LockHolder {
  readonly pid: number;
  /** ISO 8601. */
  readonly since: string;
}

/**
 * One process per data directory: an exclusive SQLite transaction on `instance.lock`, held for life. It is an operating-system lock, so
 * it ends with the process however that ends. Who holds it is written beside it, for people.
 */
export class InstanceLock {
  private constructor(private readonly database: Database.Database) {}

  /** Throws `instance_already_running`, naming the holder, when another process (or another store of this one) has it. */
  static take(dataDir: string, holder: LockHolder): InstanceLock {
    const path = join(dataDir, 'instance.lock');
    createIfMissing(path);
    const database = new Database(path, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      if (sqliteCode(error)?.startsWith('SQLITE_BUSY') !== true) throw error;
      throw new CountersignError(
        'instance_already_running',
        `another process has this data directory${whoHolds(dataDir)}`,
      );
    }
    writeFileSync(holderPath(dataDir), `${JSON.stringify(holder)}\n`, { mode: 0o600 });
    return new InstanceLock(database);
  }

  release(): void {
    this.database.close();
  }
}

const holderPath = (dataDir: string): string => join(dataDir, 'instance.json');

function createIfMissing(path: string): void {
  try {
    newPrivateFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    privateFile(path);
  }
}

/** ` (pid 42, since …)`; nothing when the note is missing, half written or not ours. */
function whoHolds(dataDir: string): string {
  try {
    const { pid, since } = JSON.parse(readFileSync(holderPath(dataDir), 'utf8')) as Partial<LockHolder>;
    return Number.isSafeInteger(pid) && typeof since === 'string' ? ` (pid ${pid}, since ${since.slice(0, 30)})` : '';
  } catch {
    return '';
  }
}
