import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { APPROVAL_STATUSES } from '../../../src/domain/approval/approval.state.js';
import { OUTCOME_STATUSES } from '../../../src/domain/outcome/outcome.state.js';
import { RUN_STATUSES } from '../../../src/domain/run/run.state.js';
import { EFFECTS, RISKS, TOOL_CALL_STATUSES } from '../../../src/domain/tool-call/tool-call.state.js';
import { SCHEMA_VERSION } from '../../../src/storage/migrations.js';
import { TABLE_COLUMNS } from '../../../src/storage/rows/columns.js';
import { TABLE_KEYS } from '../../../src/storage/rows/table-rules.js';
import { EVENT_COLUMNS } from '../../../src/storage/rows/event.row.js';
import type { TableName } from '../../../src/storage/rows/tables.js';
import { APPLICATION_ID } from '../../../src/storage/sqlite/connection.js';
import { newWriterHarness } from './writer-harness.js';
import type { WriterHarness } from './writer-harness.js';

interface ColumnInfo {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

const TABLES = Object.keys(TABLE_COLUMNS) as TableName[];

describe('the schema', () => {
  let harness: WriterHarness;
  beforeEach(async () => {
    harness = await newWriterHarness();
  });
  afterEach(() => harness.discard());

  const columns = (table: string): ColumnInfo[] => harness.database.pragma(`table_info(${table})`) as ColumnInfo[];
  const plan = (sql: string): string =>
    (harness.database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .join('; ');

  it.each(TABLES)('has the columns of %s that a unit may name, and no others', (table) => {
    const found = columns(table).map(({ name, type, notnull }) => [
      name,
      `${type.toLowerCase()}${notnull === 1 ? '' : '?'}`,
    ]);
    expect(Object.fromEntries(found)).toEqual(TABLE_COLUMNS[table]);
  });

  it.each(TABLES)('has the primary key of %s that a unit may put by', (table) => {
    const keys = columns(table)
      .filter(({ pk }) => pk > 0)
      .sort((left, right) => left.pk - right.pk);
    expect(keys.map(({ name }) => name)).toEqual(TABLE_KEYS[table]);
  });

  it('has the columns of events in the order in which they are written', () => {
    expect(columns('events').map(({ name }) => name)).toEqual([...EVENT_COLUMNS]);
  });

  it('holds every table to its types', () => {
    const tables = harness.database.pragma('table_list') as {
      name: string;
      type: string;
      schema: string;
      strict: number;
    }[];
    const ours = tables.filter(
      ({ name, type, schema }) => type === 'table' && schema === 'main' && !name.startsWith('sqlite_'),
    );
    const loose = ours.filter(({ strict }) => strict === 0).map(({ name }) => name);
    // TypeORM makes the table of its migrations itself.
    expect(loose).toEqual(['schema_migrations']);
  });

  it.each([
    ['tool_calls', 'status', TOOL_CALL_STATUSES],
    ['tool_calls', 'effect', EFFECTS],
    ['tool_calls', 'risk', RISKS],
    ['runs', 'status', RUN_STATUSES],
    ['approvals', 'status', APPROVAL_STATUSES],
    ['approvals', 'risk', RISKS],
    ['outcomes', 'status', OUTCOME_STATUSES],
  ] as const)('takes for %s.%s exactly the words of the state machine', (table, column, words) => {
    const sql = String(harness.database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(table));
    const [, list = ''] = new RegExp(`\\b${column} TEXT NOT NULL CHECK \\(${column} IN \\(([^)]*)\\)`).exec(sql) ?? [];
    expect([...list.matchAll(/'([a-z_]+)'/g)].map(([, word]) => word)).toEqual([...words]);
  });

  it('says whose it is and which version it has', () => {
    expect(harness.database.pragma('application_id', { simple: true })).toBe(APPLICATION_ID);
    expect(harness.database.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION);
  });

  it('has the pragmas in force that durability rests on', () => {
    const values = [
      'journal_mode',
      'synchronous',
      'wal_autocheckpoint',
      'page_size',
      'recursive_triggers',
      'trusted_schema',
      'cell_size_check',
    ];
    expect(values.map((name) => harness.database.pragma(name, { simple: true }))).toEqual(['wal', 2, 0, 4096, 1, 0, 1]);
  });

  it.each([
    [
      'work that is due',
      `SELECT * FROM work WHERE kind = 'execute' AND next_at <= 'x' ORDER BY next_at, tool_call_id LIMIT 9`,
    ],
    [
      'approvals that are overdue',
      `SELECT * FROM approvals WHERE status = 'pending' AND decide_by <= 'x' ORDER BY decide_by`,
    ],
    [
      'grants that are overdue',
      `SELECT * FROM approvals WHERE status = 'granted' AND execute_by <= 'x' ORDER BY execute_by`,
    ],
    [
      'authorizations that are overdue',
      `SELECT * FROM tool_calls WHERE status = 'authorized' AND execute_by <= 'x' ORDER BY execute_by`,
    ],
    [
      'calls of a tenant',
      `SELECT * FROM tool_calls WHERE tenant = 'x' ORDER BY created_at DESC, tool_call_id DESC LIMIT 9`,
    ],
    [
      'calls of a capability',
      `SELECT * FROM tool_calls WHERE tenant = 'x' AND capability = 'y' ORDER BY created_at DESC, tool_call_id DESC LIMIT 9`,
    ],
    [
      'calls of a run',
      `SELECT * FROM tool_calls WHERE run_id = 'x' ORDER BY created_at DESC, tool_call_id DESC LIMIT 9`,
    ],
    [
      'open calls of a run',
      `SELECT count(*) FROM tool_calls WHERE run_id = 'x' AND status NOT IN ('completed', 'failed', 'manual_handoff', 'denied', 'not_executed')`,
    ],
    [
      'approvals of a tenant in a status',
      `SELECT * FROM approvals WHERE tenant = 'x' AND status = 'pending' ORDER BY created_at DESC, approval_id DESC LIMIT 9`,
    ],
    [
      'the open run of a label',
      `SELECT * FROM runs WHERE tenant = 'x' AND principal = 'y' AND label = 'z' AND status IN ('running', 'suspending', 'suspended', 'interrupted', 'stopping')`,
    ],
    [
      'events of a tenant after a position',
      `SELECT p.idx, e.* FROM positions AS p JOIN events AS e ON e.event_id = p.event_id WHERE p.idx > 7 AND e.tenant = 'x' ORDER BY p.idx LIMIT 9`,
    ],
    [
      'events after a position',
      `SELECT p.idx, e.* FROM positions AS p JOIN events AS e ON e.event_id = p.event_id WHERE p.idx > 7 ORDER BY p.idx LIMIT 9`,
    ],
    [
      'the newest version of a stream',
      `SELECT version FROM events WHERE stream_kind = 'x' AND stream_id = 'y' ORDER BY version DESC LIMIT 1`,
    ],
    [
      'calls that a tool knows by a reference',
      `SELECT * FROM tool_calls WHERE capability = 'x' AND external_request_id = 'y' LIMIT 2`,
    ],
    [
      'evidence for a reference',
      `SELECT * FROM late_results WHERE state = 'unmatched' AND capability = 'x' AND reference = 'y' LIMIT 9`,
    ],
    [
      'verifications that are overdue',
      `SELECT * FROM outcomes WHERE status = 'pending' AND deadline <= 'x' ORDER BY deadline LIMIT 9`,
    ],
    [
      'what was stated about a run',
      `SELECT * FROM run_objects WHERE run_id = 'x' AND kind = 'artifact' AND tenant = 'y' ORDER BY created_at DESC, object_id DESC LIMIT 9`,
    ],
    [
      'a statement by its client id',
      `SELECT * FROM run_objects WHERE run_id = 'x' AND kind = 'turn' AND client_id = 'y' AND tenant = 'z'`,
    ],
    ['an intent to close', `DELETE FROM open_intents WHERE tenant = 'x' AND principal = 'y' AND tool_call_id = 'z'`],
  ])('finds %s by an index, without sorting', (_, sql) => {
    expect(plan(sql)).not.toMatch(/SCAN|TEMP B-TREE/);
    expect(plan(sql)).toMatch(/SEARCH/);
  });

  it.each([
    ['pending approvals', `SELECT COUNT(*) FROM approvals WHERE status = 'pending'`, 'approvals_pending'],
    [
      'open calls',
      `SELECT status, COUNT(*) FROM tool_calls WHERE status NOT IN ('completed', 'failed', 'denied', 'not_executed') AND status <> 'manual_handoff' GROUP BY status`,
      'tool_calls_status',
    ],
  ])('counts %s from an index that holds nothing else', (_, sql, index) => {
    expect(plan(sql)).toBe(
      `SCAN ${index === 'approvals_pending' ? 'approvals' : 'tool_calls'} USING COVERING INDEX ${index}`,
    );
  });

  it('cannot be written through a connection that reads', () => {
    const reader = new Database(harness.path, { readonly: true });
    expect(() => reader.exec(`DELETE FROM meta`)).toThrow(/readonly/);
    reader.close();
  });
});
