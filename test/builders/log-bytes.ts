import type { SessionKey } from '../../src/domain/session/session-key.js';
import type { SessionRow } from '../../src/domain/session/session-row.js';
import { framed, logPieces } from '../../src/sessions/backends/jsonl/log-pieces.js';
import { headerLine, rowLines, type LogCodec } from '../../src/sessions/backends/jsonl/row-lines.js';
import { lineSeed } from '../../src/sessions/backends/jsonl/sealed-line.js';
import { sessionHeader } from './session-rows.js';

export interface Batch {
  readonly rows: readonly SessionRow[];
  readonly barrier: boolean;
}

/** The file that a backend makes of these batches; `ends` is where each of them ends, the header first. */
export async function logBytes(
  key: SessionKey,
  batches: readonly Batch[],
  codec: LogCodec = 'none',
): Promise<{ readonly bytes: Buffer; readonly ends: readonly number[] }> {
  const pieces = [await framed(Buffer.from(headerLine(sessionHeader(key), codec)), codec)];
  const sizeNow = (): number => pieces.reduce((sum, piece) => sum + piece.length, 0);
  const ends = [sizeNow()];
  for (const { rows, barrier } of batches) {
    const upTo = barrier ? (rows.at(-1)?.seq ?? -1) : null;
    for await (const piece of logPieces(rowLines(rows, upTo), lineSeed(key), codec)) pieces.push(piece);
    ends.push(sizeNow());
  }
  return { bytes: Buffer.concat(pieces), ends };
}
