import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { LocalKeyRing } from '../../../src/storage/local-key-ring.js';
import { openForWriting } from '../../../src/storage/sqlite/connection.js';
import { createDatabase, databasePath } from '../../../src/storage/sqlite/database-file.js';
import { UnitWriter } from '../../../src/storage/sqlite/unit-writer.js';
import { SystemRandom } from '../../../src/system/random-source.js';
import { newDataDir } from './opened-store.js';

/** A writer on this thread, with its connection and a clock that tests set. */
export interface WriterHarness {
  readonly path: string;
  readonly database: Database.Database;
  readonly keyRing: LocalKeyRing;
  readonly clock: { nowMs: number };
  /** A writer on the connection, or on a stand-in for it. */
  writer(database?: Database.Database): UnitWriter;
  discard(): void;
}

export async function newWriterHarness(): Promise<WriterHarness> {
  const dataDir = newDataDir();
  const path = databasePath(dataDir);
  const random = new SystemRandom();
  const keyRing = new LocalKeyRing(random.bytes(32), random);
  await createDatabase(path, keyRing);
  const database = openForWriting(path);
  const clock = { nowMs: Date.parse('2031-01-01T00:00:00.000Z') };
  return {
    path,
    database,
    keyRing,
    clock,
    writer: (on = database) => new UnitWriter(on, { keyRing, now: () => clock.nowMs, random, versionSetId: 'test-1' }),
    discard: () => {
      database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
