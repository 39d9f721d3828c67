import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

/** How often a lock file that somebody replaced in the same moment is opened again. */
const TRIES_MAX = 5;

/**
 * One process per data directory: an exclusive SQLite transaction on `instance.lock`, held for life. It is an operating-system lock, so
 * it ends with the process however that ends. Who holds it is written beside it, for people.
 *
 * Whoever takes over from a process that lives and does not let go puts a locked file of its own in the place of that lock: what the
 * other holds then is a file without a name, and everybody who comes later meets the new one.
 */
export class InstanceLock {
  private constructor(
    private readonly dataDir: string,
    private readonly holder: LockHolder,
    private database: Database.Database | null,
  ) {}

  /**
   * Throws `instance_already_running`, naming the holder, when another process (or another store of this one) has it. With `takeOver`
   * it answers a lock that is not held yet; `replace` takes it.
   */
  static take(dataDir: string, holder: LockHolder, takeOver = false): InstanceLock {
    const database = lockedFile(lockPath(dataDir));
    if (database === null && !takeOver) {
      throw new CountersignError(
        'instance_already_running',
        `another process has this data directory${whoHolds(dataDir)}`,
      );
    }
    const lock = new InstanceLock(dataDir, holder, database);
    if (database !== null) lock.sign();
    return lock;
  }

  /** False while another process has the directory and this one is about to take over. */
  get isHeld(): boolean {
    return this.database !== null;
  }

  /** Takes the place of a lock that another process holds. Its epoch must be over by now: this stops nobody from writing. */
  replace(): void {
    if (this.database !== null) return;
    const path = lockPath(this.dataDir);
    const own = `${path}.${process.pid}`;
    rmSync(own, { force: true });
    this.database = lockedFile(own);
    if (this.database === null) throw new Error('a lock file that nobody knew of is locked');
    renameSync(own, path);
    this.sign();
  }

  release(): void {
    this.database?.close();
  }

  private sign(): void {
    writeFileSync(holderPath(this.dataDir), `${JSON.stringify(this.holder)}\n`, { mode: 0o600 });
  }
}

const lockPath = (dataDir: string): string => join(dataDir, 'instance.lock');
const holderPath = (dataDir: string): string => join(dataDir, 'instance.json');

/** The file, made when it is missing, with the lock on it; null when somebody else has the lock. */
function lockedFile(path: string): Database.Database | null {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    createIfMissing(path);
    const before = statSync(path).ino;
    const database = new Database(path, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      if (sqliteCode(error)?.startsWith('SQLITE_BUSY') !== true) throw error;
      return null;
    }
    // A lock on a file that has lost its name meanwhile keeps nobody out.
    if (statSync(path).ino === before) return database;
    database.close();
  }
  return null;
}

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
