import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { SCHEMA_VERSION } from '../../src/storage/migrations.js';
import { countersign, type Ended } from '../support/command-line.js';
import { newestMigration, olderDatabase, schemaOf } from './support/older-database.js';
import { CAN_CRASH } from './support/fault-stack.js';

const SETTINGS = fileURLToPath(new URL('../../examples/refunds/countersign.yaml', import.meta.url));

let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-migration-'));
  mkdirSync(join(dir, 'data'));
  file = join(dir, 'data', 'countersign.sqlite');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** `countersign migrate`; with a number it dies at that statement. */
function migrate(statement: number | null): Promise<Ended> {
  const plan = statement === null ? '' : JSON.stringify({ point: 'storage.migration-statement', count: statement });
  writeFileSync(join(dir, 'plan.json'), plan);
  const env = {
    ...CAN_CRASH,
    COUNTERSIGN_CONFIG: SETTINGS,
    PAYMENTS_KEY: 'unused',
    CRASH_PLAN_FILE: join(dir, 'plan.json'),
    COUNTERSIGN_DATA_DIR: join(dir, 'data'),
  };
  return countersign(['migrate'], env);
}

function look<T>(question: (database: Database.Database) => T): T {
  const database = new Database(file, { fileMustExist: true });
  try {
    return question(database);
  } finally {
    database.close();
  }
}

const version = (database: Database.Database): unknown => database.pragma('user_version', { simple: true });

describe('a migration that is killed', () => {
  it('at any of its statements leaves the older schema whole, and the next attempt ends as if there had been none', async () => {
    await olderDatabase(file);
    const before = look(schemaOf);
    let deaths = 0;
    // Every other statement, TypeORM's own included, until one attempt has fewer than that, or has committed, and lives.
    for (let place = 1; ; place += 2) {
      const ended = await migrate(place);
      if (ended.code !== null) {
        expect([ended.code, ended.err]).toEqual([0, '']);
        break;
      }
      expect(look((database) => database.pragma('integrity_check', { simple: true }))).toBe('ok');
      if (look(version) === SCHEMA_VERSION) break;
      deaths += 1;
      expect([place, look(version)]).toEqual([place, SCHEMA_VERSION - 1]);
      expect(look(schemaOf)).toEqual(before);
    }
    expect(deaths * 2).toBeGreaterThan((await newestMigration()).statements);
    expect(look(version)).toBe(SCHEMA_VERSION);
    const migrated = look(schemaOf);
    rmSync(file);
    await olderDatabase(file);
    expect(await migrate(null)).toMatchObject({ code: 0 });
    expect(migrated).toEqual(look(schemaOf));
  });
});
