import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { kekIdOf } from '../../../src/storage/local-key-ring.js';
import { SCHEMA_VERSION } from '../../../src/storage/migrations.js';
import { assertSqliteVersion, databasePath, sqliteVersion } from '../../../src/storage/sqlite/database-file.js';
import { migrateStore } from '../../../src/storage/sqlite/migrate-store.js';
import { openStore } from '../../../src/storage/sqlite/open-store.js';
import { JsonChild } from './child-process.js';
import { newDataDir, openSqlite, sqliteOptions } from './opened-store.js';
import { CallScript, TENANT } from './unit-builders.js';

interface Held {
  readonly opened: boolean;
  readonly pid: number;
  readonly epoch: number;
  readonly code: string | null;
  readonly message: string;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('opening a data directory', () => {
  let dataDir: string;
  const path = (): string => databasePath(dataDir);
  const keyFile = (): string => join(dataDir, 'keys', 'kek.json');
  const open = () => openStore(sqliteOptions(dataDir));
  const refusal = async (): Promise<string> => {
    try {
      await (await open()).close();
      return 'opened';
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };
  /** A database of this program with one call in it, closed. */
  const madeBefore = async (): Promise<CallScript> => {
    const store = await open();
    const call = new CallScript();
    await store.commit(call.proposeAndDispatch());
    await store.close();
    return call;
  };
  const edit = (sql: string, file = path()): void => {
    const database = new Database(file);
    database.exec(sql);
    database.close();
  };

  beforeEach(() => {
    dataDir = newDataDir();
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it('makes directory, database, lock and key, for the eyes of its owner only', async () => {
    rmSync(dataDir, { recursive: true });
    const store = await open();
    expect(modeOf(dataDir)).toBe('700');
    for (const file of ['countersign.sqlite', 'countersign.sqlite-wal', 'instance.lock', 'instance.json']) {
      expect([file, modeOf(join(dataDir, file))]).toEqual([file, '600']);
    }
    expect(modeOf(keyFile())).toBe('400');
    await store.close();
  });

  it('leaves the database alone in one file when it closes', async () => {
    await madeBefore();
    expect(readdirSync(dataDir).sort()).toEqual(['countersign.sqlite', 'instance.json', 'instance.lock', 'keys']);
  });

  it('refuses a second store of the same process, naming who has the directory', async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({ code: 'instance_already_running' });
    await expect(open()).rejects.toThrow(`(pid ${process.pid}, since `);
    await first.commit(new CallScript().proposeAndDispatch());
    await first.close();
    expect(await refusal()).toBe('opened');
  });

  it('refuses a second process and takes over from one that was killed (L01)', async () => {
    const child = JsonChild.start(import.meta.url, './children/hold-store.mjs', dataDir);
    const held = await child.next<Held>();
    expect(held).toMatchObject({ opened: true, epoch: 1 });
    const second = JsonChild.start(import.meta.url, './children/hold-store.mjs', dataDir);
    expect(await second.next<Held>()).toMatchObject({ opened: false, code: 'instance_already_running' });
    await expect(open()).rejects.toThrow(`(pid ${held?.pid}, since `);
    await child.kill();
    const store = await open();
    expect((await store.registerInstance()).epoch).toBe(2);
    await store.close();
  });

  it('lets one of two processes that start together have the directory, every time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const children = [1, 2].map(() => JsonChild.start(import.meta.url, './children/hold-store.mjs', dataDir));
      const answers = await Promise.all(children.map((child) => child.next<Held>()));
      expect(answers.filter((answer) => answer?.opened)).toHaveLength(1);
      expect(answers.find((answer) => answer?.opened === false)?.code).toBe('instance_already_running');
      await Promise.all(children.map((child) => child.kill()));
    }
  });

  it.each(['3.51.2', '3.50.9', '3.9.99', '2.99.9', '3.52.0'])('refuses SQLite %s (Y49)', (version) => {
    const refused = expect.objectContaining({ code: 'sqlite_version_refused' });
    expect(() => assertSqliteVersion(version)).toThrow(refused);
  });

  it.each(['3.51.3', '3.52.1', '3.53.2', '4.0.0'])('uses SQLite %s', (version) => {
    expect(() => assertSqliteVersion(version)).not.toThrow();
  });

  it('runs on a SQLite library that it would not refuse', () => {
    expect(() => assertSqliteVersion(sqliteVersion())).not.toThrow();
  });

  it.each([
    ['the database of another program', () => edit('CREATE TABLE notes (text TEXT); PRAGMA application_id = 7')],
    ['a database that no program has claimed', () => edit('CREATE TABLE notes (text TEXT)')],
    ['a file that is no database', () => writeFileSync(path(), 'x'.repeat(4096))],
    ['a file shorter than a header', () => writeFileSync(path(), 'SQLite format 3\u0000')],
  ])('refuses %s and does not touch it', async (_, make) => {
    make();
    const before = readFileSync(path());
    expect(await refusal()).toBe('sqlite_application_id_mismatch');
    expect(readFileSync(path()).equals(before)).toBe(true);
    expect(existsSync(keyFile())).toBe(false);
  });

  it('refuses a database of a newer schema version and leaves its bytes as they are (M05)', async () => {
    await madeBefore();
    edit('PRAGMA user_version = 999');
    const before = readFileSync(path());
    expect(await refusal()).toBe('schema_version_unsupported');
    await expect(migrateStore(dataDir, Date.now)).rejects.toMatchObject({ code: 'schema_version_unsupported' });
    expect(readFileSync(path()).equals(before)).toBe(true);
  });

  it('sees a newer schema version that is still in the log', async () => {
    await madeBefore();
    const elsewhere = join(dataDir, 'elsewhere.sqlite');
    copyFileSync(path(), elsewhere);
    const database = new Database(elsewhere);
    database.pragma('user_version = 999');
    for (const suffix of ['', '-wal']) copyFileSync(`${elsewhere}${suffix}`, `${path()}${suffix}`);
    database.close();
    expect(statSync(`${path()}-wal`).size).toBeGreaterThan(0);
    const before = ['', '-wal'].map((suffix) => readFileSync(`${path()}${suffix}`));
    expect(await refusal()).toBe('schema_version_unsupported');
    const after = ['', '-wal'].map((suffix) => readFileSync(`${path()}${suffix}`));
    expect(after.map((bytes, index) => bytes.equals(before[index] as Buffer))).toEqual([true, true]);
  });

  it('asks for a migration when the database is older, and boots after it', async () => {
    mkdirSync(join(dataDir, 'keys'));
    await madeBefore();
    rmSync(path());
    edit('PRAGMA page_size = 8192; PRAGMA application_id = 1131636590');
    expect(await refusal()).toBe('schema_migration_needed');
    expect(await migrateStore(dataDir, Date.now)).toEqual({ from: 0, to: SCHEMA_VERSION });
    expect(await migrateStore(dataDir, Date.now)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION });
    // It was never written by a store, so it lacks the proof of its key.
    expect(await refusal()).toBe('key_ring_unusable');
  });

  it('does not migrate while a process runs', async () => {
    const store = await open();
    await expect(migrateStore(dataDir, Date.now)).rejects.toMatchObject({ code: 'instance_already_running' });
    await store.close();
  });

  it('refuses a database whose pages have another size', async () => {
    await madeBefore();
    edit('PRAGMA journal_mode = DELETE; PRAGMA page_size = 2048; VACUUM');
    expect(await refusal()).toBe('sqlite_pragma_refused');
  });

  it.each([
    ['is missing', () => rmSync(keyFile())],
    ['is empty', () => writeOver('')],
    ['is not JSON', () => writeOver('{')],
    ['holds another key', () => writeOver(otherKey())],
    ['holds a damaged key', () => writeOver(readFileSync(keyFile(), 'utf8').replace(/"key":"./, '"key":"*'))],
    ['is of another algorithm', () => writeOver(readFileSync(keyFile(), 'utf8').replace('A256GCM', 'A128GCM'))],
  ])('refuses an existing database when the key file %s, and makes no new key', async (_, damage) => {
    await madeBefore();
    damage();
    const files = readdirSync(join(dataDir, 'keys'));
    expect(await refusal()).toBe('key_ring_unusable');
    expect(readdirSync(join(dataDir, 'keys'))).toEqual(files);
  });

  it('uses the key that is there for a new database', async () => {
    const call = await madeBefore();
    const key = readFileSync(keyFile(), 'utf8');
    for (const file of readdirSync(dataDir)) if (file.startsWith('countersign')) rmSync(join(dataDir, file));
    const store = await open();
    expect(await store.read.toolCall(TENANT, call.toolCallId)).toBeNull();
    await store.close();
    expect(readFileSync(keyFile(), 'utf8')).toBe(key);
  });

  it('makes the database anew when an earlier start was cut off while making it', async () => {
    for (const suffix of ['', '-journal', '-wal']) writeFileSync(`${path()}.new${suffix}`, 'half');
    writeFileSync(path(), '');
    expect(await refusal()).toBe('opened');
    expect(readdirSync(dataDir).filter((file) => file.includes('.new'))).toEqual([]);
  });

  it('refuses to make a database where the log of a lost one lies', async () => {
    await madeBefore();
    rmSync(path());
    writeFileSync(`${path()}-wal`, 'log of something');
    expect(await refusal()).toBe('store_unavailable');
    expect(readFileSync(`${path()}-wal`, 'utf8')).toBe('log of something');
  });

  it('gives the directory back when opening fails', async () => {
    await madeBefore();
    const key = readFileSync(keyFile());
    rmSync(keyFile());
    expect(await refusal()).toBe('key_ring_unusable');
    writeFileSync(keyFile(), key, { mode: 0o400 });
    expect(await refusal()).toBe('opened');
  });

  it('reads after a kill what was acknowledged before it', async () => {
    const child = JsonChild.start(import.meta.url, './children/hold-store.mjs', dataDir);
    await child.next<Held>();
    await child.kill();
    const opened = await openSqlite({}, dataDir);
    expect((await opened.store.read.instances()).map(({ epoch }) => epoch)).toEqual([1]);
    await opened.discard();
  });

  const writeOver = (text: string): void => {
    rmSync(keyFile());
    writeFileSync(keyFile(), text);
  };
  const otherKey = (): string => {
    const key = Buffer.alloc(32, 7);
    return JSON.stringify({ kekId: kekIdOf(key), algorithm: 'A256GCM', key: key.toString('base64') });
  };
});
