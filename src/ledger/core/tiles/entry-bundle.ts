/** C2SP tlog-tiles: a bundle of entries is each entry behind its length in two bytes, big-endian. */
const ENTRY_BYTES_MAX = 0xffff;
const LENGTH_BYTES = 2;

/** Throws a plain `Error` for an entry over 65,535 bytes: the format has no way to write it. */
export function entryBundle(entries: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0));
  let at = 0;
  for (const entry of entries) {
    if (entry.length > ENTRY_BYTES_MAX) throw new Error(`an entry of a bundle has at most ${ENTRY_BYTES_MAX} bytes`);
    bytes[at] = entry.length >> 8;
    bytes[at + 1] = entry.length & 0xff;
    bytes.set(entry, at + LENGTH_BYTES);
    at += LENGTH_BYTES + entry.length;
  }
  return bytes;
}

/** Null unless the bytes are whole entries and nothing else. */
export function readEntryBundle(bytes: Uint8Array): Uint8Array[] | null {
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    const [high, low] = [bytes[at], bytes[at + 1]];
    if (high === undefined || low === undefined) return null;
    const end = at + LENGTH_BYTES + high * 256 + low;
    if (end > bytes.length) return null;
    entries.push(bytes.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return entries;
}
