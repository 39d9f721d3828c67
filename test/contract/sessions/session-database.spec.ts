import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DatabaseBackend } from '../../../src/sessions/backends/database/database-backend.js';
import { openSessionDatabase } from '../../../src/storage/session-log/open-session-database.js';
import type { SessionDatabase } from '../../../src/storage/session-log/session-database.js';
import { SUFFIX } from '../../../src/storage/session-log/sqlite-session-database.js';
import { mixedRows, noticeRow, sessionHeader, sessionKey } from '../../builders/session-rows.js';
import { SESSION_WORKER, newSessionsDir } from './log-backends.js';

const KEY = sessionKey('s-1');
const FIRST = { materialized: false, barrier: false };

describe('The database of sessions', () => {
  let dataDir: string;
  const opened: SessionDatabase[] = [];

  const open = async (instanceEpoch = 1): Promise<SessionDatabase> => {
    const database = await openSessionDatabase({ dataDir, instanceEpoch, entry: SESSION_WORKER });
    opened.push(database);
    return database;
  };
  const path = () => join(dataDir, 'sessions.sqlite');
  const directly = <T>(use: (database: Database.Database) => T): T => {
    const database = new Database(path());
    try {
      return use(database);
    } finally {
      database.close();
    }
  };

  beforeEach(() => {
    dataDir = newSessionsDir();
  });

  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
    rmSync(dataDir, { recursive: true });
  });

  it('is made where there is an empty file or none [D-76]', async () => {
    writeFileSync(path(), '');
    await (await open()).saveSnapshot(KEY, '{}', '2026-01-01T00:00:00Z');
    expect(directly((database) => database.pragma('user_version', { simple: true }))).toBe(1);
    expect(directly((database) => database.pragma('journal_mode', { simple: true }))).toBe('wal');
  });

  it.each([
    ['another program', 'sqlite_application_id_mismatch', 'PRAGMA application_id = 77'],
    ['a newer version', 'schema_version_unsupported', 'PRAGMA user_version = 999'],
    ['no version', 'schema_version_unsupported', 'PRAGMA user_version = 0'],
  ])('of %s is refused and left as it was [D-76, M05, P-52]', async (_, code, pragma) => {
    await (await open()).close();
    directly((database) => {
      database.pragma('journal_mode = DELETE');
      database.exec(pragma);
    });
    const digest = () => createHash('sha256').update(readFileSync(path())).digest('hex');
    const before = digest();
    await expect(open(2)).rejects.toMatchObject({ code });
    expect(digest()).toBe(before);
  });

  it('that is no database at all is refused', async () => {
    writeFileSync(path(), 'a text file');
    await expect(open()).rejects.toMatchObject({ code: 'sqlite_application_id_mismatch' });
    expect(readFileSync(path(), 'utf8')).toBe('a text file');
  });

  it('finds a suffix by its primary key [D-73]', async () => {
    await open();
    const plan = directly((database) => database.prepare(`EXPLAIN QUERY PLAN ${SUFFIX}`).all(1, 5, 10));
    expect(plan).toEqual([
      expect.objectContaining({ detail: 'SEARCH session_log USING PRIMARY KEY (session=? AND seq>?)' }),
    ]);
  });

  it('writes a batch as a whole or not at all, and others beside it [D-40]', async () => {
    const database = await open();
    const backend = new DatabaseBackend(database);
    const twice = [noticeRow(0), noticeRow(1), noticeRow(2, { eventId: noticeRow(0).eventId })];
    const other = sessionKey('s-2');
    const [refused, written] = await Promise.allSettled([
      backend.appendBatch(KEY, sessionHeader(KEY), twice, FIRST),
      backend.appendBatch(other, sessionHeader(other), mixedRows(0, 5), FIRST),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'seq_conflict' } });
    expect(written.status).toBe('fulfilled');
    expect(await backend.loadStored(KEY)).toBeNull();
    expect((await backend.loadStored(other))?.rows.length).toBe(5);
  });

  it.each(['session_log', 'sessions'])(
    'leaves everything as it was when a repair fails at %s [D-65]',
    async (table) => {
      const database = await open();
      const backend = new DatabaseBackend(database);
      await backend.appendBatch(KEY, sessionHeader(KEY), mixedRows(0, 5), FIRST);
      directly((direct) => direct.prepare('DELETE FROM session_log WHERE seq = 3').run());
      const before = await backend.loadStored(KEY);
      expect(before).toMatchObject({ torn: 3 });
      const event = table === 'sessions' ? 'UPDATE ON sessions' : 'INSERT ON session_log';
      directly((direct) =>
        direct.exec(`CREATE TRIGGER stop BEFORE ${event} BEGIN SELECT RAISE(ABORT, 'stopped'); END`),
      );
      await expect(backend.commitRepair(KEY, 3, [noticeRow(3)])).rejects.toThrow();
      expect(await backend.loadStored(KEY)).toEqual(before);
      directly((direct) => direct.exec('DROP TRIGGER stop'));
      await backend.commitRepair(KEY, 3, [noticeRow(3)]);
      expect((await backend.loadStored(KEY))?.rows.length).toBe(4);
    },
  );

  it('cuts nothing away that was promised', async () => {
    const backend = new DatabaseBackend(await open());
    await backend.appendBatch(KEY, sessionHeader(KEY), mixedRows(0, 5), { materialized: false, barrier: true });
    await expect(backend.commitRepair(KEY, 2, [])).rejects.toMatchObject({ code: 'session_log_corrupt' });
    expect((await backend.loadStored(KEY))?.rows.length).toBe(5);
  });

  it('belongs to the process with the highest epoch that has opened it', async () => {
    const old = new DatabaseBackend(await open(5));
    await old.appendBatch(KEY, sessionHeader(KEY), [noticeRow(0)], FIRST);
    const taker = new DatabaseBackend(await open(6));
    const elsewhere = { code: 'session_owned_elsewhere' };
    const late = old.appendBatch(KEY, sessionHeader(KEY), [noticeRow(1)], { materialized: true, barrier: false });
    await expect(late).rejects.toMatchObject(elsewhere);
    const other = sessionKey('s-2');
    await expect(old.appendBatch(other, sessionHeader(other), [noticeRow(0)], FIRST)).rejects.toMatchObject(elsewhere);
    await taker.appendBatch(KEY, sessionHeader(KEY), [noticeRow(1)], { materialized: true, barrier: true });
    expect((await taker.loadStored(KEY))?.rows.length).toBe(2);
  });

  it('fails every write and reads on when its thread is gone', async () => {
    const database = await open();
    const backend = new DatabaseBackend(database);
    await backend.appendBatch(KEY, sessionHeader(KEY), [noticeRow(0)], FIRST);
    await database.close();
    const late = backend.appendBatch(KEY, sessionHeader(KEY), [noticeRow(1)], { materialized: true, barrier: false });
    await expect(late).rejects.toThrow();
  });

  it('keeps the newest snapshot and the one before it, and a mark until the next is saved [A-34, A-36]', async () => {
    const database = await open();
    expect(await database.loadSnapshot(KEY)).toEqual({ main: null, bak: null, marked: false });
    await database.markSnapshot(KEY, '2026-01-01T00:00:00Z');
    expect(await database.hasSnapshot(KEY)).toBe(false);
    for (const content of ['v1', 'v2', 'v3\u0000']) await database.saveSnapshot(KEY, content, '2026-01-01T00:00:00Z');
    expect(await database.loadSnapshot(KEY)).toEqual({ main: 'v3\u0000', bak: 'v2', marked: false });
    await database.markSnapshot(KEY, '2026-01-01T00:00:00Z');
    expect(await database.loadSnapshot(KEY)).toMatchObject({ main: 'v3\u0000', marked: true });
    expect(await database.hasSnapshot(KEY)).toBe(true);
    expect(await database.hasSnapshot(sessionKey('s-1', 'other'))).toBe(false);
    await database.deleteSnapshot(KEY);
    await database.deleteSnapshot(KEY);
    expect(await database.loadSnapshot(KEY)).toEqual({ main: null, bak: null, marked: false });
  });
});
