import { crc32 } from 'node:zlib';
import { SEAL_BYTES, sealText } from './sealed-line.js';

/** UTF-8 of one code unit, at most. */
const BYTES_PER_UNIT = 3;
const SPARE_BYTES = 16_384;

/** Sealed lines as bytes, one behind the other; each is encoded once and where it is written from. */
export class LineBuffer {
  private bytes: Buffer;
  private used = 0;

  constructor(
    private readonly seed: number,
    private readonly pieceBytes: number,
  ) {
    this.bytes = Buffer.allocUnsafe(pieceBytes + SPARE_BYTES);
  }

  get size(): number {
    return this.used;
  }

  /** `json` is an object with at least one member. */
  add(json: string): void {
    const start = this.used;
    this.reserve(json.length * BYTES_PER_UNIT + SEAL_BYTES);
    // The seal goes in the place of the closing brace.
    const end = start + this.bytes.write(json, start) - 1;
    const sum = crc32(this.bytes.subarray(start, end), this.seed);
    this.used = end + this.bytes.write(sealText(sum), end, 'latin1');
  }

  /** What was added since the last time; the caller's own from now on. */
  take(): Buffer {
    const piece = this.bytes.subarray(0, this.used);
    this.bytes = Buffer.allocUnsafe(this.pieceBytes + SPARE_BYTES);
    this.used = 0;
    return piece;
  }

  private reserve(more: number): void {
    if (this.used + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.used + more));
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
  }
}
