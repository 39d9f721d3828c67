import { join } from 'node:path';
import type { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { createIdSource } from '../../domain/ids/ids.js';
import type { Clock } from '../../system/clock.js';
import type { RandomSource } from '../../system/random-source.js';
import { Feed } from '../feed.js';
import { readHeadNote } from '../head-note.js';
import { META_HEAD_ACCEPTED, META_HEAD_KEPT, META_HOLD, compareWithNote, readHold, type Opened } from '../hold.js';
import { keyEncryptionKeys } from '../key-encryption-keys.js';
import { LocalKeyRing } from '../local-key-ring.js';
import { privateDirectory } from '../private-files.js';
import { RecentCalls } from '../recent-calls.js';
import type { StoreHead } from '../store-head.js';
import type { StoreMeter } from '../store-meter.js';
import type { InstanceRef } from '../store.js';
import { CHECKPOINT_ENTRY, Checkpointer } from './checkpointer.js';
import {
  assertKeyOf,
  assertSqliteVersion,
  createDatabase,
  databasePath,
  inspectDatabase,
  metaOf,
  privateDatabase,
  sqliteVersion,
  walBytes,
} from './database-file.js';
import { InstanceLock } from './instance-lock.js';
import { LaneQueue } from './lane-queue.js';
import { HeadKeeper } from './head-keeper.js';
import { BACKUP_ENTRY, SqliteCustody } from './sqlite-custody.js';
import { openReader } from './sqlite-reader.js';
import { SqliteStore } from './sqlite-store.js';
import { WRITER_ENTRY, WriterThread } from './writer-thread.js';

export interface OpenStoreOptions {
  /** Absolute. Made with mode 0700 when it is missing. */
  readonly dataDir: string;
  readonly storage: Settings['storage'];
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Which versions of program, policy and schemas are in force; goes into every envelope. */
  readonly versionSetId: string;
  /** Goes on although another process holds the directory: `registerInstance` then ends its epoch and takes its place. */
  readonly takeOver?: boolean;
  /** Told what went wrong without anybody's request having failed: a listener of the feed that threw, a checkpoint. */
  readonly problem: (message: string, error?: unknown) => void;
  /** Told how long writing takes. */
  readonly meter?: StoreMeter;
  /** Where the built writer and checkpoint threads are, when they do not lie beside this file. */
  readonly writerEntry?: URL;
  readonly checkpointEntry?: URL;
  readonly backupEntry?: URL;
}

/** The note of the store's head, where no other place is set. */
const HEAD_FILE = 'head.json';

/** What a second's note may cost the writer where leaves are still to be counted, in milliseconds. */
const COUNT_BUDGET_MS = 50;

/**
 * Opens the store of a data directory, making it when there is none. In order: the lock of the directory, the SQLite library, whose
 * file it is, its schema version, the key, then the threads with their pragmas in force. Every refusal is a `CountersignError` with
 * the code of its reason, and leaves the file as it was.
 */
export async function openStore(options: OpenStoreOptions): Promise<SqliteStore> {
  privateDirectory(options.dataDir);
  const opened: (() => unknown)[] = [];
  const closeParts = async (): Promise<void> => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    return await openParts(options, (close) => opened.push(close), closeParts);
  } catch (error) {
    await closeParts();
    throw error;
  }
}

async function openParts(
  options: OpenStoreOptions,
  onClose: (close: () => unknown) => void,
  closeParts: () => Promise<void>,
): Promise<SqliteStore> {
  const { clock, random, storage } = options;
  const now = (): number => clock.now();
  const holder = { pid: process.pid, since: new Date(now()).toISOString() };
  const lock = InstanceLock.take(options.dataDir, holder, options.takeOver);
  onClose(() => lock.release());
  assertSqliteVersion(sqliteVersion());
  const path = databasePath(options.dataDir);
  const exists = inspectDatabase(path);
  const keys = keyEncryptionKeys(storage, !exists, random, now);
  const keyRing = new LocalKeyRing(keys.current, random, keys.previous);
  if (exists) assertKeyOf(path, keyRing);
  else await createUnheld(path, keyRing, lock);
  privateDatabase(path);

  const outside = outsideOf(path, options.storage.headFile ?? join(options.dataDir, HEAD_FILE));
  const { knownHeads } = outside;
  const writerData = { databasePath: path, keys, versionSetId: options.versionSetId, knownHeads };
  const { thread, head, leavesAtKnown } = await WriterThread.start(writerData, options.writerEntry ?? WRITER_ENTRY);
  onClose(() => thread.close());
  const keeper = new HeadKeeper({
    path: outside.path,
    head: () => thread.head(COUNT_BUDGET_MS),
    positions: () => feed.head(),
    hasFailed: () => queue.failure !== null,
    now,
    problem: (message) => options.problem(message),
  });
  onClose(() => keeper.close());
  const { reader, close } = await openReader(path, keyRing);
  onClose(close);
  const checkpointer = new Checkpointer({
    databasePath: path,
    entry: options.checkpointEntry ?? CHECKPOINT_ENTRY,
    intervalMs: storage.checkpointIntervalMs,
    logBytes: () => walBytes(path),
    writer: thread,
    problem: (message) => options.problem(message),
  });
  onClose(() => checkpointer.close());
  checkpointer.start();

  const feed = new Feed(head, (name, error) => options.problem(`listener ${name} of the feed has failed`, error));
  const queue = new LaneQueue(thread, feed, storage, options.meter);
  const ids = createIdSource(clock, random);
  const recent = new RecentCalls(options.versionSetId);
  recent.follow(feed);
  const parts = { queue, feed, read: recent.inFrontOf(reader), ids, now, walBytes: () => walBytes(path), closeParts };
  const comparison = compareWithNote({ ...outside, size: head, leafAtNote: leavesAtKnown[0] ?? null });
  const known = typeof outside.note === 'string' ? null : outside.note;
  const custodyParts = { comparison, known, thread, keeper, keyRing, now };
  const custody = new SqliteCustody({ ...custodyParts, backupEntry: options.backupEntry ?? BACKUP_ENTRY });
  const own = (instance: InstanceRef): Promise<void> => thread.own(instance);
  return new SqliteStore({ ...parts, lock, own, walBytesMax: storage.walBytesMax, custody });
}

interface Outside extends Pick<Opened, 'note' | 'headKept' | 'headAccepted'> {
  readonly path: string;
  /** The note's head first; then that of the backup which this store is a copy of. */
  readonly knownHeads: readonly StoreHead[];
}

/** What is known of the store besides its rows: the note outside, and what `meta` says about notes and copies. */
function outsideOf(database: string, notePath: string): Outside {
  const note = readHeadNote(notePath);
  const meta = metaOf(database, [META_HOLD, META_HEAD_KEPT, META_HEAD_ACCEPTED]);
  const hold = readHold(meta.get(META_HOLD) ?? null);
  const headKept = meta.get(META_HEAD_KEPT) ?? null;
  const headAccepted = meta.get(META_HEAD_ACCEPTED) ?? null;
  const noted = typeof note === 'string' ? [] : [note];
  return {
    path: notePath,
    note,
    headKept,
    headAccepted,
    knownHeads: [...noted, ...(hold === null ? [] : [hold.head])],
  };
}

/** Nothing can be taken over from a process that is only about to make the database. */
async function createUnheld(path: string, keyRing: LocalKeyRing, lock: InstanceLock): Promise<void> {
  if (!lock.isHeld) {
    throw new CountersignError('instance_already_running', 'another process is making the database of this directory');
  }
  await createDatabase(path, keyRing);
}
