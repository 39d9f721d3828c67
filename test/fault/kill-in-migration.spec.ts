import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { SCHEMA_VERSION } from '../../src/storage/migrations.js';
import { countersign, type Ended } from '../support/command-line.js';
import { newestMigration, olderDatabase, schemaOf } from './support/older-database.js';
import { CAN_CRASH, type CrashPlan } from './support/fault-stack.js';

const SETTINGS = fileURLToPath(new URL('../../examples/refunds/countersign.yaml', import.meta.url));

const OPENER = fileURLToPath(new URL('../contract/storage/children/hold-store.mjs', import.meta.url));

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

/** A process that opens the store, at first or again. With a plan it dies there; otherwise it says whether it has it. */
async function openStore(plan: CrashPlan | null): Promise<{ code: number | null; said: string }> {
  writeFileSync(join(dir, 'plan.json'), plan === null ? '' : JSON.stringify(plan));
  const child = spawn(process.execPath, [OPENER, join(dir, 'data')], {
    env: { ...CAN_CRASH, CRASH_PLAN_FILE: join(dir, 'plan.json') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
    child.kill('SIGKILL');
  });
  return { code: await ended, said };
}

describe('a first start that is killed', () => {
  it.each<CrashPlan>([
    { point: 'storage.migration-statement', count: 1 },
    { point: 'storage.migration-statement', count: 25 },
    { point: 'storage.database-unnamed' },
  ])('at $point $count leaves nothing that looks like a database, and the next one makes it', async (plan) => {
    expect(await openStore(plan)).toEqual({ code: null, said: '' });
    expect(existsSync(file)).toBe(false);
    expect((await openStore(null)).said).toContain('"opened":true');
    expect(look(version)).toBe(SCHEMA_VERSION);
  });
});
