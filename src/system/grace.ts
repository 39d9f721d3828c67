import { after, type Timer } from './timers.js';

/** The time a stopping process has: so many milliseconds from now, or less when somebody is in a hurry. */
export class Grace {
  private readonly until: number;
  private readonly hurried: Promise<void>;

  constructor(
    ms: number,
    private readonly hurry: AbortSignal,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.until = now() + ms;
    this.hurried = new Promise((resolve) => hurry.addEventListener('abort', () => resolve(), { once: true }));
  }

  leftMs(): number {
    return this.hurry.aborted ? 0 : Math.max(0, this.until - this.now());
  }

  isOver(): boolean {
    return this.leftMs() === 0;
  }

  /** Waits for the work, but no longer than the time that is left. What the work throws is thrown. */
  async within(work: Promise<unknown>): Promise<void> {
    let timer: Timer | undefined;
    const over = new Promise<void>((resolve) => (timer = after(this.leftMs(), resolve)));
    try {
      await Promise.race([work, over, ...(this.hurry.aborted ? [] : [this.hurried])]);
    } finally {
      timer?.cancel();
    }
  }
}
