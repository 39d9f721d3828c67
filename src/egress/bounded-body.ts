const FIRST_CAPACITY_BYTES = 4_096;

/** Collects a body in one buffer that grows by doubling, so that a peer that sends single bytes costs no more than its bytes. */
export class BoundedBody {
  /** Bytes offered so far, including what did not fit. */
  receivedBytes = 0;

  private buffer: Buffer = Buffer.alloc(0);
  private length = 0;

  constructor(private readonly bytesMax: number) {}

  get isTruncated(): boolean {
    return this.receivedBytes > this.bytesMax;
  }

  append(chunk: Uint8Array): void {
    this.receivedBytes += chunk.byteLength;
    const fitting = chunk.subarray(0, this.bytesMax - this.length);
    this.reserve(this.length + fitting.byteLength);
    this.buffer.set(fitting, this.length);
    this.length += fitting.byteLength;
  }

  /** A copy of exactly what was kept. */
  bytes(): Uint8Array {
    return new Uint8Array(this.buffer.subarray(0, this.length));
  }

  private reserve(bytes: number): void {
    if (bytes <= this.buffer.byteLength) return;
    const capacity = Math.min(Math.max(bytes, this.buffer.byteLength * 2, FIRST_CAPACITY_BYTES), this.bytesMax);
    const grown = Buffer.allocUnsafe(capacity);
    grown.set(this.buffer.subarray(0, this.length));
    this.buffer = grown;
  }
}
