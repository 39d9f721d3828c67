import type { Logger } from './logger.js';
import { errorName } from './logger.js';
import { every, type Timer } from './timers.js';

export interface Chore {
  readonly name: string;
  /** May answer how many of the things it looked after it could not help. */
  tick(): Promise<number | void>;
}

/**
 * Runs chores one after the other, at the start and then again and again. One that fails holds up no other, and a pass
 * never overlaps the one before it.
 */
export class Periodic {
  private timer: Timer | null = null;
  private pass: Promise<void> = Promise.resolve();
  private readonly troubled = new Map<string, number | null>();

  constructor(
    private readonly chores: readonly Chore[],
    private readonly intervalMs: number,
    private readonly logger: Logger,
  ) {}

  /** Answers when the first pass is done. */
  async start(): Promise<void> {
    this.timer = every(this.intervalMs, () => void this.wake());
    await this.wake();
  }

  /** Which chores did not do all they should in their last pass: how many things they could not help, null when they failed. */
  get troubles(): ReadonlyMap<string, number | null> {
    return this.troubled;
  }

  /** One more pass, after the one that is running. */
  wake(): Promise<void> {
    this.pass = this.pass.then(() => this.runAll());
    return this.pass;
  }

  async stop(): Promise<void> {
    this.timer?.cancel();
    await this.pass;
  }

  private async runAll(): Promise<void> {
    for (const chore of this.chores) {
      try {
        const failed = (await chore.tick()) ?? 0;
        if (failed > 0) this.troubled.set(chore.name, failed);
        else this.troubled.delete(chore.name);
      } catch (error) {
        this.troubled.set(chore.name, null);
        this.logger.error('a periodic task failed', { task: chore.name, error: errorName(error) });
      }
    }
  }
}
