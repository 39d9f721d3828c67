import type { Clock } from './clock.js';
import type { Readiness } from './readiness.js';
import { every, type Timer } from './timers.js';

/** How often the clocks are compared, and how long after it an irregularity is a reason. */
const LOOK_MS = 1000;
const REMEMBER_MS = 60_000;

export interface ClockLimits {
  /** Milliseconds by which the wall clock may move against the monotonic one between two looks. */
  readonly jumpMsMax: number;
  /** Milliseconds by which a look may come late. */
  readonly stallMsMax: number;
}

interface Seen {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly byMs: number;
}

interface Look {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * Compares the wall clock with the monotonic one. Everything that expires goes by the wall clock, so an operator should
 * know when it was moved or the machine stood still; and a look that comes late shows that the event loop was held up.
 */
export class ClockWatch {
  private last: Look;
  private timer: Timer | null = null;
  private jump: Seen | null = null;
  private stall: Seen | null = null;
  private before: Seen | null = null;
  private notify: () => void = () => {};

  constructor(
    private readonly clock: Clock,
    private readonly limits: ClockLimits,
    readiness: Readiness,
  ) {
    this.last = this.read();
    readiness.watch(() => {
      const jumped = this.recent(this.jump, (ms) => `the wall clock moved by ${ms} ms against the monotonic clock`);
      const stalled = this.recent(this.stall, (ms) => `the event loop was held up for ${ms} ms`);
      const before = this.recent(this.before, (ms) => `the wall clock is ${ms} ms before the end of the last process`);
      return [...jumped, ...stalled, ...before].map(
        (detail) => ({ name: 'clock', weight: 'degraded', detail }) as const,
      );
    });
  }

  /** Calls when a look finds something: what is due may be overdue, and whoever owned something may have lost it. */
  onIrregularity(listener: () => void): void {
    this.notify = listener;
  }

  /** `lastSignOfLifeMs`: the wall clock's time when the process before this one last wrote that it lived; null: there was none. */
  start(lastSignOfLifeMs: number | null): void {
    this.last = this.read();
    const behindMs = lastSignOfLifeMs === null ? 0 : lastSignOfLifeMs - this.last.wall;
    if (behindMs > this.limits.jumpMsMax) this.before = { at: this.last.monotonic, byMs: behindMs };
    this.timer = every(LOOK_MS, () => this.look(LOOK_MS)).unref();
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** `dueAfterMs`: how long after the look before this one was to come. */
  look(dueAfterMs: number): void {
    const now = this.read();
    const passed = now.monotonic - this.last.monotonic;
    const jumped = Math.round(now.wall - this.last.wall - passed);
    const late = Math.round(passed - dueAfterMs);
    const [hasJumped, wasHeldUp] = [Math.abs(jumped) > this.limits.jumpMsMax, late > this.limits.stallMsMax];
    if (hasJumped) this.jump = { at: now.monotonic, byMs: jumped };
    if (wasHeldUp) this.stall = { at: now.monotonic, byMs: late };
    this.last = now;
    if (hasJumped || wasHeldUp) this.notify();
  }

  private recent(seen: Seen | null, words: (byMs: number) => string): readonly string[] {
    return seen !== null && this.clock.monotonic() - seen.at < REMEMBER_MS ? [words(seen.byMs)] : [];
  }

  private read(): Look {
    return { wall: this.clock.now(), monotonic: this.clock.monotonic() };
  }
}
