import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeRow } from '../../../src/domain/session/row-codec.js';
import type { SessionRow } from '../../../src/domain/session/session-row.js';
import { DatabaseBackend } from '../../../src/sessions/backends/database/database-backend.js';
import { openSessionDatabase } from '../../../src/storage/session-log/open-session-database.js';
import type { SessionDatabase } from '../../../src/storage/session-log/session-database.js';
import { SqliteSessionDatabase } from '../../../src/storage/session-log/sqlite-session-database.js';
import { mixedRows, sessionHeader, sessionKey } from '../../builders/session-rows.js';
import { SESSION_WORKER, newSessionsDir } from './log-backends.js';
import { RandomDamage } from './random-damage.js';

/** The same for rows whose members come in another order. */
const textOf = (rows: readonly SessionRow[]): string => rows.map(encodeRow).join('\n');

const KEY = sessionKey('s-1');
const OTHER = sessionKey('s-2');
const ROWS = mixedRows(0, 30);
const PROMISED = 20;
const REFUSALS = ['session_log_corrupt', 'session_format_unsupported', 'session_identity_mismatch'];

/** Statements with a `seq` and a number as parameters. */
const ON_ROWS: readonly string[] = [
  'DELETE FROM session_log WHERE session = 1 AND seq = $seq',
  'DELETE FROM session_log WHERE session = 1 AND seq >= $seq',
  'DELETE FROM session_log WHERE session = 1 AND seq <= $seq',
  'UPDATE session_log SET text = substr(text, 1, $n) WHERE session = 1 AND seq = $seq',
  "UPDATE session_log SET text = substr(text, 1, $n) || '#' || substr(text, $n + 2) WHERE session = 1 AND seq = $seq",
  'UPDATE session_log SET crc = crc + 1 + $n WHERE session = 1 AND seq = $seq',
  "UPDATE session_log SET event_id = event_id || 'x' WHERE session = 1 AND seq = $seq",
  "UPDATE session_log SET event_type = 'x' WHERE session = 1 AND seq = $seq",
  'UPDATE session_log SET seq = 1000 + $n WHERE session = 1 AND seq = $seq',
  `UPDATE session_log SET (text, crc) = (SELECT text, crc FROM session_log WHERE session = 2 AND seq = $seq)
   WHERE session = 1 AND seq = $seq`,
  `UPDATE session_log SET (text, crc) = (SELECT text, crc FROM session_log WHERE session = 1 AND seq = $n % 30)
   WHERE session = 1 AND seq = $seq`,
  "INSERT INTO session_log SELECT session, 30 + $n, event_id || 'y', event_type, text, crc FROM session_log WHERE session = 1 AND seq = $seq",
];
const ON_SESSION: readonly string[] = [
  'UPDATE sessions SET next_seq = $n WHERE session = 1',
  'UPDATE sessions SET barrier_seq = $n WHERE session = 1',
  'UPDATE sessions SET revision = revision + 1 + $n WHERE session = 1',
  "UPDATE sessions SET header = substr(header, 1, $n) || '#' WHERE session = 1",
  "UPDATE sessions SET header = replace(header, 's-1', 's-2') WHERE session = 1",
  'UPDATE sessions SET format_version = 2 + $n WHERE session = 1',
  'UPDATE sessions SET crc = crc + 1 WHERE session = 1',
  "UPDATE sessions SET created_at = 'x' WHERE session = 1",
];

