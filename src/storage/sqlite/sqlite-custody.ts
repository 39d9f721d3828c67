import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { BackupManifest } from '../backup-manifest.js';
import { Custody, type RewrapProgress } from '../custody.js';
import type { Comparison } from '../hold.js';
import type { KeyRing } from '../key-ring.js';
import type { StoreHead } from '../store-head.js';
import { backupInto } from './backup-directory.js';
import type { BackupThreadData } from './backup.worker.js';
import type { FinishedCopy } from './finish-copy.js';
import type { HeadKeeper } from './head-keeper.js';
import type { WriterThread } from './writer-thread.js';

/** The program of the backup thread in a built product: it lies beside this file. */
export const BACKUP_ENTRY = new URL('./backup.worker.js', import.meta.url);

/** While leaves are counted the writer is asked for so many milliseconds of it, and left alone for as many times more. */
const COUNT_MS = 20;
const REST_MS = 60;

export interface CustodyParts {
  readonly comparison: Comparison;
  readonly known: StoreHead | null;
  readonly thread: WriterThread;
  readonly keyRing: KeyRing;
  readonly keeper: HeadKeeper;
  readonly now: () => number;
  readonly backupEntry: URL;
}

export class SqliteCustody extends Custody {
  override readonly comparison: Comparison;
  override readonly known: StoreHead | null;
  private copying = false;

  constructor(private readonly parts: CustodyParts) {
    super();
    this.comparison = parts.comparison;
    this.known = parts.known;
  }

  override get keyRing(): KeyRing {
    return this.parts.keyRing;
  }

  override rewrap(after: string, limit: number): Promise<RewrapProgress> {
    return this.parts.thread.rewrap(after, limit);
  }

  override releaseOtherKeys(): Promise<void> {
    return this.parts.thread.releaseOtherKeys();
  }

  override head(): Promise<StoreHead> {
    return countedHead(this.parts.thread);
  }

  override keep(): Promise<void> {
    return this.parts.keeper.start();
  }

  override async backup(directory: string): Promise<BackupManifest> {
    if (this.copying) throw new CountersignError('backup_running', 'another backup is being made');
    this.copying = true;
    try {
      const backupAt = new Date(this.parts.now()).toISOString();
      return await backupInto(directory, backupAt, async (path) => {
        await this.parts.thread.copyTo(path);
        return finishInThread({ path, backupAt }, this.parts.backupEntry);
      });
    } finally {
      this.copying = false;
    }
  }
}

/** The head with its root, however long counting takes. */
async function countedHead(thread: WriterThread): Promise<StoreHead> {
  for (;;) {
    const head = await thread.head(COUNT_MS);
    if (head.root !== null) return head;
    await pause(REST_MS, undefined, { ref: false });
  }
}

function finishInThread(workerData: BackupThreadData, entry: URL): Promise<FinishedCopy> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(entry, { workerData, name: 'countersign-backup' });
    worker.once('message', (copy: FinishedCopy) => resolve(copy));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the backup thread has ended')));
  });
}
