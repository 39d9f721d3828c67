import type { Database, Statement } from 'better-sqlite3';
import type { SessionKey } from '../../domain/session/session-key.js';
import { checksumSeed, rowChecksum, sessionChecksum } from './log-checksum.js';
import { SessionDatabase } from './session-database.js';
import type { LogAppend, LogRepair, StoredLogRow, StoredSession, StoredSnapshots } from './session-database.js';
import type { SessionLogThread } from './session-log-thread.js';
import type { SessionTableRow } from './session-log-tables.js';
import { revisionOf } from './session-log-writer.js';

interface LogTableRow {
  readonly seq: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly text: string;
  readonly crc: number;
}

const SESSION = `SELECT session, header, format_version, revision, next_seq, barrier_seq, created_at, crc
  FROM sessions WHERE tenant = ? AND session_id = ?`;

/** A suffix of a log, found by the primary key. */
export const SUFFIX = `SELECT seq, event_id, event_type, text, crc FROM session_log
  WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?`;

/** Rows of one read: a millisecond or two, so that other requests come between. */
const READ_ROWS_MAX = 256;

/** Writes go to the thread; reads are short statements on a connection of their own. */
export class SqliteSessionDatabase extends SessionDatabase {
  private readonly find: Statement<[string, string], SessionTableRow>;
  private readonly suffix: Statement<[number, number, number], LogTableRow>;
  private readonly listed: Statement<[string], string>;
  private readonly texts: Statement<[string, string], { readonly slot: string; readonly content: string }>;
  private readonly marked: Statement<[string, string], number>;
  private readonly stored: Statement<[string, string], number>;

  constructor(
    private readonly reader: Database,
    private readonly thread: SessionLogThread,
  ) {
    super();
    this.find = reader.prepare(SESSION);
    this.suffix = reader.prepare(SUFFIX);
    this.listed = reader.prepare<[string], string>('SELECT session_id FROM sessions WHERE tenant = ?').pluck();
    this.texts = reader.prepare('SELECT slot, content FROM session_snapshots WHERE tenant = ? AND session_id = ?');
    this.marked = reader
      .prepare<[string, string], number>('SELECT 1 FROM session_snapshot_marks WHERE tenant = ? AND session_id = ?')
      .pluck();
    this.stored = reader
      .prepare<[string, string], number>('SELECT 1 FROM session_snapshots WHERE tenant = ? AND session_id = ? LIMIT 1')
      .pluck();
  }

  async session(key: SessionKey): Promise<StoredSession | null> {
    const row = this.find.get(key.tenant, key.sessionId);
    if (row === undefined) return null;
    return {
      header: row.header,
      formatVersion: row.format_version,
      revision: revisionOf(row),
      nextSeq: row.next_seq,
      barrierSeq: row.barrier_seq,
      intact: sessionChecksum(checksumSeed(key), row) === row.crc,
    };
  }

  async rows(key: SessionKey, fromSeq: number, limit: number): Promise<readonly StoredLogRow[]> {
    const session = this.find.get(key.tenant, key.sessionId)?.session;
    if (session === undefined) return [];
    const seed = checksumSeed(key);
    const rows = this.suffix.all(session, fromSeq, Math.min(limit, READ_ROWS_MAX));
    return rows.map(({ seq, event_id, event_type, text, crc }) => {
      return { seq, eventId: event_id, eventType: event_type, text, intact: rowChecksum(seed, text) === crc };
    });
  }

  async append(key: SessionKey, batch: LogAppend): Promise<{ readonly revision: string }> {
    return { revision: await this.thread.write({ kind: 'append', key, batch }) };
  }

  async repair(key: SessionKey, repair: LogRepair): Promise<{ readonly revision: string }> {
    return { revision: await this.thread.write({ kind: 'repair', key, repair }) };
  }

  async list(tenant: string): Promise<readonly string[]> {
    return this.listed.all(tenant);
  }

  async delete(key: SessionKey): Promise<void> {
    await this.thread.write({ kind: 'delete', key });
  }

  async saveSnapshot(key: SessionKey, content: string, savedAt: string): Promise<void> {
    await this.thread.write({ kind: 'save_snapshot', key, content, savedAt });
  }

  async loadSnapshot({ tenant, sessionId }: SessionKey): Promise<StoredSnapshots> {
    const texts = new Map(this.texts.all(tenant, sessionId).map(({ slot, content }) => [slot, content]));
    const marked = this.marked.get(tenant, sessionId) !== undefined;
    return { main: texts.get('main') ?? null, bak: texts.get('bak') ?? null, marked };
  }

  async markSnapshot(key: SessionKey, at: string): Promise<void> {
    await this.thread.write({ kind: 'mark_snapshot', key, at });
  }

  async deleteSnapshot(key: SessionKey): Promise<void> {
    await this.thread.write({ kind: 'delete_snapshot', key });
  }

  async hasSnapshot({ tenant, sessionId }: SessionKey): Promise<boolean> {
    return this.stored.get(tenant, sessionId) !== undefined;
  }

  async close(): Promise<void> {
    await this.thread.close();
    if (this.reader.open) this.reader.close();
  }
}
