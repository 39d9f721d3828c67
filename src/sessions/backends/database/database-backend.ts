import { CountersignError } from '../../../domain/errors/countersign-error.js';
import { rowEncoder } from '../../../domain/session/row-codec.js';
import { sessionIdProblem } from '../../../domain/session/session-id.js';
import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionHeader, SessionRow } from '../../../domain/session/session-row.js';
import type { LogRowText, SessionDatabase } from '../../../storage/session-log/session-database.js';
import type { AppendOptions, PersistenceBackend, StoredLog } from '../persistence-backend.js';
import { assertWholeBatch } from '../whole-batch.js';
import { headerOf } from './stored-header.js';
import { readLog } from './table-scan.js';

/** Rows encoded between two turns of the event loop: well under a millisecond. */
const SLICE_ROWS = 128;

/** Logs as rows of the sessions' database. The torn marker is the first `seq` of the tail that goes. */
export class DatabaseBackend implements PersistenceBackend<number> {
  readonly capabilities = { rawArtifact: false, indexedSuffix: true, atomicRepair: true };
  private isClosed = false;

  /** The database is the caller's, and closed by the caller. */
  constructor(private readonly database: SessionDatabase) {}

  async loadStored(key: SessionKey): Promise<StoredLog<number> | null> {
    this.assertUsable(key);
    const stored = await this.database.session(key);
    if (stored === null) return null;
    const header = headerOf(stored, key);
    const { rows, tornFrom } = await readLog(this.database, key, stored);
    const found = { header, rows, revision: stored.revision, barrierSeq: stored.barrierSeq };
    return tornFrom === null ? found : { ...found, torn: tornFrom };
  }

  async loadStoredFrom(
    key: SessionKey,
    fromSeq: number,
    limit: number,
  ): Promise<{ readonly rows: readonly SessionRow[]; readonly revision: string }> {
    this.assertUsable(key);
    const stored = await this.database.session(key);
    if (stored === null) throw new CountersignError('session_not_found', 'there is no log of this session');
    headerOf(stored, key);
    const { rows } = await readLog(this.database, key, stored, { fromSeq, limit });
    return { rows: rows.slice(0, limit), revision: stored.revision };
  }

  async readStoredRevision(key: SessionKey): Promise<string | null> {
    this.assertUsable(key);
    return (await this.database.session(key))?.revision ?? null;
  }

  async appendBatch(
    key: SessionKey,
    header: SessionHeader,
    rows: readonly SessionRow[],
    { materialized, barrier }: AppendOptions,
  ): Promise<{ readonly revision: string }> {
    this.assertUsable(key);
    assertWholeBatch(rows);
    const { formatVersion, createdAt } = header;
    const texts = await encoded(rows);
    const batch = { header: JSON.stringify(header), formatVersion, createdAt, materialized, barrier, rows: texts };
    return this.database.append(key, batch);
  }

  async commitRepair(
    key: SessionKey,
    torn: number | undefined,
    closers: readonly SessionRow[],
  ): Promise<{ readonly revision: string }> {
    this.assertUsable(key);
    assertWholeBatch(closers);
    return this.database.repair(key, { tornFrom: torn ?? null, closers: await encoded(closers) });
  }

  async list(tenant: string): Promise<readonly string[]> {
    this.assertOpen();
    return [...(await this.database.list(tenant))].sort();
  }

  async delete(key: SessionKey): Promise<void> {
    this.assertUsable(key);
    await this.database.delete(key);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  private assertUsable({ sessionId }: SessionKey): void {
    const problem = sessionIdProblem(sessionId);
    if (problem !== null) throw new CountersignError('invalid_session_id', problem);
    this.assertOpen();
  }

  private assertOpen(): void {
    if (this.isClosed) throw new CountersignError('persistence_closed', 'the session logs are being closed');
  }
}

async function encoded(rows: readonly SessionRow[]): Promise<readonly LogRowText[]> {
  const encodeRow = rowEncoder();
  const texts: LogRowText[] = [];
  for (const row of rows) {
    const eventType = row.kind === 'event' ? row.eventType : row.envelope.eventType;
    texts.push({ seq: row.seq, eventId: row.eventId, eventType, text: encodeRow(row) });
    if (texts.length % SLICE_ROWS === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return texts;
}
