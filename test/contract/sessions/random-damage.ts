/** A seeded source of damage: the same seed, the same faults. Mulberry32. */
export class RandomDamage {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** One of the ways in which bytes are lost or changed. `other` is a file that bytes may come from. */
  damaged(bytes: Buffer, other: Buffer): Buffer {
    const at = this.below(bytes.length);
    const length = 1 + this.below(Math.min(200, bytes.length - at));
    switch (this.below(8)) {
      case 0:
        return bytes.subarray(0, at);
      case 1:
        return this.flipped(bytes, at);
      case 2:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
      case 3:
        return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
      case 4:
        return Buffer.from(bytes).fill(0, at, at + length);
      case 5:
        return Buffer.concat([bytes.subarray(0, at), other.subarray(at)]);
      case 6:
        return this.withoutLine(bytes);
      default:
        return this.welded(bytes);
    }
  }

  private flipped(bytes: Buffer, at: number): Buffer {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(at) ^ (1 << this.below(8)), at);
    return copy;
  }

  private withoutLine(bytes: Buffer): Buffer {
    const lines = linesOf(bytes);
    const at = this.below(lines.length);
    const twice = this.below(2) === 0;
    return Buffer.concat(lines.flatMap((line, index) => (index === at ? (twice ? [line, line] : []) : [line])));
  }

  private welded(bytes: Buffer): Buffer {
    const lines = linesOf(bytes);
    const at = this.below(lines.length);
    return Buffer.concat(lines.map((line, index) => (index === at ? line.subarray(0, -1) : line)));
  }
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    lines.push(bytes.subarray(start, end + 1));
    start = end + 1;
  }
  return start < bytes.length ? [...lines, bytes.subarray(start)] : lines;
}
