import type { Database } from 'better-sqlite3';
import type { SessionTableRow } from './session-log-tables.js';

const COLUMNS = 'session, header, format_version, revision, next_seq, barrier_seq, created_at, crc';

/** The statements of the writing connection. */
export class SessionLogStatements {
  readonly own;
  readonly owner;
  readonly find;
  readonly insertSession;
  readonly move;
  readonly removeSession;
  readonly insertRow;
  readonly eventIdAt;
  readonly cut;
  readonly demote;
  readonly saveMain;
  readonly mark;
  readonly unmark;
  readonly removeSnapshots;

  constructor(database: Database) {
    this.own = database.prepare<[number]>(
      'INSERT INTO owner (one, epoch) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET epoch = max(epoch, excluded.epoch)',
    );
    this.owner = database.prepare<[], number>('SELECT epoch FROM owner').pluck();
    this.find = database.prepare<[string, string], SessionTableRow>(
      `SELECT ${COLUMNS} FROM sessions WHERE tenant = ? AND session_id = ?`,
    );
    this.insertSession = database.prepare<[string, string, string, number, string]>(
      `INSERT INTO sessions (tenant, session_id, header, format_version, revision, next_seq, barrier_seq, fence, created_at, crc)
       VALUES (?, ?, ?, ?, 0, 0, -1, 0, ?, 0)`,
    );
    this.move = database.prepare<[number, number, number, number, number, number]>(
      'UPDATE sessions SET revision = ?, next_seq = ?, barrier_seq = ?, fence = ?, crc = ? WHERE session = ?',
    );
    this.removeSession = database.prepare<[number]>('DELETE FROM sessions WHERE session = ?');
    this.insertRow = database.prepare<[number, number, string, string, string, number]>(
      'INSERT INTO session_log (session, seq, event_id, event_type, text, crc) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.eventIdAt = database
      .prepare<[number, number], string>('SELECT event_id FROM session_log WHERE session = ? AND seq = ?')
      .pluck();
    this.cut = database.prepare<[number, number]>('DELETE FROM session_log WHERE session = ? AND seq >= ?');
    this.demote = database.prepare<[string, string]>(
      `INSERT OR REPLACE INTO session_snapshots (tenant, session_id, slot, content, saved_at)
       SELECT tenant, session_id, 'bak', content, saved_at FROM session_snapshots
       WHERE tenant = ? AND session_id = ? AND slot = 'main'`,
    );
    this.saveMain = database.prepare<[string, string, string, string]>(
      `INSERT OR REPLACE INTO session_snapshots (tenant, session_id, slot, content, saved_at) VALUES (?, ?, 'main', ?, ?)`,
    );
    this.mark = database.prepare<[string, string, string]>(
      'INSERT OR REPLACE INTO session_snapshot_marks (tenant, session_id, marked_at) VALUES (?, ?, ?)',
    );
    this.unmark = database.prepare<[string, string]>(
      'DELETE FROM session_snapshot_marks WHERE tenant = ? AND session_id = ?',
    );
    this.removeSnapshots = database.prepare<[string, string]>(
      'DELETE FROM session_snapshots WHERE tenant = ? AND session_id = ?',
    );
  }
}
