/** Burst a bucket allows, in seconds of its rate. */
const BURST_SECONDS = 0.1;

/**
 * A rate limit. It starts full; at most a tenth of a second's worth (at least one) can be taken at once, so that no second sees more than
 * 1.1 times the rate, and one more. Times are milliseconds of a monotonic clock; a time that went back counts as no time.
 */
export class TokenBucket {
  private readonly capacity: number;
  private tokens: number;
  private filledAtMs: number;

  constructor(
    private readonly ratePerSecond: number,
    nowMs: number,
  ) {
    this.capacity = Math.max(1, ratePerSecond * BURST_SECONDS);
    this.tokens = this.capacity;
    this.filledAtMs = nowMs;
  }

  /** Takes one token, or answers false and takes nothing. */
  take(nowMs: number): boolean {
    this.refill(nowMs);
    if (this.waitMs(nowMs) > 0) return false;
    this.tokens -= 1;
    return true;
  }

  /** For a token that was taken and not used. */
  giveBack(): void {
    this.tokens = Math.min(this.capacity, this.tokens + 1);
  }

  /** Milliseconds until one token is there, 0 when one is now. */
  waitMs(nowMs: number): number {
    this.refill(nowMs);
    // A token that is short by less than a rounding error is there.
    return this.tokens > 1 - 1e-9 ? 0 : Math.ceil(((1 - this.tokens) / this.ratePerSecond) * 1_000);
  }

  private refill(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.filledAtMs);
    this.filledAtMs = Math.max(this.filledAtMs, nowMs);
    this.tokens = Math.min(this.capacity, this.tokens + (elapsedMs / 1_000) * this.ratePerSecond);
  }
}
