import { existsSync, mkdtempSync, rmSync, truncateSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { SessionKey } from '../../../src/domain/session/session-key.js';
import { DatabaseBackend } from '../../../src/sessions/backends/database/database-backend.js';
import { JsonlBackend, type JsonlOptions } from '../../../src/sessions/backends/jsonl/jsonl-backend.js';
import { logPath } from '../../../src/sessions/backends/jsonl/log-path.js';
import type { PersistenceBackend } from '../../../src/sessions/backends/persistence-backend.js';
import { openSessionDatabase } from '../../../src/storage/session-log/open-session-database.js';
import { MemoryLogBackend } from '../../support/memory-log-backend.js';
import { RecordingFiles } from './recording-files.js';

/** A backend under test. A further one is one more function of this type. */
export interface LogBackendUnderTest {
  readonly backend: PersistenceBackend;
  /** The same medium, opened by another process that has a higher epoch. */
  reopen(tookOver?: boolean): Promise<LogBackendUnderTest>;
  /** Leaves the last row of the log unfinished, as a crash would. */
  tearLast(key: SessionKey): Promise<void>;
  /** The next append rejects: before anything is stored, or when everything is. */
  failNextAppend(when: 'before' | 'after'): void;
  /** Two ids with one safe name have one artefact. */
  readonly sharesNames: boolean;
  discard(): Promise<void>;
}

export type OpenLogBackend = () => Promise<LogBackendUnderTest>;

/** The thread of the built product: a worker cannot run TypeScript. */
export const SESSION_WORKER = new URL('../../../dist/storage/session-log/session-log.worker.js', import.meta.url);

export const newSessionsDir = (): string => mkdtempSync(join(tmpdir(), 'countersign-sessions-'));

export function jsonlUnderTest(codec: JsonlOptions['codec']): OpenLogBackend {
  return () => openJsonl({ root: join(newSessionsDir(), 'sessions'), codec, instanceEpoch: 1, tookOver: false });
}

async function openJsonl(options: JsonlOptions): Promise<LogBackendUnderTest> {
  const files = new RecordingFiles();
  const backend = await JsonlBackend.open(options, files);
  return {
    backend,
    sharesNames: true,
    reopen: async (tookOver = false) => {
      if (!tookOver) await backend.close();
      return openJsonl({ ...options, instanceEpoch: options.instanceEpoch + 1, tookOver });
    },
    tearLast: async (key) => {
      const { file } = logPath(options.root, key);
      truncateSync(file, statSync(file).size - (options.codec === 'none' ? 20 : 100));
    },
    failNextAppend: (when) => {
      files.onCall = (call) => {
        if (!call.startsWith(when === 'before' ? 'write ' : 'sync ') || call.endsWith('.new')) return;
        files.onCall = () => undefined;
        throw new Error('the medium has failed');
      };
    },
    discard: async () => {
      await backend.close();
      rmSync(join(options.root, '..'), { recursive: true, force: true });
    },
  };
}

export async function databaseUnderTest(dataDir = newSessionsDir(), epoch = 1): Promise<LogBackendUnderTest> {
  const database = await openSessionDatabase({ dataDir, instanceEpoch: epoch, entry: SESSION_WORKER });
  let failing: 'before' | 'after' | null = null;
  const append = database.append.bind(database);
  database.append = async (key, batch) => {
    const when = failing;
    failing = null;
    if (when === 'before') throw new Error('the medium has failed');
    const result = await append(key, batch);
    if (when === 'after') throw new Error('the answer of the medium is lost');
    return result;
  };
  const backend = new DatabaseBackend(database);
  return {
    backend,
    sharesNames: false,
    reopen: async (tookOver = false) => {
      if (!tookOver) await database.close();
      return databaseUnderTest(dataDir, epoch + 1);
    },
    tearLast: async (key) => {
      const direct = new Database(join(dataDir, 'sessions.sqlite'));
      direct
        .prepare(
          `UPDATE session_log SET text = substr(text, 1, 20) WHERE session = (SELECT session FROM sessions WHERE tenant = ?
           AND session_id = ?) AND seq = (SELECT max(next_seq) - 1 FROM sessions WHERE tenant = ? AND session_id = ?)`,
        )
        .run(key.tenant, key.sessionId, key.tenant, key.sessionId);
      direct.close();
    },
    failNextAppend: (when) => {
      failing = when;
    },
    discard: async () => {
      await backend.close();
      await database.close();
      if (existsSync(dataDir)) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export async function memoryUnderTest(): Promise<LogBackendUnderTest> {
  const backend = new MemoryLogBackend();
  const under: LogBackendUnderTest = {
    backend,
    sharesNames: false,
    reopen: async () => under,
    tearLast: async (key) => {
      const stored = await backend.loadStored(key);
      backend.tear(key, (stored?.rows.length ?? 0) - 1);
    },
    failNextAppend: (when) => backend.failAppend(1, when),
    discard: () => backend.close(),
  };
  return under;
}
