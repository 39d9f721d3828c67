/** What a ring holds: something at a position, and how large it is. */
export interface Placed {
  readonly position: number;
  /** Roughly how much memory it takes, in bytes. */
  readonly size: number;
}

export interface RingLimits {
  readonly entriesMax: number;
  readonly bytesMax: number;
}

/** How many places in front may be empty before they are given back. */
const SLACK = 512;

/**
 * The most recent entries, without a gap between them, bounded by number and by size. It belongs to nobody: every
 * reader looks from its own position, and one that is further back than the oldest entry is told so.
 */
export class EventRing<T extends Placed> {
  private entries: T[] = [];
  private start = 0;
  private bytes = 0;
  private nextPosition: number;

  constructor(
    next: number,
    private readonly limits: RingLimits,
  ) {
    this.nextPosition = next;
  }

  /** The position the next entry has. */
  get next(): number {
    return this.nextPosition;
  }

  get size(): number {
    return this.entries.length - this.start;
  }

  /** An entry that does not follow the newest one begins the ring anew: it never holds a gap. */
  push(entry: T): void {
    if (entry.position !== this.nextPosition) this.reset(entry.position);
    this.entries.push(entry);
    this.bytes += entry.size;
    this.nextPosition += 1;
    while (this.size > this.limits.entriesMax || this.bytes > this.limits.bytesMax) this.dropOldest();
  }

  reset(next: number): void {
    this.entries = [];
    this.start = 0;
    this.bytes = 0;
    this.nextPosition = next;
  }

  /** The entries after a position, at most `limit`; null when some of them are no longer here. */
  after(position: number, limit: number): readonly T[] | null {
    const oldest = this.nextPosition - this.size;
    if (position + 1 < oldest) return null;
    const from = this.start + position + 1 - oldest;
    return this.entries.slice(from, from + limit);
  }

  private dropOldest(): void {
    this.bytes -= (this.entries[this.start] as T).size;
    this.start += 1;
    if (this.start <= SLACK) return;
    this.entries = this.entries.slice(this.start);
    this.start = 0;
  }
}
