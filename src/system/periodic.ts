import type { Logger } from './logger.js';
import { errorName } from './logger.js';

export interface Chore {
  readonly name: string;
  tick(): Promise<void>;
}

/**
 * Runs chores one after the other, at the start and then again and again. One that fails holds up no other, and a pass
 * never overlaps the one before it. Intervals are short, so timers beyond 24.8 days never arise.
 */
export class Periodic {
  private timer: NodeJS.Timeout | null = null;
  private pass: Promise<void> = Promise.resolve();

  constructor(
    private readonly chores: readonly Chore[],
    private readonly intervalMs: number,
    private readonly logger: Logger,
  ) {}

  /** Answers when the first pass is done. */
  async start(): Promise<void> {
    this.timer = setInterval(() => void this.wake(), this.intervalMs);
    await this.wake();
  }

  /** One more pass, after the one that is running. */
  wake(): Promise<void> {
    this.pass = this.pass.then(() => this.runAll());
    return this.pass;
  }

  async stop(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await this.pass;
  }

  private async runAll(): Promise<void> {
    for (const chore of this.chores) {
      try {
        await chore.tick();
      } catch (error) {
        this.logger.error('a periodic task failed', { task: chore.name, error: errorName(error) });
      }
    }
  }
}
