import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { SessionRow } from '../../domain/session/session-row.js';

/** Throws `seq_conflict` for rows with a gap. A group that is not whole breaks the contract of the caller: a plain `Error`. */
export function assertWholeBatch(rows: readonly SessionRow[]): void {
  const first = rows[0]?.seq ?? 0;
  let left = 0;
  for (const [index, row] of rows.entries()) {
    if (row.seq !== first + index)
      throw new CountersignError('seq_conflict', `the batch has a gap at ${first + index}`);
    const { groupIndex, groupSize } = row.kind === 'event' ? row : NO_GROUP;
    const mayFollow = left === 0 ? (groupIndex ?? 0) === 0 : groupIndex === (groupSize ?? 0) - left;
    if (!mayFollow) throw new Error('a batch holds whole groups');
    left = groupSize === undefined ? 0 : groupSize - (groupIndex ?? 0) - 1;
  }
  if (left > 0) throw new Error('a batch holds whole groups');
}

const NO_GROUP: { readonly groupIndex?: number; readonly groupSize?: number } = {};

/**
 * The rows of a batch that are not stored yet. `stored` gives the event ids from the first `seq` of the batch on: a batch whose first
 * answer was lost finds itself there and is not written twice. Throws `seq_conflict` where something else is stored.
 */
export function rowsAfter(
  nextSeq: number,
  rows: readonly SessionRow[],
  stored: readonly Pick<SessionRow, 'seq' | 'eventId'>[],
): readonly SessionRow[] {
  const first = rows[0]?.seq ?? nextSeq;
  if (first > nextSeq) {
    throw new CountersignError('seq_conflict', `the log ends before ${nextSeq}, the batch begins at ${first}`);
  }
  const overlap = Math.min(nextSeq - first, rows.length);
  for (let at = 0; at < overlap; at += 1) {
    if (stored[at]?.eventId === rows[at]?.eventId && stored[at]?.seq === first + at) continue;
    throw new CountersignError('seq_conflict', `another event is stored at ${first + at}`);
  }
  return rows.slice(overlap);
}
