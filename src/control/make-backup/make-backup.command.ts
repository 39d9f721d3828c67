import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { BackupManifest } from '../../storage/backup-manifest.js';

/** A copy that was made, and where. */
export interface MadeBackup {
  readonly backupId: string;
  /** Absolute, on the file system of the server. */
  readonly directory: string;
  readonly manifest: BackupManifest;
}

/** Copies the running store to a new directory of the server. */
export class MakeBackup extends Command<MadeBackup> {
  constructor(readonly caller: Caller) {
    super();
  }
}