describe('A damaged table of session rows', () => {
  const dataDir = newSessionsDir();
  let database: SessionDatabase;
  let direct: Database.Database;

  beforeAll(async () => {
    database = await openSessionDatabase({ dataDir, instanceEpoch: 1, entry: SESSION_WORKER });
    const backend = new DatabaseBackend(database);
    for (const key of [KEY, OTHER]) {
      const [first, next] = [ROWS.slice(0, PROMISED), ROWS.slice(PROMISED)];
      await backend.appendBatch(key, sessionHeader(key), first, { materialized: false, barrier: true });
      await backend.appendBatch(key, sessionHeader(key), next, { materialized: true, barrier: false });
    }
    direct = new Database(join(dataDir, 'sessions.sqlite'));
    // The damage is undone after each look, so it need not reach the disk.
    direct.pragma('synchronous = OFF');
    direct.exec(
      'CREATE TEMP TABLE kept AS SELECT * FROM session_log; CREATE TEMP TABLE kept_sessions AS SELECT * FROM sessions',
    );
  });

  afterAll(async () => {
    direct.close();
    await database.close();
    rmSync(dataDir, { recursive: true });
  });

  const restore = (): void => {
    direct.exec(`DELETE FROM session_log; INSERT INTO session_log SELECT * FROM temp.kept;
      DELETE FROM sessions; INSERT INTO sessions SELECT * FROM temp.kept_sessions`);
  };

  it('is read as far as it was written, or refused; nothing promised is lost in silence [D-64]', async () => {
    // Read through the connection that makes the damage, so that none of it is ever committed.
    const backend = new DatabaseBackend(new SqliteSessionDatabase(direct, null as never));
    const random = new RandomDamage(4_711);
    const findings: string[] = [];
    const seen = new Set<string>();
    direct.exec('BEGIN');
    for (let n = 0; n < 10_000; n += 1) {
      const sql = random.pick(n % 4 === 0 ? ON_SESSION : ON_ROWS);
      direct.exec('SAVEPOINT damage');
      const numbers = { seq: random.below(30), n: random.below(60) };
      const { changes } = direct.prepare(sql).run(usedIn(sql, numbers));
      const { finding, outcome } = await look(backend, changes > 0);
      seen.add(outcome);
      if (finding !== null) findings.push(`${sql} ${JSON.stringify(numbers)}: ${finding}`);
      direct.exec('ROLLBACK TO damage; RELEASE damage');
    }
    direct.exec('ROLLBACK');
    expect(findings).toEqual([]);
    expect([...seen].sort()).toEqual([...REFUSALS, 'torn', 'whole'].sort());
  });

  it('is repaired in one transaction, and goes on [D-65]', async () => {
    for (let seq = PROMISED; seq < 30; seq += 1) {
      direct.prepare('DELETE FROM session_log WHERE session = 1 AND seq = ?').run(seq);
      const backend = new DatabaseBackend(database);
      const found = await backend.loadStored(KEY);
      const kept = found?.rows ?? [];
      await backend.commitRepair(KEY, found?.torn, []);
      const row = { ...mixedRows(kept.length, 1)[0], payload: { after: 'repair' } } as (typeof ROWS)[number];
      await backend.appendBatch(KEY, sessionHeader(KEY), [row], { materialized: true, barrier: true });
      expect((await backend.loadStored(KEY))?.rows.length).toBe(kept.length + 1);
      restore();
    }
  });
});

function usedIn(sql: string, numbers: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).filter(([name]) => sql.includes(`$${name}`)));
}

async function look(
  backend: DatabaseBackend,
  isDamaged: boolean,
): Promise<{ finding: string | null; outcome: string }> {
  try {
    const found = await backend.loadStored(KEY);
    const rows = found?.rows ?? [];
    const isPrefix = textOf(rows) === textOf(ROWS.slice(0, rows.length));
    if (!isPrefix) return { finding: 'other rows than were written', outcome: 'wrong' };
    if (rows.length < PROMISED) return { finding: `lost ${PROMISED - rows.length} promised rows`, outcome: 'wrong' };
    if (found?.torn === undefined && rows.length < 30) return { finding: 'lost rows without a word', outcome: 'wrong' };
    return { finding: null, outcome: found?.torn === undefined ? 'whole' : 'torn' };
  } catch (error) {
    const { code = String(error) } = error as { code?: string };
    const isRefusal = REFUSALS.includes(code) && isDamaged;
    return { finding: isRefusal ? null : code, outcome: code };
  }
}
