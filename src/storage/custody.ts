import type { BackupManifest } from './backup-manifest.js';
import type { Comparison } from './hold.js';
import type { KeyRing } from './key-ring.js';
import type { StoreHead } from './store-head.js';

/** How far rewrapping has come. */
export interface RewrapProgress {
  /** Keys that were wrapped again in this step. */
  readonly moved: number;
  /** Where the next step goes on; null: that was the last. */
  readonly next: string | null;
  /** Ids of key-encryption keys besides the current one that are still needed as far as is known. */
  readonly outstanding: readonly string[];
}

/** The store as a thing that can be copied, lost and put back. */
export abstract class Custody {
  /** What the note outside said when the store was opened. */
  abstract readonly comparison: Comparison;
  /** The note that was found; null when there was none that can be read. */
  abstract readonly known: StoreHead | null;

  /** What keys and secrets of this store are wrapped with. */
  abstract readonly keyRing: KeyRing;

  /**
   * One bounded step of wrapping everything again under the current key-encryption key; begin after ''. Nothing else waits longer
   * than for this step. Rejects with a plain `Error` when a key does not unwrap; whatever was done before it stays done.
   */
  abstract rewrap(after: string, limit: number): Promise<RewrapProgress>;

  /** After the last step: no key-encryption key but the current one is needed any more. Rejects while one is. */
  abstract releaseOtherKeys(): Promise<void>;

  /** The head of the store now. A store that was never counted takes as long as reading all its leaf hashes. */
  abstract head(): Promise<StoreHead>;

  /** Writes the note and keeps it up to date from now on, at most a second behind. Resolves when the first one is on disk. */
  abstract keep(): Promise<void>;

  /**
   * Copies the running store to a new directory and answers what is in it. Commits go on meanwhile.
   *
   * @throws CountersignError `backup_running`, `backup_failed`
   */
  abstract backup(directory: string): Promise<BackupManifest>;
}
