import type { LineReader } from './line-reader.js';
import type { ReadRequest, TornFile } from './scan-request.js';

/** Bytes between two turns of the event loop: about a millisecond of reading. */
const CHUNK_BYTES = 131_072;
const LINE_FEED = 0x0a;
const HEADER_BEGIN = '{"k":"h"';
const ANY_BEGIN = Buffer.from('{"k":"');

/** Lines of an uncompressed file, split at line feeds and at nothing else. Null: whole to the last byte. */
export function* scanLines(size: number, reader: LineReader): Generator<ReadRequest, TornFile | null, Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  /** Where `rest` begins in the file. */
  let { offset } = reader.place;
  while (offset + rest.length < size) {
    const at = offset + rest.length;
    const chunk = yield { at, length: Math.min(CHUNK_BYTES, size - at) };
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED, rest.length); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      reader.beginAt(offset + start);
      if (!reader.take(bytes, start, end, offset + start)) {
        const isLast = offset + end + 1 === size;
        return badLine(reader, bytes.subarray(start, end), offset + start, isLast);
      }
      start = end + 1;
      if (reader.isDone) return null;
    }
    rest = bytes.subarray(start);
    offset += start;
  }
  return rest.length === 0 ? openGroup(reader, null) : unfinishedLine(reader, rest, offset);
}

/**
 * A line with its end that is not what was written. The last one, with nothing promised behind it, is what a power cut leaves of
 * a page; anything behind it was written later, so this one had been whole.
 */
function badLine(reader: LineReader, line: Buffer, offset: number, isLast: boolean): TornFile | null {
  if (!isLast || reader.header === null || holdsSealed(reader, line)) throw reader.corrupt('a damaged line', offset);
  return openGroup(reader, { offset, recovered: [] });
}

function unfinishedLine(reader: LineReader, line: Buffer, offset: number): TornFile | null {
  if (reader.header === null) {
    const begin = line.toString('latin1', 0, HEADER_BEGIN.length);
    if (HEADER_BEGIN.startsWith(begin)) return null;
    throw reader.corrupt('no header', offset);
  }
  const rowsBefore = reader.rows.length;
  const seqBefore = reader.nextSeq;
  if (reader.take(line, 0, line.length, offset)) {
    // Only the end of the line is missing: what it says counts, and is written once more.
    const recovered = reader.nextSeq > seqBefore ? reader.rows.slice(rowsBefore) : [];
    return openGroup(reader, { offset, recovered });
  }
  if (holdsSealed(reader, line)) throw reader.corrupt('a damaged line', offset);
  return openGroup(reader, { offset, recovered: [] });
}

/** A group whose end is missing was never promised: the file is torn where it begins. */
function openGroup(reader: LineReader, torn: TornFile | null): TornFile | null {
  if (reader.groupOffset === null) return torn;
  reader.dropOpenGroup();
  return { offset: reader.groupOffset, recovered: [] };
}

/** A whole line at the end of a damaged one: the line feed between them is what was damaged. */
function holdsSealed(reader: LineReader, line: Buffer): boolean {
  let at = line.lastIndexOf(ANY_BEGIN);
  while (at > 0) {
    if (reader.isSealed(line, at, line.length)) return true;
    at = line.lastIndexOf(ANY_BEGIN, at - 1);
  }
  return false;
}
