import type { Database } from 'better-sqlite3';
import type { CheckpointProgress } from './writer-port.js';

interface CheckpointRow {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

/** One passive pass: moves what no reader needs in the log any more, waits for nobody and makes nobody wait. */
export function checkpointPassively(database: Database): CheckpointProgress {
  const [row] = database.pragma('wal_checkpoint(PASSIVE)') as CheckpointRow[];
  return { logFrames: Math.max(0, row?.log ?? 0), checkpointedFrames: Math.max(0, row?.checkpointed ?? 0) };
}
