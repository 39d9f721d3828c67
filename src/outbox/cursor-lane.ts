import type { EventTail } from './event-tail.js';
import type { Delivery } from './sink.js';

/** How far beyond its cursor a lane looks for what can be delivered while something before it cannot. */
const WINDOW = 4096;

const PAGE = 256;

export interface LaneBatch {
  readonly deliveries: readonly Delivery[];
  /** Events that cannot be read. */
  readonly unreadable: readonly Pick<Delivery, 'position' | 'partition'>[];
  /** Everything up to here has been looked at. */
  readonly upTo: number;
  /** False when the end was reached. */
  readonly isFull: boolean;
}

/**
 * A walk over positions for one sink. Everything up to `position` is settled; of what lies behind it a few may be settled ahead, in
 * memory only: after a crash they are delivered again, with the same id.
 */
export class CursorLane {
  private readonly ahead = new Set<number>();

  constructor(
    private readonly tail: Pick<EventTail, 'after'>,
    /** Null: every type. */
    private readonly types: ReadonlySet<string> | null,
    private at: number,
    /** The last position of the walk; null: without end. */
    readonly end: number | null,
  ) {}

  get position(): number {
    return this.at;
  }

  get isDone(): boolean {
    return this.end !== null && this.at >= this.end;
  }

  /** What is next, at most `limit` deliveries; `isSettled` leaves out what is parked. */
  async read(limit: number, isSettled: (position: number) => boolean): Promise<LaneBatch> {
    const deliveries: Delivery[] = [];
    const unreadable: LaneBatch['unreadable'][number][] = [];
    const last = Math.min(this.at + WINDOW, this.end ?? Infinity);
    let upTo = this.at;
    while (upTo < last && deliveries.length < limit) {
      const entries = await this.tail.after(upTo, Math.min(PAGE, last - upTo));
      if (entries.length === 0) break;
      for (const entry of entries) {
        if (deliveries.length >= limit) break;
        upTo = entry.position;
        if (this.ahead.has(upTo) || isSettled(upTo)) continue;
        if (entry.isUnreadable === true) unreadable.push(entry);
        else if (this.types?.has(entry.eventType) !== false) deliveries.push({ ...entry, body: bodyOf(entry.body) });
      }
    }
    return { deliveries, unreadable, upTo, isFull: deliveries.length >= limit || upTo >= last };
  }

  /** A batch has been dealt with, but for those that are left. */
  settle({ deliveries, upTo }: LaneBatch, left: readonly Delivery[]): void {
    const still = new Set(left.map(({ position }) => position));
    const first = Math.min(...still);
    this.at = Math.max(this.at, still.size === 0 ? upTo : first - 1);
    for (const { position } of deliveries) if (!still.has(position) && position > this.at) this.ahead.add(position);
    for (const position of this.ahead) if (position <= this.at) this.ahead.delete(position);
  }
}

function bodyOf(body: string | null): string {
  if (body === null) throw new Error('an event that a sink wants was not rendered');
  return body;
}
