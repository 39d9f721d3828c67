import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import Database from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { META_HOLD, markOfCopy } from '../hold.js';
import type { StoreHead } from '../store-head.js';
import { TreeKeeper } from './tree-keeper.js';

export interface FinishedCopy {
  readonly head: StoreHead;
  readonly schemaVersion: number;
  readonly bytes: number;
  /** Of the file, hexadecimal. */
  readonly sha256: string;
}

/**
 * Makes one self-contained file of a copy, checks it, counts its leaves anew and marks it as a copy, so that whatever opens it later
 * holds. When it resolves the file is on disk. Nobody else has it open. Throws `backup_failed` for a copy that is not whole.
 */
export async function finishCopy(path: string, backupAt: string): Promise<FinishedCopy> {
  const { head, schemaVersion } = checkedAndMarked(path, backupAt);
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  return { head, schemaVersion, bytes: statSync(path).size, sha256: await fileHash(path) };
}

function checkedAndMarked(path: string, backupAt: string): Pick<FinishedCopy, 'head' | 'schemaVersion'> {
  const database = new Database(path, { fileMustExist: true });
  try {
    database.pragma('journal_mode = DELETE');
    database.pragma('synchronous = FULL');
    const problem = database.pragma('quick_check(1)', { simple: true });
    if (problem !== 'ok') throw new CountersignError('backup_failed', 'the copy did not pass its check');
    const head = countAnew(database);
    const mark = JSON.stringify(markOfCopy(head, backupAt));
    database.prepare('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)').run(META_HOLD, mark);
    return { head, schemaVersion: Number(database.pragma('user_version', { simple: true })) };
  } finally {
    database.close();
  }
}

/** The head of a database that nobody writes, from its rows alone. */
export function countAnew(database: Database.Database): StoreHead {
  return new TreeKeeper(database, []).head(Number.POSITIVE_INFINITY);
}

export async function fileHash(path: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest('hex');
}
