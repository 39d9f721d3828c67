import { join } from 'node:path';
import type { SessionSettings } from '../config/settings.js';
import { openSessionDatabase } from '../storage/session-log/open-session-database.js';
import type { SessionDatabase } from '../storage/session-log/session-database.js';
import type { PersistenceBackend } from './backends/persistence-backend.js';
import { DatabaseBackend } from './backends/database/database-backend.js';
import { JsonlBackend } from './backends/jsonl/jsonl-backend.js';
import type { SecretTest } from './session-secrets.js';
import { DatabaseStateStorage } from './snapshots/database-state-storage.js';
import { FileStateStorage } from './snapshots/file-state-storage.js';
import type { StateStorage } from './snapshots/state-storage.js';

export interface SessionStoreOptions {
  /** Absolute, and there. */
  readonly dataDir: string;
  readonly settings: Pick<SessionSettings, 'backend' | 'codec' | 'snapshots'>;
  /** Of this process; every later one of the data directory has a higher one. */
  readonly instanceEpoch: number;
  /** The process before this one may still run. */
  readonly tookOver: boolean;
  readonly isSecret: SecretTest;
  readonly clock: { now(): number };
}

/** Where logs and snapshots of sessions are kept: beside the event store, in files or a database of their own. */
export class SessionStores {
  constructor(
    readonly backend: PersistenceBackend,
    readonly snapshots: StateStorage,
    readonly isSecret: SecretTest,
    private readonly database: SessionDatabase | null,
  ) {}

  /** Of a running process after its sessions were drained. Closing what is closed is harmless. */
  async close(): Promise<void> {
    const closed = await Promise.allSettled([this.backend.close(), this.snapshots.close()]);
    await this.database?.close();
    for (const result of closed) if (result.status === 'rejected') throw result.reason;
  }
}

/**
 * Opens what the settings name and nothing else. Rejects with `sqlite_application_id_mismatch`, `schema_version_unsupported`,
 * `sqlite_pragma_refused`, `invalid_settings` or `session_owned_elsewhere`.
 */
export async function openSessionStores(options: SessionStoreOptions): Promise<SessionStores> {
  const { settings, dataDir, instanceEpoch, tookOver, isSecret, clock } = options;
  const root = join(dataDir, 'sessions');
  const needsDatabase = settings.backend === 'database' || settings.snapshots === 'database';
  const database = needsDatabase ? await openSessionDatabase({ dataDir, instanceEpoch }) : null;
  try {
    const backend =
      settings.backend === 'database' && database !== null
        ? new DatabaseBackend(database)
        : await JsonlBackend.open({ root, codec: settings.codec, instanceEpoch, tookOver });
    const snapshots =
      settings.snapshots === 'database' && database !== null
        ? new DatabaseStateStorage(database, isSecret, clock)
        : new FileStateStorage(root, isSecret);
    return new SessionStores(backend, snapshots, isSecret, database);
  } catch (error) {
    await database?.close();
    throw error;
  }
}
