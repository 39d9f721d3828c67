import type { SessionKey } from '../../domain/session/session-key.js';

/** One row of a log as the table has it: what `text` says, with its name and type beside it for those who search. */
export interface LogRowText {
  readonly seq: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly text: string;
}

/** `intact` is false where the row does not have the checksum that it was written with. */
export interface StoredLogRow extends LogRowText {
  readonly intact: boolean;
}

export interface StoredSession {
  /** JSON, as it was given. */
  readonly header: string;
  readonly formatVersion: number;
  /** Changes with every write to the log, and is never one that another log of this key had. */
  readonly revision: string;
  readonly nextSeq: number;
  /** -1: nothing was promised. */
  readonly barrierSeq: number;
  /** False where these columns do not have the checksum they were written with. */
  readonly intact: boolean;
}

export interface LogAppend {
  readonly header: string;
  readonly formatVersion: number;
  readonly createdAt: string;
  /** True: the log must be there already. */
  readonly materialized: boolean;
  readonly barrier: boolean;
  /** Contiguous. Rows that are there already under the same event ids are passed over. */
  readonly rows: readonly LogRowText[];
}

export interface LogRepair {
  /** Rows from here on are removed; null: none are. */
  readonly tornFrom: number | null;
  readonly closers: readonly LogRowText[];
}

export interface StoredSnapshots {
  readonly main: string | null;
  readonly bak: string | null;
  readonly marked: boolean;
}

/**
 * The database of the sessions: rows of logs and texts of snapshots, in a file and a thread of their own so that no conversation ever
 * makes a governed write wait. What resolves is durable. Rejects with `CountersignError` `session_owned_elsewhere` once another process
 * has opened it with a higher epoch, `seq_conflict` for rows that do not begin where the log ends, `session_not_found` for a
 * log that should be there; with a plain `Error` for everything the medium does, and then nobody knows whether the write is durable.
 */
export abstract class SessionDatabase {
  abstract session(key: SessionKey): Promise<StoredSession | null>;
  /** Rows with `seq >= fromSeq` in order, at most `limit` and as many as one read takes; none: there are none. Damaged ones are said to be. */
  abstract rows(key: SessionKey, fromSeq: number, limit: number): Promise<readonly StoredLogRow[]>;
  abstract append(key: SessionKey, batch: LogAppend): Promise<{ readonly revision: string }>;
  /** Removes the tail and appends the closers in one transaction, and promises everything that is then there. */
  abstract repair(key: SessionKey, repair: LogRepair): Promise<{ readonly revision: string }>;
  /** Ids of the tenant's logs, in no order. */
  abstract list(tenant: string): Promise<readonly string[]>;
  abstract delete(key: SessionKey): Promise<void>;

  /** What was the newest becomes the backup, in one transaction; the not-resumable mark goes. */
  abstract saveSnapshot(key: SessionKey, content: string, savedAt: string): Promise<void>;
  abstract loadSnapshot(key: SessionKey): Promise<StoredSnapshots>;
  abstract markSnapshot(key: SessionKey, at: string): Promise<void>;
  /** Both texts and the mark. */
  abstract deleteSnapshot(key: SessionKey): Promise<void>;
  /** Whether a text is stored; a mark alone is none. */
  abstract hasSnapshot(key: SessionKey): Promise<boolean>;

  /** Lets what waits end, then closes the connections and the thread. */
  abstract close(): Promise<void>;
}
