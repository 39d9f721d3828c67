import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, readdir, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { CountersignError } from '../../../src/domain/errors/countersign-error.js';
import { NO_SECRETS } from '../../../src/domain/session/codec/plain-json.js';
import { sessionErrorKind } from '../../../src/domain/session/session-errors.js';
import type { SessionKey } from '../../../src/domain/session/session-key.js';
import type { SessionSnapshot } from '../../../src/domain/session/session-state.js';
import { DatabaseStateStorage } from '../../../src/sessions/snapshots/database-state-storage.js';
import { FileStateStorage } from '../../../src/sessions/snapshots/file-state-storage.js';
import type { StateStorage } from '../../../src/sessions/snapshots/state-storage.js';
import { openSessionDatabase } from '../../../src/storage/session-log/open-session-database.js';
import type { SqliteSessionDatabase } from '../../../src/storage/session-log/sqlite-session-database.js';
import { fileOf, fullSnapshot, KEY, savedAs } from '../../builders/session-snapshots.js';
import { MemorySnapshotTable, MemoryStateStorage } from '../../support/memory-state-storage.js';
import { SESSION_WORKER } from './log-backends.js';

/** A medium as the suite sees it: storages on it, and what lies on it. */
interface Medium {
  /** A storage of a new process. */
  open(): StateStorage;
  put(key: SessionKey, place: 'main' | 'bak', text: string | null): Promise<void>;
  get(key: SessionKey, place: 'main' | 'bak'): Promise<string | null>;
}

const base = mkdtempSync(path.join(tmpdir(), 'state-storage-'));
let count = 0;

function fileMedium(): Medium {
  count += 1;
  const root = path.join(base, String(count));
  const place = (key: SessionKey, place: string): string =>
    path.join(root, key.tenant, `${key.sessionId}.json${place === 'bak' ? '.bak' : ''}`);
  return {
    open: () => new FileStateStorage(root, NO_SECRETS),
    put: async (key, where, text) => {
      await mkdir(path.join(root, key.tenant), { recursive: true });
      await (text === null ? rm(place(key, where), { force: true }) : writeFile(place(key, where), text));
    },
    get: (key, where) => readFile(place(key, where), 'utf8').catch(() => null),
  };
}

function tableMedium(open: (table: MemorySnapshotTable) => StateStorage, table: MemorySnapshotTable): Medium {
  return {
    open: () => open(table),
    put: async (key, place, text) => table.put(key, { [place]: text }),
    get: async (key, place) => table.rowOf(key)[place],
  };
}

const MEDIA: readonly [string, () => Medium][] = [
  ['files', fileMedium],
  ['the database of sessions', () => databaseMedium()],
  [
    'rows of a table in memory',
    () =>
      tableMedium((table) => new DatabaseStateStorage(table, NO_SECRETS, { now: () => 0 }), new MemorySnapshotTable()),
  ],
  [
    'memory',
    () => {
      const storage = new MemoryStateStorage();
      return tableMedium(() => storage, storage.table);
    },
  ],
];

let database: SqliteSessionDatabase;

/** The rows of the product; what lies in them is written beside it, as another program would. */
function databaseMedium(): Medium {
  const directly = <T>(use: (beside: Database.Database) => T): T => {
    const beside = new Database(path.join(base, 'sessions.sqlite'));
    try {
      return use(beside);
    } finally {
      beside.close();
    }
  };
  directly((beside) => beside.exec('DELETE FROM session_snapshots; DELETE FROM session_snapshot_marks'));
  const place = 'tenant = ? AND session_id = ? AND slot = ?';
  return {
    open: () => new DatabaseStateStorage(database, NO_SECRETS, { now: () => 0 }),
    put: async ({ tenant, sessionId }, slot, text) =>
      directly((beside) => {
        beside.prepare(`DELETE FROM session_snapshots WHERE ${place}`).run(tenant, sessionId, slot);
        if (text === null) return;
        const insert =
          'INSERT INTO session_snapshots (tenant, session_id, slot, content, saved_at) VALUES (?, ?, ?, ?, ?)';
        beside.prepare(insert).run(tenant, sessionId, slot, text, '2031-01-01T00:00:00Z');
      }),
    get: async ({ tenant, sessionId }, slot) =>
      directly((beside) => {
        const found = beside
          .prepare(`SELECT content FROM session_snapshots WHERE ${place}`)
          .get(tenant, sessionId, slot);
        return (found as { content: string } | undefined)?.content ?? null;
      }),
  };
}

