/** The wall clock and the monotonic clock, injected so that rules and tests never read time by themselves. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;
  /** Milliseconds from an arbitrary start, never going back: for deadlines of things on the wire. */
  abstract monotonic(): number;
}

export class SystemClock extends Clock {
  override now(): number {
    return Date.now();
  }

  override monotonic(): number {
    return performance.now();
  }
}
