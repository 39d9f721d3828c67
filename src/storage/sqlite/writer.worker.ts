import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { SystemRandom } from '../../system/random-source.js';
import { LocalKeyRing } from '../local-key-ring.js';
import { checkpointPassively } from './checkpoint.js';
import { openForWriting } from './connection.js';
import { UnitWriter } from './unit-writer.js';
import { StoreBroken, StoreBusy, StoreTakenOver } from './write-failure.js';
import type { WriterAnswer, WriterRequest, WriterThreadData } from './writer-messages.js';

/** The writer thread: the one connection of the process that writes, and one request after the other. */
const port = parentPort;
if (port === null) throw new Error('the writer runs in a thread of its own');

try {
  serve(workerData as WriterThreadData);
} catch (error) {
  const code = error instanceof CountersignError ? error.code : null;
  answer({ kind: 'unusable', code, message: messageOf(error) });
}

function serve(data: WriterThreadData): void {
  const database = openForWriting(data.databasePath);
  const random = new SystemRandom();
  const writer = new UnitWriter(database, {
    keyRing: new LocalKeyRing(data.keyEncryptionKey, random),
    now: Date.now,
    random,
    versionSetId: data.versionSetId,
  });
  port?.on('message', (request: WriterRequest) => answer(handle(request, writer, database)));
  answer({ kind: 'ready', head: writer.head });
}

function handle(request: WriterRequest, writer: UnitWriter, database: Database): WriterAnswer {
  switch (request.kind) {
    case 'apply':
      return apply(request, writer);
    case 'checkpoint':
      return checkpoint(database);
    case 'own':
      writer.own(request.instance);
      return { kind: 'owned' };
    case 'close':
      database.close();
      port?.unref();
      return { kind: 'closed' };
  }
}

function apply({ units }: Extract<WriterRequest, { kind: 'apply' }>, writer: UnitWriter): WriterAnswer {
  try {
    return { kind: 'applied', results: writer.apply(units) };
  } catch (error) {
    if (error instanceof StoreBusy) return { kind: 'busy' };
    if (error instanceof StoreTakenOver) return { kind: 'taken_over' };
    if (error instanceof StoreBroken) return { kind: 'broken', message: error.message };
    throw error;
  }
}

function checkpoint(database: Database): WriterAnswer {
  try {
    return { kind: 'checkpointed', progress: checkpointPassively(database) };
  } catch (error) {
    return { kind: 'broken', message: `the store has failed to move its log: ${messageOf(error)}` };
  }
}

function answer(message: WriterAnswer): void {
  port?.postMessage(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'something that is no error';
}