beforeAll(async () => {
  database = await openSessionDatabase({ dataDir: base, instanceEpoch: 1, entry: SESSION_WORKER });
});

afterAll(async () => {
  await database.close();
  rmSync(base, { recursive: true, force: true });
});

async function problemOf(work: Promise<unknown>): Promise<CountersignError> {
  try {
    await work;
  } catch (error) {
    return error as CountersignError;
  }
  throw new Error('nothing was refused');
}

const FUTURE = fileOf({ ...fullSnapshot(), agentState: { schemaVersion: 4, history: 'another layout' } });
const CORRUPT = '{"contentDigest":"cut';
const saved = (n: number): string => fileOf(savedAs(n));
const numberOf = (snapshot: SessionSnapshot): unknown => snapshot.agentState.metadata['n'];

describe.each(MEDIA)('snapshots in %s', (_, make) => {
  let medium: Medium;
  let storage: StateStorage;

  beforeEach(() => {
    medium = make();
    storage = medium.open();
  });

  it('give back every field of what was saved, also to another process [A-117, A-11, A-14, A-82]', async () => {
    await storage.save(fullSnapshot());
    await expect(medium.open().load(KEY)).resolves.toEqual({
      snapshot: fullSnapshot(),
      loadSource: 'main',
      notResumable: false,
    });
  });

  it('are not found before the first save [A-45, A-117]', async () => {
    expect(await problemOf(storage.load(KEY))).toMatchObject({ code: 'session_not_found' });
    expect(await storage.exists(KEY)).toBe(false);
  });

  it('begin empty, with the metadata given, where there is nothing, and write nothing [A-24, A-18, A-117]', async () => {
    const { snapshot, loadSource } = await storage.loadOrCreate(KEY, { a: 1 });
    expect(loadSource).toBe('new');
    expect(snapshot).toMatchObject({ ...KEY, position: null, agentState: { metadata: { a: 1 }, isRunning: false } });
    expect(snapshot.agentState.history).toEqual({ messages: [], episodicMemories: [] });
    expect(await storage.exists(KEY)).toBe(false);
  });

  it('are what is stored, whatever metadata is given, where there is something [A-24, A-117]', async () => {
    await storage.save(savedAs(1));
    const { snapshot, loadSource } = await storage.loadOrCreate(KEY, { a: 1 });
    expect(loadSource).toBe('main');
    expect(snapshot.agentState.metadata).toEqual({ n: 1 });
  });

  it('are not begun anew over what cannot be read [A-25]', async () => {
    await medium.put(KEY, 'main', CORRUPT);
    expect(await problemOf(storage.loadOrCreate(KEY))).toMatchObject({ code: 'state_corrupt' });
    await medium.put(KEY, 'main', FUTURE);
    expect(await problemOf(storage.loadOrCreate(KEY))).toMatchObject({ code: 'schema_version_unsupported' });
  });

  it('keep the one before the last [A-34, A-118]', async () => {
    for (const n of [1, 2, 3]) await storage.save(savedAs(n));
    expect(await medium.get(KEY, 'main')).toBe(saved(3));
    expect(await medium.get(KEY, 'bak')).toBe(saved(2));
  });

  it('are gone after a deletion, which may come twice [A-26, A-117]', async () => {
    await storage.save(savedAs(1));
    await storage.save(savedAs(2));
    await storage.markNotResumable(KEY);
    await storage.delete(KEY);
    await storage.delete(KEY);
    expect(await storage.exists(KEY)).toBe(false);
    expect(await problemOf(medium.open().load(KEY))).toMatchObject({ code: 'session_not_found' });
    expect(await medium.get(KEY, 'bak')).toBeNull();
    await storage.save(savedAs(3));
    expect((await storage.load(KEY)).notResumable).toBe(false);
  });

  it('exist as soon as one of the two places holds anything [A-27]', async () => {
    await medium.put(KEY, 'bak', CORRUPT);
    expect(await storage.exists(KEY)).toBe(true);
  });

  it('of one session or tenant are not those of another', async () => {
    await storage.save(savedAs(1));
    await storage.save(savedAs(2, { ...KEY, sessionId: 'ses-2' }));
    await storage.save(savedAs(3, { ...KEY, tenant: 'other' }));
    expect(numberOf((await storage.load(KEY)).snapshot)).toBe(1);
    await storage.delete({ ...KEY, tenant: 'other' });
    expect(await storage.exists(KEY)).toBe(true);
  });

  it('that were loaded are a copy [A-29]', async () => {
    await storage.save(savedAs(1));
    const { snapshot } = await storage.load(KEY);
    (snapshot.agentState.metadata as Record<string, unknown>)['n'] = 'changed';
    (snapshot.agentState.history.messages as unknown[]).push('another');
    const again = await storage.load(KEY);
    expect(again.snapshot).toEqual(savedAs(1));
  });

  describe('marked not resumable', () => {
    it('say so and keep everything else, and the stored text is untouched [A-28, A-50]', async () => {
      await storage.save(fullSnapshot());
      const before = await medium.get(KEY, 'main');
      await storage.markNotResumable(KEY);
      const { snapshot, notResumable } = await medium.open().load(KEY);
      const { pendingRunCheckpoint: _, ...rest } = fullSnapshot().agentState;
      expect(notResumable).toBe(true);
      expect(snapshot).toEqual({ ...fullSnapshot(), agentState: { ...rest, isRunning: false } });
      expect(await medium.get(KEY, 'main')).toBe(before);
    });

    it('say so from bak as well [A-50]', async () => {
      await storage.save(savedAs(1));
      await storage.save(savedAs(2));
      await storage.markNotResumable(KEY);
      await medium.put(KEY, 'main', CORRUPT);
      const loaded = await medium.open().load(KEY);
      expect(loaded).toMatchObject({ loadSource: 'bak', notResumable: true });
      expect(loaded.snapshot.agentState.isRunning).toBe(false);
    });

    it('are so until the next whole save [A-36, A-112]', async () => {
      await storage.save(savedAs(1));
      await storage.markNotResumable(KEY);
      await storage.save(savedAs(2));
      const { snapshot, notResumable } = await medium.open().load(KEY);
      expect(notResumable).toBe(false);
      expect(snapshot).toEqual(savedAs(2));
    });

    it('are no snapshot by the mark alone', async () => {
      await storage.markNotResumable(KEY);
      expect(await storage.exists(KEY)).toBe(false);
      expect(await problemOf(storage.load(KEY))).toMatchObject({ code: 'session_not_found' });
      expect((await storage.loadOrCreate(KEY)).notResumable).toBe(true);
    });
  });

  describe('are looked for in main, then in bak [A-47]:', () => {
    const ok = { main: saved(2), bak: saved(1) };

    it.each<[string, string | null, string | null, 'main' | 'bak', number]>([
      ['main whole, bak whole [A-41]', ok.main, ok.bak, 'main', 2],
      ['main whole, bak damaged', ok.main, CORRUPT, 'main', 2],
      ['main whole, bak of a newer version', ok.main, FUTURE, 'main', 2],
      ['main damaged, bak whole [A-42, A-88, A-118, A-120]', CORRUPT, ok.bak, 'bak', 1],
      ['main cut in half, bak whole [A-42]', ok.main.slice(0, ok.main.length / 2), ok.bak, 'bak', 1],
      ['main missing, bak whole [A-45]', null, ok.bak, 'bak', 1],
    ])('%s', async (_, main, bak, loadSource, n) => {
      await medium.put(KEY, 'main', main);
      await medium.put(KEY, 'bak', bak);
      const loaded = await storage.load(KEY);
      expect(loaded.loadSource).toBe(loadSource);
      expect(numberOf(loaded.snapshot)).toBe(n);
    });

    it.each<[string, string | null, string | null, string]>([
      ['both damaged [A-44, A-118]', CORRUPT, '{}', 'state_corrupt'],
      ['main damaged, bak missing [A-43]', CORRUPT, null, 'state_corrupt'],
      ['main missing, bak damaged [A-48]', null, CORRUPT, 'state_corrupt'],
      ['main newer, bak whole [A-46, A-88, A-120]', FUTURE, ok.bak, 'schema_version_unsupported'],
      ['main newer, bak missing [A-88, A-120]', FUTURE, null, 'schema_version_unsupported'],
      ['both newer [A-88]', FUTURE, FUTURE, 'schema_version_unsupported'],
      ['main damaged, bak newer [A-46]', CORRUPT, FUTURE, 'schema_version_unsupported'],
      ['main missing, bak newer [A-48]', null, FUTURE, 'schema_version_unsupported'],
      ['both missing [A-45]', null, null, 'session_not_found'],
    ])('%s', async (_, main, bak, code) => {
      await medium.put(KEY, 'main', main);
      await medium.put(KEY, 'bak', bak);
      expect(await problemOf(storage.load(KEY))).toMatchObject({ code });
      expect(await medium.get(KEY, 'main')).toBe(main);
      expect(await medium.get(KEY, 'bak')).toBe(bak);
    });

    it('both damaged is told with both reasons and a short id [A-44, A-63]', async () => {
      const key = { ...KEY, sessionId: 'a-session-id-of-32-characters-xy' };
      await medium.put(key, 'main', CORRUPT);
      await medium.put(key, 'bak', '{"schemaVersion":-1}');
      const error = await problemOf(storage.load(key));
      expect(error.details.problems).toEqual(['main: state_malformed', 'bak: schema_version_invalid']);
      expect(error.message).not.toContain(key.sessionId);
    });

    it('a damaged main without bak is told with its own code as the cause [A-43]', async () => {
      await medium.put(KEY, 'main', '{"schemaVersion":-1}');
      const error = await problemOf(storage.load(KEY));
      expect(error).toMatchObject({ code: 'state_corrupt', cause: { code: 'schema_version_invalid' } });
    });

    it('a newer version is told with both numbers, unwrapped, and can be read by who knows it [A-66, A-76, A-89, A-90]', async () => {
      await medium.put(KEY, 'main', FUTURE);
      const error = await problemOf(storage.load(KEY));
      expect(error).toMatchObject({ code: 'schema_version_unsupported', found: 4, current: 3 });
      expect(error.message).toMatch(/4.*3.*newer version/u);
    });
  });

  it('of a newer version are not replaced by a save [A-91, U-09]', async () => {
    for (const place of ['main', 'bak'] as const) {
      await medium.put(KEY, place, FUTURE);
      expect(await problemOf(storage.save(savedAs(1)))).toMatchObject({ code: 'schema_version_unsupported' });
      expect(await medium.get(KEY, place)).toBe(FUTURE);
      await medium.put(KEY, 'main', null);
      await medium.put(KEY, 'bak', null);
    }
  });

  it('of another session under this name are refused, not loaded [A-60, D-55]', async () => {
    await medium.put(KEY, 'main', fileOf(savedAs(1, { ...KEY, sessionId: 'another' })));
    await medium.put(KEY, 'bak', saved(1));
    expect(await problemOf(storage.load(KEY))).toMatchObject({ code: 'session_identity_mismatch' });
    await medium.put(KEY, 'main', fileOf(savedAs(1, { ...KEY, tenant: 'another' })));
    expect(await problemOf(storage.load(KEY))).toMatchObject({ code: 'session_identity_mismatch' });
  });

  it('of an earlier layout are read as a state without a log, and saved in the present one [A-68, U-26]', async () => {
    const fixture = path.join(import.meta.dirname, '../../fixtures/session-state/v1.json');
    const legacy = { tenant: 'acme', sessionId: 'trip-plan' };
    await medium.put(legacy, 'main', await readFile(fixture, 'utf8'));
    const { snapshot } = await storage.load(legacy);
    expect(snapshot).toMatchObject({ position: null, runState: null, versionSetId: 'legacy schema/1' });
    await storage.save(snapshot);
    expect(JSON.parse((await medium.get(legacy, 'main')) ?? '')).toMatchObject({
      envelopeVersion: 1,
      agentState: { schemaVersion: 3 },
    });
  });

  it('with an empty message are refused and nothing is written [A-86, A-85]', async () => {
    const { agentState } = fullSnapshot();
    const messages = [{ messageId: 'm', role: 'user', contents: [], createdAt: '2031-01-01T00:00:00.000Z' }];
    const empty = { ...agentState, history: { messages, episodicMemories: [] } };
    const error = await problemOf(storage.save(fullSnapshot(KEY, { agentState: empty })));
    expect(error).toMatchObject({ code: 'message_empty_contents' });
    expect(await storage.exists(KEY)).toBe(false);
  });

  it.each([
    ['that is empty', ''],
    ['that climbs', '../etc'],
    ['with a slash', 'a/b'],
    ['with a backslash', 'a\\b'],
    ['with a NUL', 'a\0b'],
    ['with two dots in a row', 'a..b'],
    ['of one dot', '.'],
    ['of 201 characters', 'x'.repeat(201)],
  ])('have no id %s, in any operation [A-06, A-54, A-55, A-57, A-61, A-121]', async (_, sessionId) => {
    const key = { tenant: 'acme', sessionId };
    const calls = [
      storage.load(key),
      storage.loadOrCreate(key),
      storage.save(savedAs(1, key)),
      storage.delete(key),
      storage.exists(key),
      storage.markNotResumable(key),
    ];
    for (const call of calls) expect(await problemOf(call)).toMatchObject({ code: 'invalid_session_id' });
  });

  it('name at most eight characters of an id in every refusal, of a kind that is told [A-63, A-64, A-65]', async () => {
    const key = { ...KEY, sessionId: 'a-session-id-of-32-characters-xy' };
    const seen: CountersignError[] = [await problemOf(storage.load(key))];
    await medium.put(key, 'main', fileOf(savedAs(1)));
    seen.push(await problemOf(storage.load(key)));
    await medium.put(key, 'main', CORRUPT);
    seen.push(await problemOf(storage.load(key)));
    for (const error of seen) {
      expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain(key.sessionId);
      expect(error.message).toContain('a-sessio...');
      expect(sessionErrorKind(error.code)?.retryability).toBe('never');
    }
  });
});

it('files: a session is main, bak and mark after two saves and a mark [A-30]', async () => {
  const root = path.join(base, 'names');
  const storage = new FileStateStorage(root, NO_SECRETS);
  const key = { tenant: 'acme', sessionId: '会话 1' };
  await storage.save(savedAs(1, key));
  await storage.save(savedAs(2, key));
  await storage.markNotResumable(key);
  const names = (await readdir(path.join(root, 'acme'))).toSorted();
  expect(names).toEqual(['___1.json', '___1.json.bak', '___1.json.ended']);
  expect(await readFile(path.join(root, 'acme', '___1.json.ended'), 'utf8')).toBe('1');
});

it('memory: two storages know nothing of each other [A-29]', async () => {
  const [one, two] = [new MemoryStateStorage(), new MemoryStateStorage()];
  await one.save(savedAs(1));
  expect(await two.exists(KEY)).toBe(false);
});
