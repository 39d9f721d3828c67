import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { SystemRandom } from '../../system/random-source.js';
import type { KeyRing } from '../key-ring.js';
import { LocalKeyRing } from '../local-key-ring.js';
import { proveCurrentKey } from './key-check.js';
import { releaseOtherKeys, rewrapAfter } from './rewrapping.js';
import { checkpointPassively } from './checkpoint.js';
import { openForWriting } from './connection.js';
import { TreeKeeper } from './tree-keeper.js';
import { UnitWriter } from './unit-writer.js';
import { StoreBroken, StoreBusy, StoreTakenOver, isFatal } from './write-failure.js';
import type { CopyAnswer, CopyRequest, WriterAnswer, WriterRequest, WriterThreadData } from './writer-messages.js';

/** The writer thread: the one connection of the process that writes, and one request after the other. */
/** Pages of a copy that are moved at once: a megabyte, a millisecond or two. */
const COPY_PAGES = 128;

const port = parentPort;
if (port === null) throw new Error('the writer runs in a thread of its own');

try {
  serve(workerData as WriterThreadData);
} catch (error) {
  const lostDisk = isFatal(error) ? 'store_unavailable' : null;
  const code = error instanceof CountersignError ? error.code : lostDisk;
  answer({ kind: 'unusable', code, message: messageOf(error) });
}

function serve(data: WriterThreadData): void {
  const database = openForWriting(data.databasePath);
  moveLog(database);
  const random = new SystemRandom();
  const tree = new TreeKeeper(database, data.knownHeads);
  const keyRing = new LocalKeyRing(data.keys.current, random, data.keys.previous);
  proveCurrentKey(database, keyRing);
  const writer = new UnitWriter(database, {
    keyRing,
    now: Date.now,
    random,
    versionSetId: data.versionSetId,
    leaves: tree,
  });
  port?.on('message', (request: WriterRequest | CopyRequest) => {
    if (request.kind === 'copy') void copy(database, request.path);
    else answer(handle(request, { writer, tree, database, keyRing }));
  });
  const leavesAtKnown = data.knownHeads.map(({ size }) => tree.leafAt(size - 1));
  answer({ kind: 'ready', head: writer.head, leavesAtKnown });
}

/**
 * A process before this one may have failed to sync its log, and what the system still holds of that is not on the disk however often
 * it is synced. Written again into the file and synced there, what is read from now on is on the disk.
 */
function moveLog(database: Database): void {
  database.pragma('wal_checkpoint(TRUNCATE)');
}

interface Parts {
  readonly writer: UnitWriter;
  readonly tree: TreeKeeper;
  readonly database: Database;
  readonly keyRing: KeyRing;
}

function handle(request: WriterRequest, parts: Parts): WriterAnswer {
  const { writer, tree, database } = parts;
  switch (request.kind) {
    case 'apply':
      return apply(request, writer, tree);
    case 'head':
      return writer.isOwner ? { kind: 'head', head: tree.head(request.budgetMs) } : { kind: 'taken_over' };
    case 'recover':
      return recover(writer);
    case 'checkpoint':
      return checkpoint(database);
    case 'own':
      writer.own(request.instance);
      return { kind: 'owned' };
    case 'rewrap':
    case 'release_keys':
      return rewrap(request, parts);
    case 'close':
      database.close();
      port?.unref();
      return { kind: 'closed' };
  }
}

function apply(
  { units }: Extract<WriterRequest, { kind: 'apply' }>,
  writer: UnitWriter,
  tree: TreeKeeper,
): WriterAnswer {
  try {
    const results = writer.apply(units);
    tree.committed();
    return { kind: 'applied', results };
  } catch (error) {
    tree.lost();
    if (error instanceof StoreBusy) return { kind: 'busy' };
    return broken(error);
  }
}

/** A failure here says nothing about the units before and after it: the transaction is rolled back, and may be tried again. */
function rewrap(
  request: Extract<WriterRequest, { kind: 'rewrap' | 'release_keys' }>,
  { writer, database, keyRing }: Parts,
): WriterAnswer {
  if (!writer.isOwner) return { kind: 'taken_over' };
  try {
    if (request.kind === 'rewrap') {
      return { kind: 'rewrapped', progress: rewrapAfter(database, keyRing, request.after, request.limit) };
    }
    releaseOtherKeys(database, keyRing);
    return { kind: 'keys_released' };
  } catch (error) {
    return { kind: 'rewrap_failed', message: messageOf(error) };
  }
}

function recover(writer: UnitWriter): WriterAnswer {
  try {
    return { kind: 'recovered', head: writer.recover() };
  } catch (error) {
    return broken(error);
  }
}

function broken(error: unknown): WriterAnswer {
  if (error instanceof StoreTakenOver) return { kind: 'taken_over' };
  if (!(error instanceof StoreBroken)) throw error;
  return { kind: 'broken', message: error.message, mayRecover: error.mayRecover };
}

function checkpoint(database: Database): WriterAnswer {
  try {
    return { kind: 'checkpointed', progress: checkpointPassively(database) };
  } catch (error) {
    return { kind: 'broken', message: `the store has failed to move its log: ${messageOf(error)}`, mayRecover: false };
  }
}

/** Pages of the copy are moved in steps between the requests; what is committed meanwhile goes into the copy too. */
async function copy(database: Database, path: string): Promise<void> {
  try {
    await database.backup(path, { progress: () => COPY_PAGES });
    answer({ kind: 'copied' });
  } catch (error) {
    answer({ kind: 'copy_failed', message: messageOf(error) });
  }
}

function answer(message: WriterAnswer | CopyAnswer): void {
  port?.postMessage(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'something that is no error';
}
