import type { SessionKey } from '../../domain/session/session-key.js';
import type { SessionHeader, SessionRow } from '../../domain/session/session-row.js';

/** What a medium can do; callers branch on this and never on the class. */
export interface BackendCapabilities {
  /** `readRaw` gives the log as text. */
  readonly rawArtifact: boolean;
  /** A suffix is found by an index instead of by reading everything before it. */
  readonly indexedSuffix: boolean;
  /** Cutting the tail and appending closers become durable together. */
  readonly atomicRepair: boolean;
}

/** Everything a medium holds of one session. `rows` are whole, contiguous from 0 and checked byte by byte, not yet understood. */
export interface StoredLog<M> {
  readonly header: SessionHeader;
  readonly rows: readonly SessionRow[];
  /** Names the current content; another value means that somebody has written since. */
  readonly revision: string;
  /** Present when something unfinished lies behind `rows`. Only the medium that made it can read it. */
  readonly torn?: M;
  /** Everything up to and including this `seq` was promised to be durable; -1: nothing was. */
  readonly barrierSeq: number;
}

export interface AppendOptions {
  /** The artefact exists; false: this is its first write, and an artefact of another session must not be overwritten. */
  readonly materialized: boolean;
  /** Everything written so far is promised from here on. A batch without rows only makes the promise. */
  readonly barrier: boolean;
}

/**
 * Where session logs live. Knows bytes or rows, and nothing of turns. All methods reject with `CountersignError`:
 * `session_log_corrupt` (damage at or before `barrierSeq`, or anywhere that is not the unfinished end),
 * `session_format_unsupported` (header version, codec or row kind of a newer program), `session_identity_mismatch` (the artefact
 * is another session's), `session_id_collision` (first write over another session's artefact), `seq_conflict` (the batch does
 * not begin where the log ends, or has a gap), `session_owned_elsewhere` (another process has written or taken over). Errors
 * of the medium itself (full disk, lost file) reject as they are: whether the batch is durable is then not known, and the next
 * `appendBatch` of the same rows finds out by their event ids and writes none twice.
 *
 * Calls about one key come one at a time; calls about different keys may overlap.
 */
export interface PersistenceBackend<M = unknown> {
  readonly capabilities: BackendCapabilities;

  /** Null: there is no artefact. Never writes. */
  loadStored(key: SessionKey): Promise<StoredLog<M> | null>;

  /** Rows with `seq >= fromSeq`, at most `limit`, as durable now. Rejects with `session_not_found`. */
  loadStoredFrom(
    key: SessionKey,
    fromSeq: number,
    limit: number,
  ): Promise<{ readonly rows: readonly SessionRow[]; readonly revision: string }>;

  readStoredRevision(key: SessionKey): Promise<string | null>;

  /** Resolves when the rows (deeply frozen, contiguous, whole groups) are durable. */
  appendBatch(
    key: SessionKey,
    header: SessionHeader,
    rows: readonly SessionRow[],
    options: AppendOptions,
  ): Promise<{ readonly revision: string }>;

  /** Cuts what `torn` marks, then appends the closers, durable as a barrier. Doing it again after a crash is harmless. */
  commitRepair(
    key: SessionKey,
    torn: M | undefined,
    closers: readonly SessionRow[],
  ): Promise<{ readonly revision: string }>;

  /** Header and rows as text, decompressed; absent where `rawArtifact` is false. */
  readRaw?(key: SessionKey): Promise<string>;

  /** Session ids of the tenant, sorted. */
  list(tenant: string): Promise<readonly string[]>;

  /** Removes the artefact; of one that is not there too. */
  delete(key: SessionKey): Promise<void>;

  /** Ends what is under way and refuses the rest. */
  close(): Promise<void>;
}
