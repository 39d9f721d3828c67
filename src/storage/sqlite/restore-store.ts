import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { RandomSource } from '../../system/random-source.js';
import { COPY_FILE, MANIFEST_FILE, parseManifest, type BackupManifest } from '../backup-manifest.js';
import { keyEncryptionKeys, type KeySettings } from '../key-encryption-keys.js';
import { META_HOLD, readHold } from '../hold.js';
import { LocalKeyRing } from '../local-key-ring.js';
import { privateDirectory, privateFile, syncDirectory } from '../private-files.js';
import {
  assertKeyOf,
  assertSqliteVersion,
  databasePath,
  metaOf,
  schemaVersionOf,
  sqliteVersion,
} from './database-file.js';
import { countAnew, fileHash } from './finish-copy.js';
import { InstanceLock } from './instance-lock.js';

export interface RestoreOptions {
  readonly dataDir: string;
  /** Where the backup is. */
  readonly from: string;
  readonly keys: KeySettings;
  /** Puts a database that is there aside instead of refusing. */
  readonly replace: boolean;
  readonly random: RandomSource;
  readonly now: () => number;
}

export interface Restored {
  readonly manifest: BackupManifest;
  /** Where the database that was there is now; null when there was none. */
  readonly putAside: string | null;
}

const SUFFIXES = ['', '-wal', '-shm'] as const;

/**
 * Puts a backup in the place of the database, while no process runs on the data directory. Everything is checked on a copy first:
 * hash, schema, key, the root over all leaves, and that the copy is marked as one. Nothing is overwritten. Throws
 * `instance_already_running`, `backup_damaged`, `restore_refused`, `key_ring_unusable` or `schema_version_unsupported`, and then
 * nothing was changed.
 */
export async function restoreStore(options: RestoreOptions): Promise<Restored> {
  const { dataDir, from } = options;
  const manifest = manifestIn(from);
  privateDirectory(dataDir);
  const at = new Date(options.now()).toISOString();
  const lock = InstanceLock.take(dataDir, { pid: process.pid, since: at });
  const path = databasePath(dataDir);
  const draft = `${path}.restoring`;
  try {
    assertSqliteVersion(sqliteVersion());
    if (isThere(path) && !options.replace) {
      throw new CountersignError(
        'restore_refused',
        'there is a database in the data directory; --replace puts it aside',
      );
    }
    await copyDurably(join(from, COPY_FILE), draft);
    await check(draft, manifest, options);
    const putAside = isThere(path) ? `${path}.before-${at.replaceAll(/[:.]/g, '-')}` : null;
    // The log last: a log without its database is refused at the next start, a database without its log would be believed.
    for (const suffix of SUFFIXES) {
      if (putAside !== null && existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${putAside}${suffix}`);
    }
    renameSync(draft, path);
    syncDirectory(dirname(path));
    return { manifest, putAside };
  } finally {
    for (const suffix of [...SUFFIXES, '-journal']) rmSync(`${draft}${suffix}`, { force: true });
    lock.release();
  }
}

const isThere = (path: string): boolean =>
  SUFFIXES.some((suffix) => suffix !== '-shm' && existsSync(`${path}${suffix}`));

function manifestIn(from: string): BackupManifest {
  let text: string;
  try {
    text = readFileSync(join(from, MANIFEST_FILE), 'utf8');
  } catch {
    throw new CountersignError('backup_damaged', `there is no ${MANIFEST_FILE} in ${from}`);
  }
  return parseManifest(text);
}

async function copyDurably(source: string, target: string): Promise<void> {
  try {
    rmSync(target, { force: true });
    copyFileSync(source, target);
    privateFile(target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CountersignError(
      'restore_refused',
      `the copy could not be put into the data directory (${code ?? 'unknown'})`,
    );
  }
  const file = await open(target, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function check(draft: string, manifest: BackupManifest, { keys, random, now }: RestoreOptions): Promise<void> {
  if ((await fileHash(draft)) !== manifest.sha256) {
    throw new CountersignError('backup_damaged', 'the copy is not the file that the manifest names');
  }
  if (schemaVersionOf(draft) !== manifest.schemaVersion) throw contradicted('its schema version');
  const { current, previous } = keyEncryptionKeys(keys, false, random, now);
  assertKeyOf(draft, new LocalKeyRing(current, random, previous));
  if (rootOf(draft) !== `${manifest.size}/${manifest.root}`) throw contradicted('size or root');
  if (readHold(metaOf(draft, [META_HOLD]).get(META_HOLD) ?? null) === null) throw contradicted('that it is a copy');
}

function rootOf(path: string): string {
  const database = new Database(path, { readonly: true, fileMustExist: true });
  try {
    const { size, root } = countAnew(database);
    return `${size}/${root}`;
  } finally {
    database.close();
  }
}

const contradicted = (what: string): CountersignError =>
  new CountersignError('backup_damaged', `the copy contradicts its manifest: ${what}`);
