import type { JsonObject } from '../../domain/json/json-value.js';
import type { SessionKey } from '../../domain/session/session-key.js';
import type { SessionSnapshot } from '../../domain/session/session-state.js';

export interface LoadedSnapshot {
  readonly snapshot: SessionSnapshot;
  /** `bak`: the newest one could not be read; said loudly by whoever loads. */
  readonly loadSource: 'main' | 'bak' | 'new';
  /** The last end of the session could not be saved: `isRunning` is false and the checkpoint gone, whatever was stored. */
  readonly notResumable: boolean;
}

/**
 * Where snapshots live. Rejects with `CountersignError`: `invalid_session_id` (before anything is touched), `session_not_found`,
 * `state_corrupt` (nothing readable is left), `schema_version_unsupported` (a newer program's; final, nothing else is tried),
 * `state_save_failed` (what was there before is untouched), `session_identity_mismatch`.
 */
export interface StateStorage {
  /** A new empty state only where there is none at all. */
  loadOrCreate(key: SessionKey, initialMetadata?: JsonObject): Promise<LoadedSnapshot>;
  load(key: SessionKey): Promise<LoadedSnapshot>;
  /** Removes the not-resumable mark too. */
  save(snapshot: SessionSnapshot): Promise<void>;
  /** Snapshot, backup, leftovers and mark; of one that is not there too. */
  delete(key: SessionKey): Promise<void>;
  /** Whether something is stored, readable or not. */
  exists(key: SessionKey): Promise<boolean>;
  /** Neither a save nor a delete: the next load says not resumable. */
  markNotResumable(key: SessionKey): Promise<void>;
  close(): Promise<void>;
}
