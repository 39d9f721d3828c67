import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyEncryptionKey } from '../../../src/storage/file-key-ring.js';
import { LocalKeyRing } from '../../../src/storage/local-key-ring.js';
import { backupStore } from '../../../src/storage/sqlite/backup-store.js';
import { createDatabase, databasePath, inspectDatabase } from '../../../src/storage/sqlite/database-file.js';
import { restoreStore } from '../../../src/storage/sqlite/restore-store.js';
import { SystemRandom } from '../../../src/system/random-source.js';
import { newDataDir, openSqlite } from './opened-store.js';

const NOW = Date.parse('2031-01-01T00:00:00.000Z');
const ASIDE = '.before-2031-01-01T00-00-00-000Z';

describe('a restore that ends while it puts the old database aside', () => {
  const random = new SystemRandom();
  const now = (): number => NOW;
  let dataDir: string;
  let from: string;
  beforeEach(async () => {
    dataDir = newDataDir();
    from = join(dataDir, 'backup');
    const key = keyEncryptionKey(join(dataDir, 'kek.json'), true, random, now);
    await createDatabase(databasePath(dataDir), new LocalKeyRing(key, random));
    await backupStore(dataDir, from, now);
    writeFileSync(`${databasePath(dataDir)}-wal`, 'the newest events');
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  /** Ends where the file of that suffix would be moved, since its place is taken. */
  const restoreUpTo = async (suffix: string): Promise<string> => {
    mkdirSync(join(`${databasePath(dataDir)}${ASIDE}${suffix}`, 'taken'), { recursive: true });
    const keys = { keyFile: join(dataDir, 'kek.json'), keyEnv: null, previousKeys: [] };
    const options = { dataDir, from, keys, replace: true, random, now };
    return restoreStore(options).then(
      () => 'restored',
      (error: Error) => error.message,
    );
  };

  it('never leaves a database without its log, which the next start would believe', async () => {
    expect(await restoreUpTo('')).toMatch('rename');
    const path = databasePath(dataDir);
    expect([existsSync(path), existsSync(`${path}-wal`)]).toEqual([true, true]);
  });

  it('leaves a log without its database, which the next start refuses', async () => {
    expect(await restoreUpTo('-wal')).toMatch('rename');
    expect(() => inspectDatabase(databasePath(dataDir))).toThrow('its write-ahead log is there');
  });
});

describe('a copy in a data directory without a note', () => {
  it('is known by nothing outside: what it says of itself is not what was known of the store', async () => {
    const [dataDir, target] = [newDataDir(), newDataDir()];
    const original = await openSqlite({}, dataDir);
    await original.store.close();
    const now = (): number => NOW;
    await backupStore(dataDir, join(dataDir, 'backup'), now);
    const keyFile = join(target, 'keys', 'kek.json');
    cpSync(join(dataDir, 'keys'), join(target, 'keys'), { recursive: true });
    const from = join(dataDir, 'backup');
    const keys = { keyFile, keyEnv: null, previousKeys: [] };
    await restoreStore({ dataDir: target, from, keys, replace: false, random: new SystemRandom(), now });
    const copy = await openSqlite({}, target);
    const { known, comparison } = copy.store.custody;
    await copy.discard();
    rmSync(dataDir, { recursive: true, force: true });
    expect([known, comparison]).toEqual([null, { finding: null, complete: false }]);
  });
});
