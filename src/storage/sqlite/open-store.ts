import type { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { createIdSource } from '../../domain/ids/ids.js';
import type { Clock } from '../../system/clock.js';
import type { RandomSource } from '../../system/random-source.js';
import { Feed } from '../feed.js';
import { keyEncryptionKey } from '../file-key-ring.js';
import { LocalKeyRing } from '../local-key-ring.js';
import { privateDirectory } from '../private-files.js';
import { RecentCalls } from '../recent-calls.js';
import type { StoreMeter } from '../store-meter.js';
import type { InstanceRef } from '../store.js';
import { CHECKPOINT_ENTRY, Checkpointer } from './checkpointer.js';
import {
  assertKeyOf,
  assertSqliteVersion,
  createDatabase,
  databasePath,
  inspectDatabase,
  privateDatabase,
  sqliteVersion,
  walBytes,
} from './database-file.js';
import { InstanceLock } from './instance-lock.js';
import { LaneQueue } from './lane-queue.js';
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
}

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
  const key = keyEncryptionKey(storage.keyFile, !exists, random, now);
  const keyRing = new LocalKeyRing(key, random);
  if (exists) assertKeyOf(path, keyRing);
  else await createUnheld(path, keyRing, lock);
  privateDatabase(path);

  const writerData = { databasePath: path, keyEncryptionKey: key, versionSetId: options.versionSetId };
  const { thread, head } = await WriterThread.start(writerData, options.writerEntry ?? WRITER_ENTRY);
  onClose(() => thread.close());
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
  const own = (instance: InstanceRef): Promise<void> => thread.own(instance);
  return new SqliteStore({ ...parts, lock, own, walBytesMax: storage.walBytesMax });
}

/** Nothing can be taken over from a process that is only about to make the database. */
async function createUnheld(path: string, keyRing: LocalKeyRing, lock: InstanceLock): Promise<void> {
  if (!lock.isHeld) {
    throw new CountersignError('instance_already_running', 'another process is making the database of this directory');
  }
  await createDatabase(path, keyRing);
}
