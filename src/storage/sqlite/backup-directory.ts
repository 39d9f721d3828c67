import { rmSync, writeFileSync, openSync, fsyncSync, closeSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { PRODUCT_VERSION } from '../../system/product-version.js';
import { COPY_FILE, MANIFEST_FILE, type BackupManifest } from '../backup-manifest.js';
import { newPrivateFile, syncDirectory } from '../private-files.js';
import type { FinishedCopy } from './finish-copy.js';

/** How a copy is made: into this file, which is there, empty and private. */
export type MakeCopy = (path: string) => Promise<FinishedCopy>;

/**
 * Makes a directory with a copy and its manifest, mode 0700 and 0600. The manifest is written last: a directory without one is no
 * backup. A copy that fails leaves nothing behind. Throws `backup_failed`, also when the directory holds anything already.
 */
export async function backupInto(directory: string, createdAt: string, makeCopy: MakeCopy): Promise<BackupManifest> {
  const isNew = claim(directory);
  const copy = join(directory, COPY_FILE);
  try {
    newPrivateFile(copy);
    const { head, schemaVersion, bytes, sha256 } = await makeCopy(copy);
    if (head.root === null) throw new Error('the copy has not been counted');
    const manifest: BackupManifest = {
      format: 'countersign/backup/1',
      createdAt,
      productVersion: PRODUCT_VERSION,
      schemaVersion,
      size: head.size,
      root: head.root,
      file: COPY_FILE,
      bytes,
      sha256,
    };
    writeDurably(join(directory, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
    syncDirectory(directory);
    if (isNew) syncDirectory(dirname(directory));
    return manifest;
  } catch (error) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${copy}${suffix}`, { force: true });
    rmSync(join(directory, MANIFEST_FILE), { force: true });
    if (isNew) rmSync(directory, { recursive: true, force: true });
    throw failed(error);
  }
}

/** True when the directory was made. */
function claim(directory: string): boolean {
  try {
    const made = mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (readdirSync(directory).length === 0) return made !== undefined;
  } catch (error) {
    throw failed(error);
  }
  throw new CountersignError('backup_failed', 'the directory is not empty; name a new one');
}

function writeDurably(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function failed(error: unknown): CountersignError {
  if (error instanceof CountersignError) return error;
  const why = error instanceof Error ? error.message : 'something that is no error';
  return new CountersignError('backup_failed', `the backup could not be made: ${why}`);
}
