import { CountersignError } from '../../../domain/errors/countersign-error.js';
import { decodeRow } from '../../../domain/session/row-codec.js';
import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionRow } from '../../../domain/session/session-row.js';
import type { SessionDatabase, StoredLogRow, StoredSession } from '../../../storage/session-log/session-database.js';
import { GroupProgress } from '../group-progress.js';

/** More than one read gives at once, so that the database decides how long a read takes. */
const PAGE_ROWS = 2_000;

export interface TableWindow {
  readonly fromSeq: number;
  readonly limit: number;
}

const WHOLE: TableWindow = { fromSeq: 0, limit: Number.POSITIVE_INFINITY };

/**
 * Reads rows in order until one is missing, damaged or in the wrong place. Up to the barrier that is `session_log_corrupt`; behind it
 * the readable rows are the log, and `tornFrom` is where the rest begins.
 */
export async function readLog(
  database: SessionDatabase,
  key: SessionKey,
  stored: StoredSession,
  { fromSeq, limit }: TableWindow = WHOLE,
): Promise<{ readonly rows: readonly SessionRow[]; readonly tornFrom: number | null }> {
  const rows: SessionRow[] = [];
  const groups = new GroupProgress();
  let nextSeq = fromSeq;
  while (rows.length < limit || groups.openFrom !== null) {
    const page = await database.rows(key, nextSeq, PAGE_ROWS);
    if (page.length === 0) break;
    for (const found of page) {
      // A row behind the end, too, is none that was ever answered for.
      const isExpected = found.seq === nextSeq && nextSeq < stored.nextSeq;
      const row = isExpected ? understood(found) : null;
      if (row === null || !follows(groups, row, fromSeq)) return ended(stored, rows, groups.openFrom ?? nextSeq);
      rows.push(row);
      nextSeq += 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  const isWhole = groups.openFrom === null && (rows.length >= limit || nextSeq >= stored.nextSeq);
  return isWhole ? { rows, tornFrom: null } : ended(stored, rows, groups.openFrom ?? nextSeq);
}

/** A suffix may begin inside a group. */
function follows(groups: GroupProgress, row: SessionRow, fromSeq: number): boolean {
  const isInside = row.kind === 'event' && row.groupId !== undefined && row.seq - (row.groupIndex ?? 0) < fromSeq;
  return isInside || groups.take(row);
}

function ended(
  stored: StoredSession,
  rows: readonly SessionRow[],
  tornFrom: number,
): { readonly rows: readonly SessionRow[]; readonly tornFrom: number } {
  if (tornFrom <= stored.barrierSeq) {
    throw new CountersignError('session_log_corrupt', `the log cannot be read at row ${tornFrom}, which was promised`);
  }
  return { rows: rows.filter(({ seq }) => seq < tornFrom), tornFrom };
}

/** Null: not what was written. */
function understood({ seq, eventId, eventType, text, intact }: StoredLogRow): SessionRow | null {
  if (!intact) return null;
  const decoded = decodeRow(text);
  if (!decoded.ok) {
    if (decoded.problem === 'malformed') return null;
    throw new CountersignError('session_format_unsupported', 'the log has a kind of row this program does not know');
  }
  const { row } = decoded;
  const type = row.kind === 'event' ? row.eventType : row.envelope.eventType;
  return row.seq === seq && row.eventId === eventId && type === eventType ? row : null;
}
