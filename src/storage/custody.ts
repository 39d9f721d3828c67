import type { BackupManifest } from './backup-manifest.js';
import type { Comparison } from './hold.js';
import type { StoreHead } from './store-head.js';

/** The store as a thing that can be copied, lost and put back. */
export abstract class Custody {
  /** What the note outside said when the store was opened. */
  abstract readonly comparison: Comparison;
  /** The note that was found; null when there was none that can be read. */
  abstract readonly known: StoreHead | null;

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
