import { openSessionReader, sessionDatabasePath } from './session-log-file.js';
import { SESSION_LOG_ENTRY, SessionLogThread } from './session-log-thread.js';
import { SqliteSessionDatabase } from './sqlite-session-database.js';

export interface OpenSessionDatabaseOptions {
  /** Absolute, and there. */
  readonly dataDir: string;
  /** Of this process; a process with a lower one can write nothing from here on. */
  readonly instanceEpoch: number;
  /** Where the built thread is, when it does not lie beside this file. */
  readonly entry?: URL;
}

/**
 * Opens `sessions.sqlite` of the data directory, making it when there is none. Rejects with `sqlite_application_id_mismatch`,
 * `schema_version_unsupported` or `sqlite_pragma_refused`, and then has changed nothing.
 */
export async function openSessionDatabase(options: OpenSessionDatabaseOptions): Promise<SqliteSessionDatabase> {
  const path = sessionDatabasePath(options.dataDir);
  const { instanceEpoch } = options;
  const thread = await SessionLogThread.start({ path, instanceEpoch }, options.entry ?? SESSION_LOG_ENTRY);
  try {
    return new SqliteSessionDatabase(openSessionReader(path), thread);
  } catch (error) {
    await thread.close();
    throw error;
  }
}
