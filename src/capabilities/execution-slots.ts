import type { Clock } from '../system/clock.js';
import { TokenBucket } from './token-bucket.js';

/** The right to have one attempt on its way. It is a token of identity: only the object that was given out can be given back. */
export interface Slot {
  readonly capability: string;
}

export interface SlotLimits {
  /** Attempts of one capability that may be on their way at once. */
  readonly concurrency: number;
  /** Attempts of one capability that may begin per second; null: no limit. */
  readonly ratePerSecond: number | null;
}

export interface SlotCounts {
  readonly inFlight: number;
  readonly maxInFlight: number;
  /** Only capabilities that have something in flight. */
  readonly byCapability: Readonly<Record<string, number>>;
}

/**
 * How much may be on its way at once: in this process, per capability, and per second. In memory alone, since whatever was on its way when
 * a process died is no longer. Who comes next is not decided here: that is order of authorisation, and the executor's.
 */
export class ExecutionSlots {
  private readonly held = new Set<Slot>();
  private readonly countByName = new Map<string, number>();
  private readonly buckets = new Map<string, { readonly ratePerSecond: number; readonly bucket: TokenBucket }>();
  private readonly listeners = new Set<() => void>();

  /** `limitsOf` gives null for a name that is not in force, which gets no slot. */
  constructor(
    private readonly clock: Clock,
    private readonly maxInFlight: number,
    private readonly limitsOf: (capability: string) => SlotLimits | null,
  ) {}

  /** A slot, or null when one of the limits is reached. Never waits. */
  tryAcquire(capability: string): Slot | null {
    const limits = this.limitsOf(capability);
    if (limits === null || !this.hasRoom(capability, limits)) return null;
    if (this.bucketOf(capability, limits)?.take(this.clock.monotonic()) === false) return null;
    const slot: Slot = Object.freeze({ capability });
    this.held.add(slot);
    this.countByName.set(capability, this.countOf(capability) + 1);
    return slot;
  }

  /** The attempt has ended. A second release of the same slot does nothing. */
  release(slot: Slot): void {
    if (!this.held.delete(slot)) return;
    const left = this.countOf(slot.capability) - 1;
    if (left === 0) this.countByName.delete(slot.capability);
    else this.countByName.set(slot.capability, left);
    const listening = [...this.listeners];
    for (const listener of listening) listener();
  }

  /** The slot was not used: nothing was sent, so it does not count against the rate either. */
  cancel(slot: Slot): void {
    if (!this.held.has(slot)) return;
    this.buckets.get(slot.capability)?.bucket.giveBack();
    this.release(slot);
  }

  /**
   * Milliseconds until the rate of a capability allows one more, 0 when it does now; null when only a release can help. A rate makes room
   * without any event, so who waits for it needs a timer.
   */
  waitMs(capability: string): number | null {
    const limits = this.limitsOf(capability);
    if (limits === null || !this.hasRoom(capability, limits)) return null;
    return this.bucketOf(capability, limits)?.waitMs(this.clock.monotonic()) ?? 0;
  }

  /** Calls the listener after every release. Answers the function that ends it. */
  onFree(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  counts(): SlotCounts {
    const byCapability = Object.fromEntries(
      [...this.countByName].toSorted(([left], [right]) => (left < right ? -1 : 1)),
    );
    return { inFlight: this.held.size, maxInFlight: this.maxInFlight, byCapability };
  }

  private hasRoom(capability: string, { concurrency }: SlotLimits): boolean {
    return this.held.size < this.maxInFlight && this.countOf(capability) < concurrency;
  }

  private countOf(capability: string): number {
    return this.countByName.get(capability) ?? 0;
  }

  private bucketOf(capability: string, { ratePerSecond }: SlotLimits): TokenBucket | null {
    if (ratePerSecond === null) return null;
    const known = this.buckets.get(capability);
    if (known?.ratePerSecond === ratePerSecond) return known.bucket;
    const bucket = new TokenBucket(ratePerSecond, this.clock.monotonic());
    this.buckets.set(capability, { ratePerSecond, bucket });
    return bucket;
  }
}
