import type { Database } from 'better-sqlite3';
import type { ErrorCode } from '../../domain/errors/error-codes.js';
import type { SessionKey } from '../../domain/session/session-key.js';
import { isFatal, isUniqueConflict } from '../sqlite/write-failure.js';
import { checksumSeed, rowChecksum, sessionChecksum } from './log-checksum.js';
import type { LogAppend, LogRepair, LogRowText } from './session-database.js';
import type { SessionWrite, SessionWriteResult } from './session-log-messages.js';
import type { SessionTableRow } from './session-log-tables.js';
import { SessionLogStatements } from './session-log-statements.js';
import { writeSnapshot } from './snapshot-writes.js';

/** Ends the savepoint of the write and nothing else. */
class Refused extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** Applies what waits in one transaction, each write in a savepoint of its own: one sync for all sessions. */
export class SessionLogWriter {
  private readonly statements: SessionLogStatements;

  /** From here on this process owns the database, unless a later one does: then nothing is ever written. */
  constructor(
    private readonly database: Database,
    private readonly instanceEpoch: number,
  ) {
    this.statements = new SessionLogStatements(database);
    this.statements.own.run(instanceEpoch);
  }

  /** Throws what the medium threw when the transaction is lost: nothing of it is then known to be durable. */
  apply(writes: readonly SessionWrite[]): readonly SessionWriteResult[] {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const results = this.isOwner() ? writes.map((write) => this.one(write)) : writes.map(() => OWNED_ELSEWHERE);
      this.database.exec('COMMIT');
      return results;
    } catch (error) {
      if (this.database.inTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }

  private isOwner(): boolean {
    return this.statements.owner.get() === this.instanceEpoch;
  }

  private one(write: SessionWrite): SessionWriteResult {
    this.database.exec('SAVEPOINT one');
    try {
      const revision = this.change(write);
      this.database.exec('RELEASE one');
      return { outcome: 'written', revision };
    } catch (error) {
      if (isFatal(error)) throw error;
      this.database.exec('ROLLBACK TO one');
      this.database.exec('RELEASE one');
      return refusal(error);
    }
  }

  private change(write: SessionWrite): string {
    switch (write.kind) {
      case 'append':
        return this.append(write.key, write.batch);
      case 'repair':
        return this.repair(write.key, write.repair);
      case 'delete':
        return this.remove(write.key);
      case 'save_snapshot':
      case 'mark_snapshot':
      case 'delete_snapshot':
        writeSnapshot(this.statements, write);
        return '';
    }
  }

  private append(key: SessionKey, batch: LogAppend): string {
    const seed = checksumSeed(key);
    const found = this.find(key);
    if (found === undefined && batch.materialized) throw new Refused('session_not_found', 'the log is gone');
    if (found === undefined && batch.rows.length === 0) return '';
    const stored = found ?? this.create(key, batch);
    this.assertWhole(seed, found);
    const fresh = this.freshRows(stored, batch.rows);
    for (const row of fresh) this.insert(stored.session, seed, row);
    const nextSeq = stored.next_seq + fresh.length;
    const barrierSeq = batch.barrier ? nextSeq - 1 : stored.barrier_seq;
    if (found !== undefined && nextSeq === stored.next_seq && barrierSeq === stored.barrier_seq) {
      return revisionOf(stored);
    }
    return this.moved(seed, { ...stored, next_seq: nextSeq, barrier_seq: barrierSeq });
  }

  private repair(key: SessionKey, { tornFrom, closers }: LogRepair): string {
    const seed = checksumSeed(key);
    const stored = this.find(key);
    if (stored === undefined) throw new Refused('session_not_found', 'there is no log to repair');
    this.assertWhole(seed, stored);
    const isTorn = tornFrom !== null && tornFrom <= stored.next_seq && !this.isRepaired(stored, closers);
    if (isTorn && tornFrom <= stored.barrier_seq) {
      throw new Refused('session_log_corrupt', `row ${tornFrom} was promised and is not cut away`);
    }
    const nextSeq = isTorn ? tornFrom : stored.next_seq;
    if (isTorn) this.statements.cut.run(stored.session, tornFrom);
    const fresh = this.freshRows({ ...stored, next_seq: nextSeq }, closers);
    for (const row of fresh) this.insert(stored.session, seed, row);
    const end = nextSeq + fresh.length;
    return this.moved(seed, { ...stored, next_seq: end, barrier_seq: end - 1 });
  }

  /** Whether the closers are there: the repair was made before, and its answer was lost. */
  private isRepaired(stored: SessionTableRow, closers: readonly LogRowText[]): boolean {
    const last = closers.at(-1);
    return last !== undefined && this.statements.eventIdAt.get(stored.session, last.seq) === last.eventId;
  }

  private remove(key: SessionKey): string {
    const stored = this.find(key);
    if (stored === undefined) return '';
    this.statements.cut.run(stored.session, 0);
    this.statements.removeSession.run(stored.session);
    return '';
  }

  private find({ tenant, sessionId }: SessionKey): SessionTableRow | undefined {
    return this.statements.find.get(tenant, sessionId);
  }

  private create({ tenant, sessionId }: SessionKey, batch: LogAppend): SessionTableRow {
    const { header, formatVersion, createdAt } = batch;
    const result = this.statements.insertSession.run(tenant, sessionId, header, formatVersion, createdAt);
    const first = { header, format_version: formatVersion, revision: 0, next_seq: 0, barrier_seq: -1 };
    return { session: Number(result.lastInsertRowid), ...first, created_at: createdAt, crc: 0 };
  }

  private assertWhole(seed: number, stored: SessionTableRow | undefined): void {
    if (stored === undefined || sessionChecksum(seed, stored) === stored.crc) return;
    throw new Refused('session_log_corrupt', 'what the table says of the end of the log is damaged');
  }

  /** The rows that are not there yet. A batch whose first answer was lost finds its own rows by their event ids. */
  private freshRows({ session, next_seq }: SessionTableRow, rows: readonly LogRowText[]): readonly LogRowText[] {
    const first = rows[0]?.seq ?? next_seq;
    if (first > next_seq || rows.some(({ seq }, index) => seq !== first + index)) {
      throw new Refused('seq_conflict', `the log ends before ${next_seq}; the batch does not go on from there`);
    }
    for (const { seq, eventId } of rows) {
      if (seq < next_seq && this.statements.eventIdAt.get(session, seq) !== eventId) {
        throw new Refused('seq_conflict', `another event is stored at ${seq}`);
      }
    }
    return rows.slice(Math.max(0, next_seq - first));
  }

  private insert(session: number, seed: number, { seq, eventId, eventType, text }: LogRowText): void {
    this.statements.insertRow.run(session, seq, eventId, eventType, text, rowChecksum(seed, text));
  }

  private moved(seed: number, before: SessionTableRow): string {
    const row = { ...before, revision: before.revision + 1 };
    const { session, revision, next_seq, barrier_seq } = row;
    this.statements.move.run(revision, next_seq, barrier_seq, this.instanceEpoch, sessionChecksum(seed, row), session);
    return revisionOf(row);
  }
}

export const revisionOf = ({ session, revision }: { readonly session: number; readonly revision: number }): string =>
  `${session}.${revision}`;

const OWNED_ELSEWHERE: SessionWriteResult = {
  outcome: 'refused',
  code: 'session_owned_elsewhere',
  message: 'another process has taken over the sessions of this data directory',
};

function refusal(error: unknown): SessionWriteResult {
  if (error instanceof Refused) return { outcome: 'refused', code: error.code, message: error.message };
  if (!isUniqueConflict(error)) throw error;
  return { outcome: 'refused', code: 'seq_conflict', message: 'a row of the batch is stored elsewhere in the log' };
}
