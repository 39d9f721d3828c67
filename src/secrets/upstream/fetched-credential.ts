import type { Clock } from '../../system/clock.js';
import { TokenUnavailable, type FetchedToken } from './oauth-client.js';

/** A token whose server does not say how long it lives is believed for so long. */
const LIFETIME_UNSAID_MS = 60_000;
/** From this part of its life on a token is replaced, while it still serves. */
const REFRESH_AT_PART = 0.75;
/** It is not used any more so long before its end (but for at least half its life): the request it goes with takes time too. */
const MARGIN_MS = 5000;
/** After a failure nobody asks again for so long. */
const COOLDOWN_MS = 1000;

export interface TokenKeeping {
  /** Told of each token, and of null when there is none any more. */
  readonly hold: (token: string | null) => void;
  /** Told why there is none. */
  readonly failed: (reason: string) => void;
}

interface Held {
  readonly token: string;
  /** Monotonic milliseconds. */
  readonly since: number;
  readonly refreshAt: number;
  readonly usableUntil: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/**
 * A credential that is fetched, kept and fetched anew: one request at a time, ahead of its end where calls keep using it, and only
 * waited for when there is none that is good.
 */
export class FetchedCredential {
  private held: Held | null = null;
  private pending: Promise<boolean> | null = null;
  private failedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly fetch: () => Promise<FetchedToken>,
    private readonly keeping: TokenKeeping,
    private readonly clock: Clock,
  ) {}

  /** Null: it is good to use now. Else a promise of whether it has become so; it never rejects. */
  ready(): Promise<boolean> | null {
    const now = this.clock.monotonic();
    if (this.held !== null && now < this.held.usableUntil) {
      if (now >= this.held.refreshAt) void this.refresh();
      return null;
    }
    return this.refresh();
  }

  /** Milliseconds since 1970 at which the token ends by what its server said; null when none is held. */
  get expiresAt(): number | null {
    return this.held?.expiresAt ?? null;
  }

  /** The next use fetches anew: the one that is held serves no more. Answers it; null when there is none. */
  forget(): string | null {
    const token = this.held?.token ?? null;
    this.held = null;
    this.keeping.hold(null);
    return token;
  }

  /** The same, unless it was fetched at or after that time (monotonic milliseconds). */
  forgetOlderThan(time: number): void {
    if (this.held !== null && this.held.since < time) this.forget();
  }

  private refresh(): Promise<boolean> {
    if (this.pending !== null) return this.pending;
    if (this.clock.monotonic() - this.failedAt < COOLDOWN_MS) return Promise.resolve(false);
    this.pending = this.take().finally(() => {
      this.pending = null;
    });
    return this.pending;
  }

  private async take(): Promise<boolean> {
    try {
      const { token, lifetimeSeconds } = await this.fetch();
      const lifetimeMs = lifetimeSeconds === null ? LIFETIME_UNSAID_MS : lifetimeSeconds * 1000;
      const now = this.clock.monotonic();
      this.held = {
        token,
        since: now,
        refreshAt: now + lifetimeMs * REFRESH_AT_PART,
        usableUntil: now + lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 2),
        expiresAt: this.clock.now() + lifetimeMs,
      };
      this.keeping.hold(token);
      return true;
    } catch (error) {
      this.failedAt = this.clock.monotonic();
      this.keeping.failed(error instanceof TokenUnavailable ? error.reason : 'unexpected');
      return false;
    }
  }
}
