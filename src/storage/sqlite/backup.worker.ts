import { parentPort, workerData } from 'node:worker_threads';
import { finishCopy, type FinishedCopy } from './finish-copy.js';

/** What the thread is started with. */
export interface BackupThreadData {
  readonly path: string;
  readonly backupAt: string;
}

/** The backup thread: checks, counts and hashes a copy, which takes seconds where the store is large, beside the work of the process. */
const port = parentPort;
if (port === null) throw new Error('a copy is finished in a thread of its own');

const { path, backupAt } = workerData as BackupThreadData;
port.postMessage((await finishCopy(path, backupAt)) satisfies FinishedCopy);
