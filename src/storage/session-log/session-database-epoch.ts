import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { sessionDatabasePath } from './session-log-file.js';

/**
 * The epoch of the last process that has opened `sessions.sqlite` of the data directory; 0 where there is none. Of a file that cannot
 * be read too: whoever opens it to work with it says what is wrong. Changes nothing.
 */
export function sessionDatabaseEpoch(dataDir: string): number {
  const path = sessionDatabasePath(dataDir);
  if (!existsSync(path)) return 0;
  let database: Database.Database | null = null;
  try {
    database = new Database(path, { readonly: true, fileMustExist: true });
    const epoch: unknown = database.prepare('SELECT epoch FROM owner').pluck().get();
    return typeof epoch === 'number' ? epoch : 0;
  } catch {
    return 0;
  } finally {
    database?.close();
  }
}
