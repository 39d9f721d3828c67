import { constants, crc32, deflateRaw, inflateRawSync } from 'node:zlib';

/**
 * One gzip member (RFC 1952) whose extra field says how long it is, with a checksum of that: whether a frame is unfinished or damaged
 * is then known before anything of it is believed. `zcat` reads a file of such members.
 *
 * 0: 1f 8b 08 04, time 0, flags 0, system 255; 10: length of the extra field, 16; 12: "Cs", 12; 16: bytes of the member; 20: CRC-32
 * of the deflated bytes; 24: CRC-32 of all that is before it; 28: deflated bytes; then CRC-32 and length of the text.
 */
export const FRAME_HEAD_BYTES = 28;
const TRAILER_BYTES = 8;
const LENGTH_AT = 16;
const BODY_SUM_AT = 20;
const HEAD_SUM_AT = 24;
const HEAD = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 16, 0, 0x43, 0x73, 12, 0]);

/** Compresses on a thread of the runtime. */
export async function gzipFrame(text: Buffer): Promise<Buffer> {
  const deflated = await new Promise<Buffer>((resolve, reject) => {
    deflateRaw(text, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
  });
  const frame = Buffer.alloc(FRAME_HEAD_BYTES + deflated.length + TRAILER_BYTES);
  HEAD.copy(frame);
  frame.writeUInt32LE(frame.length, LENGTH_AT);
  frame.writeUInt32LE(crc32(deflated), BODY_SUM_AT);
  frame.writeUInt32LE(crc32(frame.subarray(0, HEAD_SUM_AT)), HEAD_SUM_AT);
  deflated.copy(frame, FRAME_HEAD_BYTES);
  frame.writeUInt32LE(crc32(text), frame.length - TRAILER_BYTES);
  frame.writeUInt32LE(text.length % 2 ** 32, frame.length - TRAILER_BYTES / 2);
  return frame;
}

/** Whether a file of such frames may begin like this. */
export const isFrameMagic = (bytes: Buffer): boolean => bytes.length >= 2 && bytes.readUInt16BE(0) === 0x1f8b;

/** Whether so few bytes may be the beginning of a head. */
export const mayBeginFrame = (part: Buffer): boolean =>
  part.subarray(0, LENGTH_AT).equals(HEAD.subarray(0, part.length));

/** Bytes of the frame that begins here; null when its head is damaged. `head` has `FRAME_HEAD_BYTES`. */
export function frameLength(head: Buffer): number | null {
  if (!head.subarray(0, LENGTH_AT).equals(HEAD)) return null;
  if (head.readUInt32LE(HEAD_SUM_AT) !== crc32(head.subarray(0, HEAD_SUM_AT))) return null;
  const length = head.readUInt32LE(LENGTH_AT);
  return length >= FRAME_HEAD_BYTES + TRAILER_BYTES ? length : null;
}

/** The text of a whole frame; null when it is damaged. */
export function frameText(frame: Buffer): Buffer | null {
  const deflated = frame.subarray(FRAME_HEAD_BYTES, frame.length - TRAILER_BYTES);
  if (crc32(deflated) !== frame.readUInt32LE(BODY_SUM_AT)) return null;
  const text = inflated(deflated, constants.Z_FINISH);
  if (text === null || text.length % 2 ** 32 !== frame.readUInt32LE(frame.length - TRAILER_BYTES / 2)) return null;
  return crc32(text) === frame.readUInt32LE(frame.length - TRAILER_BYTES) ? text : null;
}

/** As much of the text as the bytes of an unfinished frame give. */
export function salvagedText(part: Buffer): Buffer {
  return inflated(part.subarray(FRAME_HEAD_BYTES), constants.Z_SYNC_FLUSH) ?? Buffer.alloc(0);
}

function inflated(deflated: Buffer, finishFlush: number): Buffer | null {
  try {
    return inflateRawSync(deflated, { finishFlush });
  } catch {
    return null;
  }
}
