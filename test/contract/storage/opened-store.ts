import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../src/storage/sqlite/open-store.js';
import type { OpenStoreOptions } from '../../../src/storage/sqlite/open-store.js';
import type { Store } from '../../../src/storage/store.js';
import { SystemClock } from '../../../src/system/clock.js';
import { SystemRandom } from '../../../src/system/random-source.js';

/** A store under test. A second backend is another function of this type. */
export interface OpenedStore {
  readonly store: Store;
  /** What the store reported besides answers. */
  readonly problems: string[];
  /** Closes the store and opens the same one again. */
  reopen(): Promise<OpenedStore>;
  /** Closes the store and removes everything. */
  discard(): Promise<void>;
}

export interface StoreLimits {
  readonly keyFile?: string;
  readonly previousKeys?: readonly string[];
  readonly queueMax?: number;
  readonly unitsPerFlushMax?: number;
}

export type OpenStoreUnderTest = (limits?: StoreLimits) => Promise<OpenedStore>;

/** The threads of the built product: a worker cannot run TypeScript. */
const built = (file: string): URL => new URL(`../../../dist/storage/sqlite/${file}`, import.meta.url);

export const newDataDir = (): string => mkdtempSync(join(tmpdir(), 'countersign-store-'));

export function sqliteOptions(dataDir: string, limits: StoreLimits = {}): OpenStoreOptions {
  return {
    dataDir,
    storage: {
      queueMax: 10_000,
      unitsPerFlushMax: 128,
      walBytesMax: 256 * 1024 * 1024,
      checkpointIntervalMs: 50,
      keyFile: join(dataDir, 'keys', 'kek.json'),
      keyEnv: null,
      previousKeys: [],
      headFile: null,
      backupDir: null,
      ...limits,
    },
    clock: new SystemClock(),
    random: new SystemRandom(),
    versionSetId: 'test-1',
    problem: () => undefined,
    writerEntry: built('writer.worker.js'),
    checkpointEntry: built('checkpoint.worker.js'),
  };
}

export async function openSqlite(limits: StoreLimits = {}, dataDir: string = newDataDir()): Promise<OpenedStore> {
  const problems: string[] = [];
  const options = { ...sqliteOptions(dataDir, limits), problem: (message: string) => void problems.push(message) };
  const store = await openStore(options);
  return {
    store,
    problems,
    reopen: async () => {
      await store.close();
      return openSqlite(limits, dataDir);
    },
    discard: async () => {
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
