import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { openSessionWriter, prepareSessionDatabase } from './session-log-file.js';
import type { SessionLogAnswer, SessionLogRequest, SessionLogThreadData } from './session-log-messages.js';
import { SessionLogWriter } from './session-log-writer.js';

/** The writer thread of the sessions: the one connection of the process that writes to sessions.sqlite. */
const port = parentPort;
if (port === null) throw new Error('the writer of the sessions runs in a thread of its own');

try {
  serve(workerData as SessionLogThreadData);
} catch (error) {
  answer({
    kind: 'unusable',
    code: error instanceof CountersignError ? error.code : null,
    message: messageOf(error),
  });
}

function serve({ path, instanceEpoch }: SessionLogThreadData): void {
  prepareSessionDatabase(path);
  let open: { readonly database: Database; readonly writer: SessionLogWriter } | null = null;
  const opened = (): NonNullable<typeof open> => {
    if (open !== null) return open;
    const database = openSessionWriter(path);
    // What a process before, or a sync that failed, has left in the log is written again and synced: then it is on the disk.
    database.pragma('wal_checkpoint(TRUNCATE)');
    return (open = { database, writer: new SessionLogWriter(database, instanceEpoch) });
  };
  opened();
  port?.on('message', (request: SessionLogRequest) => {
    if (request.kind === 'close') {
      open?.database.close();
      answer({ kind: 'closed' });
      port.close();
      return;
    }
    try {
      answer({ kind: 'written', results: opened().writer.apply(request.writes) });
    } catch (error) {
      // Nobody knows what the connection believes now; the next write begins with a new one.
      open?.database.close();
      open = null;
      answer({ kind: 'failed', message: messageOf(error) });
    }
  });
  answer({ kind: 'ready' });
}

function answer(message: SessionLogAnswer): void {
  port?.postMessage(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'something that is no error';
}
