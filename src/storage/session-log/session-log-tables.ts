/**
 * Rows are kept by session and `seq` and nowhere else, so a suffix is one walk along the pages. `session` stands for tenant and id: a
 * number that is never given twice, so that a log made after another was deleted has none of its rows and none of its revisions.
 * `crc` is over the key of the session and the text of the row, and in `sessions` over its own columns. `owner` has the epoch of the
 * process that writes: every transaction asks it, and `fence` keeps who wrote last.
 */
export const SESSION_LOG_TABLES = `
CREATE TABLE owner (one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER NOT NULL);
CREATE TABLE sessions (
  session INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  header TEXT NOT NULL,
  format_version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  next_seq INTEGER NOT NULL,
  barrier_seq INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  crc INTEGER NOT NULL,
  UNIQUE (tenant, session_id)
) STRICT;
CREATE TABLE session_log (
  session INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  text TEXT NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX session_log_event ON session_log (session, event_id);
CREATE TABLE session_snapshots (
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  slot TEXT NOT NULL CHECK (slot IN ('main', 'bak')),
  content TEXT NOT NULL,
  saved_at TEXT NOT NULL,
  PRIMARY KEY (tenant, session_id, slot)
) STRICT, WITHOUT ROWID;
CREATE TABLE session_snapshot_marks (
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  marked_at TEXT NOT NULL,
  PRIMARY KEY (tenant, session_id)
) STRICT, WITHOUT ROWID;
`;

export interface SessionTableRow {
  readonly session: number;
  readonly header: string;
  readonly format_version: number;
  readonly revision: number;
  readonly next_seq: number;
  readonly barrier_seq: number;
  readonly created_at: string;
  readonly crc: number;
}
