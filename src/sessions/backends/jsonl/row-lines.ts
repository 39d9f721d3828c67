import { rowEncoder } from '../../../domain/session/row-codec.js';
import { SESSION_FORMAT_VERSION } from '../../../domain/session/session-catalogue.js';
import type { SessionHeader, SessionRow } from '../../../domain/session/session-row.js';
import { packedLength, packedText } from './packed-deltas.js';
import { HEADER_SEED, sealedLine } from './sealed-line.js';

export const LOG_CODECS = ['none', 'gzip', 'zstd'] as const;
/** How the frames of a file are compressed. */
export type LogCodec = (typeof LOG_CODECS)[number];

export interface LogLine {
  /** An object, not sealed yet. */
  readonly json: string;
  /** False inside a group: a frame does not end here. */
  readonly mayEnd: boolean;
}

/** `{k: "h", formatVersion, codec, tenant, sessionId, createdAt, parent?}` */
export function headerLine(header: SessionHeader, codec: LogCodec): string {
  const { tenant, sessionId, createdAt, parent } = header;
  if (header.formatVersion !== SESSION_FORMAT_VERSION) throw new Error('a new log has the format of this program');
  const { formatVersion } = header;
  return sealedLine(
    HEADER_SEED,
    JSON.stringify({ k: 'h', formatVersion, codec, tenant, sessionId, createdAt, parent }),
  );
}

/** Rows as lines: consecutive deltas of one message share one. With `barrierSeq`, the row that promises everything up to there. */
export function* rowLines(rows: readonly SessionRow[], barrierSeq: number | null): Generator<LogLine> {
  const encodeRow = rowEncoder();
  let at = 0;
  while (at < rows.length) {
    const length = packedLength(rows, at);
    const row = rows[at] as SessionRow;
    const json = length === 1 ? encodeRow(row) : packedText(rows, at, length);
    const { groupIndex, groupSize } = row.kind === 'event' ? row : NO_GROUP;
    yield { json, mayEnd: groupSize === undefined || groupIndex === groupSize - 1 };
    at += length;
  }
  if (barrierSeq !== null) yield { json: `{"k":"b","upTo":${barrierSeq}}`, mayEnd: true };
}

const NO_GROUP: { readonly groupIndex?: number; readonly groupSize?: number } = {};
