import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { databasePath } from '../../../src/storage/sqlite/database-file.js';
import { JsonChild } from '../storage/child-process.js';
import { newDataDir, openSqlite } from '../storage/opened-store.js';

const SINGLES = 25;
const ROUNDS = 12;
const AT_ONCE = 8;
const UNITS = SINGLES + ROUNDS * AT_ONCE;

/** SQLite file format section 4.1: a header of 32 bytes, then frames of 24 bytes and one page. */
const WAL_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;

interface Acknowledgement {
  readonly acknowledged: number;
  readonly walBytes: number;
}

/** A copy of the log that was made while the writer wrote, and what it had acknowledged before the copy began. */
interface Snapshot {
  readonly file: string;
  readonly acknowledged: number;
}

describe('the log of a store, cut off', () => {
  let dataDir: string;
  let copyDir: string;
  const acknowledgements: Acknowledgement[] = [];
  const snapshots: Snapshot[] = [];
  const copy = (): string => join(copyDir, 'copy.sqlite');

  beforeAll(async () => {
    dataDir = newDataDir();
    copyDir = mkdtempSync(join(tmpdir(), 'countersign-wal-'));
    await (await openSqlite({}, dataDir)).store.close();
    copyFileSync(databasePath(dataDir), copy());
    await recordWrites();
    // Nothing was moved from the log to the file, so the file of before and any prefix of the log belong together.
    expect(readFileSync(databasePath(dataDir)).equals(readFileSync(copy()))).toBe(true);
    copyFileSync(`${databasePath(dataDir)}-wal`, join(copyDir, 'whole-wal'));
  });
  afterAll(() => {
    for (const dir of [dataDir, copyDir]) rmSync(dir, { recursive: true, force: true });
  });

  /** Runs the writer to its end and kills it. While it runs only its log is read, by a program that holds no lock of SQLite. */
  async function recordWrites(): Promise<void> {
    const parameters = [SINGLES, ROUNDS, AT_ONCE].map(String);
    const child = JsonChild.start(import.meta.url, './children/acknowledging-writer.mjs', dataDir, ...parameters);
    for (let line = await child.next<Partial<Acknowledgement>>(); line !== null; line = await child.next()) {
      if (line.acknowledged === undefined) break;
      acknowledgements.push(line as Acknowledgement);
      if (acknowledgements.length % 5 !== 0) continue;
      const file = join(copyDir, `wal-while-writing-${snapshots.length}`);
      execFileSync('cp', [`${databasePath(dataDir)}-wal`, file]);
      snapshots.push({ file, acknowledged: line.acknowledged });
    }
    await child.kill();
  }

  /** The units that a database with this log holds, in order. Throws when one of them is not whole. */
  function unitsWith(log: string | null, bytes?: number): string[] {
    for (const suffix of ['-wal', '-shm']) rmSync(`${copy()}${suffix}`, { force: true });
    if (log !== null) copyFileSync(log, `${copy()}-wal`);
    return unitsAt(bytes);
  }

  function unitsAt(bytes: number | undefined): string[] {
    rmSync(`${copy()}-shm`, { force: true });
    if (bytes !== undefined) truncateSync(`${copy()}-wal`, bytes);
    const database = new Database(copy(), { readonly: true });
    try {
      expect(database.pragma('quick_check', { simple: true })).toBe('ok');
      return wholeUnits(database);
    } finally {
      database.close();
    }
  }

  it('acknowledges every unit, and grows with each', () => {
    expect(acknowledgements).toHaveLength(SINGLES + ROUNDS);
    expect(acknowledgements.at(-1)?.acknowledged).toBe(UNITS);
    const lengths = acknowledgements.map(({ walBytes }) => walBytes);
    expect(lengths).toEqual([...new Set(lengths)].sort((left, right) => left - right));
    for (const length of lengths) expect((length - WAL_HEADER_BYTES) % FRAME_BYTES).toBe(0);
  });

  it('keeps every acknowledged unit when it is cut at or after the end of its acknowledgement, and whole units always', () => {
    const whole = join(copyDir, 'whole-wal');
    unitsWith(whole);
    const frames = (statSync(whole).size - WAL_HEADER_BYTES) / FRAME_BYTES;
    expect(frames).toBeGreaterThan(200);
    let held = UNITS;
    for (let frame = frames; frame >= 0; frame -= 1) {
      const bytes = WAL_HEADER_BYTES + frame * FRAME_BYTES;
      const units = unitsAt(bytes);
      expect(units).toEqual(Array.from({ length: units.length }, (_, index) => `unit ${index + 1}`));
      const acknowledged = acknowledgements.filter(({ walBytes }) => walBytes <= bytes).at(-1)?.acknowledged ?? 0;
      expect(units.length).toBeGreaterThanOrEqual(acknowledged);
      expect(units.length).toBeLessThanOrEqual(held);
      held = units.length;
    }
    expect(held).toBe(0);
  });

  it('loses the newest unit when it is cut one frame before the end of its acknowledgement', () => {
    for (const { acknowledged, walBytes } of acknowledgements) {
      const units = unitsWith(join(copyDir, 'whole-wal'), walBytes - FRAME_BYTES);
      expect(units.length).toBeLessThan(acknowledged);
    }
  });

  it('takes a frame that is cut in the middle for one that is not there', () => {
    for (const { acknowledged, walBytes } of acknowledgements) {
      expect(unitsWith(join(copyDir, 'whole-wal'), walBytes + FRAME_BYTES - 1).length).toBeGreaterThanOrEqual(
        acknowledged,
      );
      expect(unitsWith(join(copyDir, 'whole-wal'), walBytes - 1).length).toBeLessThan(acknowledged);
    }
  });

  it('holds, when it is copied while units are being acknowledged, all that were acknowledged before', () => {
    expect(snapshots.length).toBeGreaterThan(5);
    for (const { file, acknowledged } of snapshots) {
      expect(unitsWith(file).length).toBeGreaterThanOrEqual(acknowledged);
    }
  });
});

interface UnitCount {
  readonly unit_id: string;
  readonly unit_size: number;
  readonly events: number;
  readonly first: number;
  readonly last: number;
}

function wholeUnits(database: Database.Database): string[] {
  const units = database
    .prepare(
      `SELECT e.unit_id, e.unit_size, count(*) AS events, min(p.idx) AS first, max(p.idx) AS last
       FROM events AS e LEFT JOIN positions AS p ON p.event_id = e.event_id GROUP BY e.unit_id ORDER BY first`,
    )
    .all() as UnitCount[];
  for (const [index, { unit_id, unit_size, events, first, last }] of units.entries()) {
    expect([unit_id, events, first, last]).toEqual([unit_id, unit_size, index * 2, index * 2 + 1]);
    const rows = database.prepare('SELECT count(*) FROM meta WHERE value = ?').pluck().get(unit_id);
    expect([unit_id, rows]).toEqual([unit_id, 2]);
  }
  const facts = database.prepare(`SELECT count(*) FROM meta WHERE name LIKE 'unit %'`).pluck().get();
  expect(facts).toBe(units.length * 2);
  const positions = database.prepare('SELECT count(*) FROM positions').pluck().get();
  expect(positions).toBe(units.length * 2);
  return units.map(({ unit_id }) => unit_id);
}
