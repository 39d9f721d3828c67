import { CountersignError } from '../../src/domain/errors/countersign-error.js';
import { sessionIdProblem } from '../../src/domain/session/session-id.js';
import type { SessionKey } from '../../src/domain/session/session-key.js';
import type { SessionHeader, SessionRow } from '../../src/domain/session/session-row.js';
import type { AppendOptions, PersistenceBackend, StoredLog } from '../../src/sessions/backends/persistence-backend.js';
import { assertWholeBatch, rowsAfter } from '../../src/sessions/backends/whole-batch.js';

interface MemoryLog {
  readonly header: SessionHeader;
  rows: SessionRow[];
  revision: number;
  barrierSeq: number;
  /** Where an artificial hole begins; null: none. */
  holeFrom: number | null;
}

export type AppendFailure = 'before' | 'after';

/** The contract of log backends without a medium: what a failing one does is said by the test. */
export class MemoryLogBackend implements PersistenceBackend<number> {
  readonly capabilities = { rawArtifact: false, indexedSuffix: true, atomicRepair: true };
  /** Every call that has reached the medium, in order. */
  readonly calls: string[] = [];
  private readonly logs = new Map<string, MemoryLog>();
  private readonly failures = new Map<number, AppendFailure>();
  private appends = 0;
  private revisions = 0;
  private isClosed = false;

  /** The n-th append from now on, from 1, rejects: `before` anything is stored, or `after` everything is. */
  failAppend(nth: number, when: AppendFailure = 'before'): void {
    this.failures.set(this.appends + nth, when);
  }

  /** Makes the rows from `seq` on unreadable. */
  tear(key: SessionKey, seq: number): void {
    const log = this.found(key);
    if (log === undefined || seq <= log.barrierSeq) throw new Error('what was promised is not torn');
    log.holeFrom = seq;
  }

  /** As if another process had written. */
  touch(key: SessionKey): void {
    const log = this.found(key);
    if (log !== undefined) log.revision = this.nextRevision();
  }

  async loadStored(key: SessionKey): Promise<StoredLog<number> | null> {
    this.enter('loadStored', key);
    const log = this.found(key);
    if (log === undefined) return null;
    const rows = log.holeFrom === null ? [...log.rows] : log.rows.slice(0, log.holeFrom);
    const stored = { header: log.header, rows, revision: String(log.revision), barrierSeq: log.barrierSeq };
    return log.holeFrom === null ? stored : { ...stored, torn: log.holeFrom };
  }

  async loadStoredFrom(
    key: SessionKey,
    fromSeq: number,
    limit: number,
  ): Promise<{ readonly rows: readonly SessionRow[]; readonly revision: string }> {
    this.enter('loadStoredFrom', key);
    const log = this.found(key);
    if (log === undefined) throw new CountersignError('session_not_found', 'there is no log of this session');
    return {
      rows: log.rows.slice(fromSeq, Math.min(fromSeq + limit, log.rows.length)),
      revision: String(log.revision),
    };
  }

  async readStoredRevision(key: SessionKey): Promise<string | null> {
    this.enter('readStoredRevision', key);
    const log = this.found(key);
    return log === undefined ? null : String(log.revision);
  }

  async appendBatch(
    key: SessionKey,
    header: SessionHeader,
    rows: readonly SessionRow[],
    { materialized, barrier }: AppendOptions,
  ): Promise<{ readonly revision: string }> {
    this.enter('appendBatch', key);
    assertWholeBatch(rows);
    this.appends += 1;
    const failure = this.failures.get(this.appends);
    if (failure === 'before') throw new Error('the medium has failed');
    const known = this.found(key);
    if (known === undefined && materialized) throw new Error('the log of the session is gone');
    if (known === undefined && rows.length === 0) return { revision: '' };
    const log: MemoryLog = known ?? { header, rows: [], revision: 0, barrierSeq: -1, holeFrom: null };
    const fresh = rowsAfter(log.rows.length, rows, log.rows.slice(rows[0]?.seq ?? 0));
    const barrierSeq = barrier ? log.rows.length + fresh.length - 1 : log.barrierSeq;
    if (fresh.length > 0 || barrierSeq !== log.barrierSeq) log.revision = this.nextRevision();
    log.rows.push(...fresh);
    log.barrierSeq = barrierSeq;
    this.logs.set(nameOf(key), log);
    if (failure === 'after') throw new Error('the answer of the medium is lost');
    return { revision: String(log.revision) };
  }

  async commitRepair(
    key: SessionKey,
    torn: number | undefined,
    closers: readonly SessionRow[],
  ): Promise<{ readonly revision: string }> {
    this.enter('commitRepair', key);
    assertWholeBatch(closers);
    const log = this.found(key);
    if (log === undefined) throw new CountersignError('session_not_found', 'there is no log to repair');
    if (log.holeFrom !== null && log.holeFrom !== torn) {
      throw new CountersignError('revision_stale', 'the log has changed since it was read');
    }
    const kept = log.holeFrom === null ? log.rows : log.rows.slice(0, log.holeFrom);
    const fresh = rowsAfter(kept.length, closers, kept.slice(closers[0]?.seq ?? 0));
    log.rows = [...kept, ...fresh];
    log.holeFrom = null;
    log.barrierSeq = log.rows.length - 1;
    log.revision = this.nextRevision();
    return { revision: String(log.revision) };
  }

  async list(tenant: string): Promise<readonly string[]> {
    this.assertOpen();
    const keys = [...this.logs.keys()].map((name) => JSON.parse(name) as [string, string]);
    return keys
      .filter(([of]) => of === tenant)
      .map(([, id]) => id)
      .sort();
  }

  async delete(key: SessionKey): Promise<void> {
    this.enter('delete', key);
    this.logs.delete(nameOf(key));
  }

  async close(): Promise<void> {
    this.calls.push('close');
    this.isClosed = true;
  }

  private enter(call: string, { sessionId }: SessionKey): void {
    const problem = sessionIdProblem(sessionId);
    if (problem !== null) throw new CountersignError('invalid_session_id', problem);
    this.assertOpen();
    this.calls.push(call);
  }

  private assertOpen(): void {
    if (this.isClosed) throw new CountersignError('persistence_closed', 'the session logs are being closed');
  }

  private found(key: SessionKey): MemoryLog | undefined {
    return this.logs.get(nameOf(key));
  }

  private nextRevision(): number {
    this.revisions += 1;
    return this.revisions;
  }
}

const nameOf = ({ tenant, sessionId }: SessionKey): string => JSON.stringify([tenant, sessionId]);
