import { crc32 } from './crc32.js';

/** The files of a bundle by name. */
export type BundleParts = ReadonlyMap<string, Uint8Array>;

/** Lower-case ASCII, so that byte order, case and encoding of names cannot be understood in two ways. */
const NAME = /^[a-z0-9][a-z0-9._-]*(?:\/[a-z0-9][a-z0-9._-]*)*$/;
const PARTS_MAX = 0xffff - 1;
const BYTES_MAX = 0xffffffff;

/** 1980-01-01, the first date that zip can say, at midnight. */
const DATE = 0x0021;
const VERSION = 20;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;

const ASCII = new TextEncoder();

/**
 * The one zip that holds these parts: names sorted, stored (no compression), fixed dates, no extra fields, no comments, no zip64. Equal
 * parts are equal bytes, so a verifier can build it again and compare. In pieces, for whoever streams. Throws a plain `Error` for a
 * name that is not lower-case ASCII, for too many parts, and beyond 4 GiB.
 */
export function* containerPieces(parts: BundleParts): Generator<Uint8Array> {
  const names = [...parts.keys()].sort();
  if (names.some((name) => !NAME.test(name)) || names.length > PARTS_MAX) throw new Error('not the parts of a bundle');
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const name of names) {
    const content = parts.get(name) as Uint8Array;
    const fields = fileFields(content);
    const encoded = ASCII.encode(name);
    directory.push(centralHeader(fields, encoded, offset));
    yield localHeader(fields, encoded);
    yield content;
    offset += LOCAL_BYTES + encoded.length + content.length;
    if (offset > BYTES_MAX) throw new Error('a bundle has at most 4 GiB');
  }
  yield* directory;
  yield endRecord(directory, offset);
}

export function writeContainer(parts: BundleParts): Uint8Array {
  return new Uint8Array(Buffer.concat([...containerPieces(parts)]));
}

export type ReadContainer =
  /** `differsAt`: the first byte that is not that of the canonical container of these parts; null when it is canonical. */
  | { readonly ok: true; readonly parts: BundleParts; readonly differsAt: number | null }
  | { readonly ok: false; readonly problem: string };

/** The parts by the central directory, and whether the bytes are exactly those that `writeContainer` makes of them. */
export function readContainer(bytes: Uint8Array): ReadContainer {
  const parts = readParts(bytes);
  if (typeof parts === 'string') return { ok: false, problem: parts };
  return { ok: true, parts, differsAt: firstDifference(bytes, parts) };
}

function readParts(bytes: Uint8Array): Map<string, Uint8Array> | string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = bytes.length - END_BYTES;
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) return 'no end of a zip where it must be';
  const parts = new Map<string, Uint8Array>();
  let at = view.getUint32(end + 16, true);
  const count = view.getUint16(end + 10, true);
  if (count > PARTS_MAX) return 'too many parts';
  let total = 0;
  for (let left = count; left > 0; left -= 1) {
    if (at + CENTRAL_BYTES > end) return 'the directory is cut';
    const nameLength = view.getUint16(at + 28, true);
    const name = Buffer.from(bytes.subarray(at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameLength)).toString('latin1');
    const start = view.getUint32(at + 42, true) + LOCAL_BYTES + nameLength;
    const length = view.getUint32(at + 24, true);
    if (!NAME.test(name)) return 'a name that no part has';
    if (parts.has(name)) return `the part ${name} twice`;
    if (start + length > end) return `the part ${name} is cut`;
    total += length;
    if (total > end) return 'parts that overlap';
    parts.set(name, bytes.subarray(start, start + length));
    at += CENTRAL_BYTES + nameLength;
  }
  return parts;
}

function firstDifference(bytes: Uint8Array, parts: BundleParts): number | null {
  let at = 0;
  for (const piece of containerPieces(parts)) {
    const found =
      Buffer.compare(bytes.subarray(at, at + piece.length), piece) === 0 ? -1 : differenceIn(bytes, piece, at);
    if (found !== -1) return found;
    at += piece.length;
  }
  return at === bytes.length ? null : at;
}

function differenceIn(bytes: Uint8Array, piece: Uint8Array, at: number): number {
  return at + piece.findIndex((byte, index) => byte !== bytes[at + index]);
}

interface FileFields {
  readonly crc: number;
  readonly length: number;
}

function fileFields(content: Uint8Array): FileFields {
  if (content.length > BYTES_MAX) throw new Error('a bundle has at most 4 GiB');
  return { crc: crc32(content), length: content.length };
}

/** Little-endian numbers of two and four bytes, one behind the other, and a name at the end. */
function record(
  fields: readonly (readonly [bytes: 2 | 4, value: number])[],
  name: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, name.length));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  bytes.set(name, at);
  return bytes;
}

type Fields = readonly (readonly [2 | 4, number])[];

/** Version, flags, method (stored), time, date, crc, sizes, name length, extra length. */
function stored({ crc, length }: FileFields, name: Uint8Array): Fields {
  return [
    [2, VERSION],
    [2, 0],
    [2, 0],
    [2, 0],
    [2, DATE],
    [4, crc],
    [4, length],
    [4, length],
    [2, name.length],
    [2, 0],
  ];
}

function localHeader(fields: FileFields, name: Uint8Array): Uint8Array {
  return record([[4, 0x04034b50], ...stored(fields, name)], name);
}

function centralHeader(fields: FileFields, name: Uint8Array, offset: number): Uint8Array {
  // Comment length, disk, internal and external attributes, offset of the local header.
  const more: Fields = [
    [2, 0],
    [2, 0],
    [2, 0],
    [4, 0],
    [4, offset],
  ];
  return record([[4, 0x02014b50], [2, VERSION], ...stored(fields, name), ...more], name);
}

function endRecord(directory: readonly Uint8Array[], offset: number): Uint8Array {
  const bytes = directory.reduce((sum, { length }) => sum + length, 0);
  const count = directory.length;
  return record([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, bytes],
    [4, offset],
    [2, 0],
  ]);
}
