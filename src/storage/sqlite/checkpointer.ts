import { Worker } from 'node:worker_threads';
import { checkpointStep } from './checkpoint-plan.js';
import type { CheckpointAnswer, CheckpointRequest } from './checkpoint-messages.js';
import type { CheckpointProgress, WriterPort } from './writer-port.js';

/** The program of the checkpoint thread in a built product: it lies beside this file. */
export const CHECKPOINT_ENTRY = new URL('./checkpoint.worker.js', import.meta.url);

/** How often the length of the log is looked at, and what is long: one call at a time writes a hundred megabytes of log a second. */
const LOOK_MS = 100;
const LOG_BYTES_LONG = 16 * 1024 * 1024;

export interface CheckpointerOptions {
  readonly databasePath: string;
  readonly entry: URL;
  /** A checkpoint at least this often. */
  readonly intervalMs: number;
  /** Bytes of the log on disk: a long one does not wait for the interval. */
  readonly logBytes: () => number;
  readonly writer: Pick<WriterPort, 'checkpoint'>;
  /** Told when a pass fails; the next interval tries again. */
  readonly problem: (message: string) => void;
}

/**
 * Keeps the log of the database short without stalling anybody: a thread of its own makes passive passes, each shorter than the one
 * before, and the writer moves the tail between two batches.
 */
export class Checkpointer {
  private readonly worker: Worker;
  private timer: NodeJS.Timeout | null = null;
  private answered: ((answer: CheckpointAnswer) => void) | null = null;
  private running: Promise<void> = Promise.resolve();
  private dead = false;
  /** From here on the end of the thread is no failure, however it comes: nobody needs it any more. */
  private closing = false;

  constructor(private readonly options: CheckpointerOptions) {
    const { databasePath, entry } = options;
    this.worker = new Worker(entry, { workerData: { databasePath }, name: 'countersign-checkpoints' });
    this.worker.on('message', (answer: CheckpointAnswer) => this.answered?.(answer));
    this.worker.on('error', (error) => this.die(error.message));
    this.worker.on('exit', () => this.die('it has ended'));
  }

  start(): void {
    const lookMs = Math.min(LOOK_MS, this.options.intervalMs);
    this.lookAfter(lookMs, lookMs);
  }

  private lookAfter(lookMs: number, waitedMs: number): void {
    this.timer = setTimeout(() => {
      const isDue = waitedMs >= this.options.intervalMs || this.options.logBytes() > LOG_BYTES_LONG;
      this.running = isDue ? this.tick() : Promise.resolve();
      void this.running.then(() => {
        if (this.timer !== null) this.lookAfter(lookMs, isDue ? lookMs : waitedMs + lookMs);
      });
    }, lookMs);
    this.timer.unref();
  }

  /** One round: passes until the tail is short, then the tail. */
  async tick(): Promise<void> {
    try {
      let moved = 0;
      for (let passes = 1; ; passes += 1) {
        const progress = await this.pass();
        const step = progress === null ? 'rest' : checkpointStep(moved, progress, passes);
        if (step === 'tail') await this.options.writer.checkpoint();
        if (step !== 'pass') return;
        moved = progress?.checkpointedFrames ?? 0;
      }
    } catch (error) {
      this.options.problem(error instanceof Error ? error.message : 'the checkpoint has failed');
    }
  }

  async close(): Promise<void> {
    this.closing = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    await this.running;
    await this.ask({ kind: 'close' });
    this.dead = true;
    await this.worker.terminate();
  }

  private async pass(): Promise<CheckpointProgress | null> {
    const answer = await this.ask({ kind: 'pass' });
    if (answer.kind === 'failed') this.options.problem(answer.message);
    return answer.kind === 'passed' ? answer.progress : null;
  }

  private ask(request: CheckpointRequest): Promise<CheckpointAnswer> {
    if (this.dead) return Promise.resolve({ kind: 'closed' });
    return new Promise((resolve) => {
      this.answered = resolve;
      this.worker.postMessage(request);
    });
  }

  private die(why: string): void {
    if (!this.dead && !this.closing) this.options.problem(`the checkpoint thread has failed: ${why}`);
    this.dead = true;
    this.answered?.({ kind: 'closed' });
  }
}
