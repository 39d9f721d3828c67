import { crc32 } from 'node:zlib';

/** A way to compress the text of a frame. A body is what lies behind the head of a frame. */
export interface Compression {
  /** What every frame begins with, in the words of the format; three numbers of four bytes follow. */
  readonly opening: Buffer;
  /** Compresses on a thread of the runtime. */
  compress(text: Buffer): Promise<Buffer>;
  /** Null or an exception: the body is damaged. */
  decompress(body: Buffer): Buffer | null;
  /** As much of the text as the beginning of a body gives; an exception: nothing. */
  salvage(part: Buffer): Buffer;
}

const NUMBER_BYTES = 4;
const NUMBERS = 3;

/**
 * Frames of a log: a head that says how long the frame is, with checksums of the body and of the head itself, then the compressed
 * text. Whether a frame is unfinished or damaged is known before anything of it is believed. Usual tools pass over the head.
 *
 * opening; bytes of the frame; CRC-32 of the body; CRC-32 of all that is before it; body. Numbers are little-endian.
 */
export class FrameCodec {
  readonly headBytes: number;
  private readonly lengthAt: number;
  private readonly bodySumAt: number;
  private readonly headSumAt: number;

  constructor(private readonly compression: Compression) {
    this.lengthAt = compression.opening.length;
    this.bodySumAt = this.lengthAt + NUMBER_BYTES;
    this.headSumAt = this.bodySumAt + NUMBER_BYTES;
    this.headBytes = this.lengthAt + NUMBERS * NUMBER_BYTES;
  }

  async frame(text: Buffer): Promise<Buffer> {
    const body = await this.compression.compress(text);
    const frame = Buffer.alloc(this.headBytes + body.length);
    this.compression.opening.copy(frame);
    frame.writeUInt32LE(frame.length, this.lengthAt);
    frame.writeUInt32LE(crc32(body), this.bodySumAt);
    frame.writeUInt32LE(crc32(frame.subarray(0, this.headSumAt)), this.headSumAt);
    body.copy(frame, this.headBytes);
    return frame;
  }

  /** Whether a file of such frames may begin like this; told by two bytes. */
  begins(bytes: Buffer): boolean {
    return bytes.length >= 2 && bytes.subarray(0, 2).equals(this.compression.opening.subarray(0, 2));
  }

  /** Whether so few bytes may be the beginning of a head. */
  mayBegin(part: Buffer): boolean {
    const { opening } = this.compression;
    return part.subarray(0, opening.length).equals(opening.subarray(0, part.length));
  }

  /** Bytes of the frame that begins here; null when its head is damaged. `head` has `headBytes`. */
  length(head: Buffer): number | null {
    if (!this.mayBegin(head)) return null;
    if (head.readUInt32LE(this.headSumAt) !== crc32(head.subarray(0, this.headSumAt))) return null;
    const length = head.readUInt32LE(this.lengthAt);
    return length > this.headBytes ? length : null;
  }

  /** The text of a whole frame; null when it is damaged. */
  text(frame: Buffer): Buffer | null {
    const body = frame.subarray(this.headBytes);
    if (crc32(body) !== frame.readUInt32LE(this.bodySumAt)) return null;
    return attempted(() => this.compression.decompress(body));
  }

  /** As much of the text as the bytes of an unfinished frame give. */
  salvaged(part: Buffer): Buffer {
    return attempted(() => this.compression.salvage(part.subarray(this.headBytes))) ?? Buffer.alloc(0);
  }
}

function attempted(decompress: () => Buffer | null): Buffer | null {
  try {
    return decompress();
  } catch {
    return null;
  }
}
