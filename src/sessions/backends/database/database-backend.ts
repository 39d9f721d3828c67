import { nextEncodingTurn } from '../encoding-turns.js';
import { CountersignError } from '../../../domain/errors/countersign-error.js';
import { rowEncoder } from '../../../domain/session/row-codec.js';
import { sessionIdProblem } from '../../../domain/session/session-id.js';
import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionHeader, SessionRow } from '../../../domain/session/session-row.js';
import type { LogRowText, SessionDatabase } from '../../../storage/session-log/session-database.js';
import type { AppendOptions, PersistenceBackend, StoredLog } from '../persistence-backend.js';
import { RowBudget } from '../row-budget.js';
import { assertWholeBatch } from '../whole-batch.js';
import { headerOf } from './stored-header.js';
import { readLog } from './table-scan.js';

/** Rows encoded between two turns of the event loop: well under a millisecond. */
const SLICE_ROWS = 96;
/** Rows of one transaction, about. */
const PART_ROWS = 2_048;
/** Rows of all sessions that are text in memory at once: some megabytes. */
const IN_FLIGHT_ROWS = 8_192;

/** Logs as rows of the sessions' database. The torn marker is the first `seq` of the tail that goes. */
export class DatabaseBackend implements PersistenceBackend<number> {
  readonly capabilities = { rawArtifact: false, indexedSuffix: true, atomicRepair: true };
  private readonly budget = new RowBudget(IN_FLIGHT_ROWS);
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
    const about = { header: JSON.stringify(header), formatVersion, createdAt };
    const parts = partsOf(rows);
    let written: Promise<{ readonly revision: string }> | null = null;
    // The next part is encoded while the one before is written, and no more than these two are in memory as text.
    for (const [at, part] of parts.entries()) {
      await this.budget.take(part.length);
      const texts = await encoded(part);
      if (written !== null) await written.catch((error: unknown) => this.refused(part.length, error));
      const isLast = at === parts.length - 1;
      const batch = { ...about, materialized: materialized || at > 0, barrier: barrier && isLast, rows: texts };
      written = this.database.append(key, batch).finally(() => this.budget.give(part.length));
      // Whoever awaits it is told; until then a failure is nobody's.
      written.catch(() => undefined);
    }
    if (written === null) throw new Error('a batch has at least one part');
    return written;
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

  /** The part before could not be written, so this one is not. */
  private refused(rows: number, error: unknown): never {
    this.budget.give(rows);
    throw error;
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

/** A batch in pieces that end where groups end. A crash between two leaves a whole beginning of it. */
function partsOf(rows: readonly SessionRow[]): readonly (readonly SessionRow[])[] {
  const parts: SessionRow[][] = [[]];
  for (const row of rows) {
    const part = parts.at(-1) ?? [];
    part.push(row);
    const { groupIndex = 0, groupSize = 1 } = row.kind === 'event' ? row : {};
    if (part.length >= PART_ROWS && groupIndex === groupSize - 1 && row !== rows.at(-1)) parts.push([]);
  }
  return parts;
}

async function encoded(rows: readonly SessionRow[]): Promise<readonly LogRowText[]> {
  const encodeRow = rowEncoder();
  const texts: LogRowText[] = [];
  for (const row of rows) {
    const eventType = row.kind === 'event' ? row.eventType : row.envelope.eventType;
    texts.push({ seq: row.seq, eventId: row.eventId, eventType, text: encodeRow(row) });
    if (texts.length % SLICE_ROWS === 0) await nextEncodingTurn();
  }
  return texts;
}
