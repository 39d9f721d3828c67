import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionHeader, SessionRow } from '../../../domain/session/session-row.js';
import { scanFrames } from './frame-scan.js';
import { framesIn, framesOf } from './file-frames.js';
import { LineReader, WHOLE_LOG, type ScanPlace, type ScanStart, type ScanWindow } from './line-reader.js';
import { scanLines } from './line-scan.js';
import type { ReadRequest, TornFile } from './scan-request.js';
import type { LogCodec } from './row-lines.js';

export interface ScannedLog {
  readonly header: SessionHeader;
  readonly codec: LogCodec;
  readonly rows: readonly SessionRow[];
  readonly nextSeq: number;
  readonly barrierSeq: number;
  /** Where the last barrier ends in the file; 0: there is none. */
  readonly barrierEnd: number;
  /** The last place where a scan of a suffix may begin. */
  readonly place: ScanPlace;
  readonly torn?: TornFile;
  /** The lines, where they were asked for. */
  readonly texts: readonly string[];
}

const MAGIC_BYTES = 4;

/**
 * Reads a log of `size` bytes without knowing where they come from: whoever runs it gives the bytes it asks for. Null: what is there
 * is the beginning of a header and nothing else, so nothing was ever promised. Throws the refusals of `PersistenceBackend`.
 */
export function* scanLog(
  size: number,
  key: SessionKey,
  window: ScanWindow = WHOLE_LOG,
  start?: ScanStart,
): Generator<ReadRequest, ScannedLog | null, Buffer> {
  const reader = new LineReader(key, window, start);
  const magic = yield { at: 0, length: Math.min(size, MAGIC_BYTES) };
  const frames = framesIn(magic);
  const torn = frames === null ? yield* scanLines(size, reader) : yield* scanFrames(size, reader, frames);
  if (reader.header === null) return null;
  if (framesOf(reader.codec) !== frames) throw reader.corrupt('another codec than the header says', 0);
  const { header, codec, rows, nextSeq, barrierSeq, barrierEnd, place, texts } = reader;
  const found = { header, codec, rows, nextSeq, barrierSeq, barrierEnd, place, texts };
  return torn === null ? found : { ...found, torn };
}

/** Runs a scan over bytes that are all there. */
export function scanBytes(bytes: Buffer, key: SessionKey, window?: ScanWindow): ScannedLog | null {
  const scan = scanLog(bytes.length, key, window);
  let step = scan.next(Buffer.alloc(0));
  while (step.done !== true) step = scan.next(bytes.subarray(step.value.at, step.value.at + step.value.length));
  return step.value;
}
