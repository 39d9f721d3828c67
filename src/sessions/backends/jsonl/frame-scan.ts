import type { FrameCodec } from './frame-codec.js';
import type { LineReader } from './line-reader.js';
import type { ReadRequest, TornFile } from './scan-request.js';

const LINE_FEED = 0x0a;

/**
 * Frames of a compressed file. Only one that the file ends within is repairable; its whole lines are kept, its beginning is where the
 * file is cut. A whole frame with anything wrong in it is damage, wherever it lies. Null: whole to the last byte.
 */
export function* scanFrames(
  size: number,
  reader: LineReader,
  frames: FrameCodec,
): Generator<ReadRequest, TornFile | null, Buffer> {
  let { offset } = reader.place;
  while (offset < size && !reader.isDone) {
    reader.beginAt(offset);
    const head = yield { at: offset, length: Math.min(frames.headBytes, size - offset) };
    if (head.length < frames.headBytes) {
      if (!frames.mayBegin(head)) throw reader.corrupt('what begins no frame', offset);
      return { offset, recovered: [] };
    }
    const length = frames.length(head);
    if (length === null) {
      const rest = yield { at: offset, length: size - offset };
      // A length that was made durable before its bytes were.
      if (reader.header !== null && rest.every((byte) => byte === 0)) return { offset, recovered: [] };
      throw reader.corrupt('a frame with a damaged head', offset);
    }
    const frame = yield { at: offset, length: Math.min(length, size - offset) };
    if (frame.length < length) return unfinishedFrame(reader, frames.salvaged(frame), offset);
    takeFrame(reader, frames.text(frame), offset, offset + length);
    offset += length;
  }
  return null;
}

function takeFrame(reader: LineReader, text: Buffer | null, offset: number, end: number): void {
  if (text === null) throw reader.corrupt('a damaged frame', offset);
  const barrierBefore = reader.barrierSeq;
  const hadBarrier = reader.barrierEnd;
  const taken = takeLines(reader, text, offset);
  if (taken < text.length || reader.groupOffset !== null)
    throw reader.corrupt('half a record in a whole frame', offset);
  if (reader.barrierSeq !== barrierBefore || reader.barrierEnd !== hadBarrier) reader.barrierEnd = end;
}

function unfinishedFrame(reader: LineReader, text: Buffer, offset: number): TornFile {
  // The header has a frame of its own: without it there is no log yet, and nothing to keep.
  if (reader.header === null) return { offset, recovered: [] };
  const before = reader.rows.length;
  takeLines(reader, text, offset);
  reader.dropOpenGroup();
  return { offset, recovered: reader.rows.slice(before) };
}

/** Takes whole lines as far as they are what was written; answers how many bytes those were. */
function takeLines(reader: LineReader, text: Buffer, offset: number): number {
  let start = 0;
  for (let end = text.indexOf(LINE_FEED); end !== -1; end = text.indexOf(LINE_FEED, start)) {
    if (!reader.take(text, start, end, offset)) return start;
    start = end + 1;
  }
  return start;
}
