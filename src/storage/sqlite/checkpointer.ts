import { Worker } from 'node:worker_threads';
import type { CheckpointAnswer, CheckpointRequest } from './checkpoint-messages.js';
import type { CheckpointProgress, WriterPort } from './writer-port.js';

/** The program of the checkpoint thread in a built product: it lies beside this file. */
export const CHECKPOINT_ENTRY = new URL('./checkpoint.worker.js', import.meta.url);

/** A log shorter than this is left to grow: starting again from its beginning would save nothing. */
const LOG_FRAMES_MIN = 256;

/** What the writer may be asked to move itself: so few frames cost it no more than one flush. */
const TAIL_FRAMES_MAX = 64;

const PASSES_MAX = 8;

export interface CheckpointerOptions {
  readonly databasePath: string;
  readonly entry: URL;
  readonly intervalMs: number;
  readonly writer: Pick<WriterPort, 'checkpoint'>;
  /** Told when a pass fails; the next interval tries again. */
  readonly problem: (message: string) => void;
}

/**
 * Keeps the log of the database short without stalling anybody. A thread of its own makes passive passes, each shorter than the one
 * before, until only a tail is left; the writer moves that between two batches. Only then can the log start again from its beginning:
 * while a writer writes without a pause, a passive pass of another connection never meets an empty log.
 */
export class Checkpointer {
  private readonly worker: Worker;
  private timer: NodeJS.Timeout | null = null;
  private answered: ((answer: CheckpointAnswer) => void) | null = null;
  private running: Promise<void> = Promise.resolve();
  private dead = false;

  constructor(private readonly options: CheckpointerOptions) {
    const { databasePath, entry } = options;
    this.worker = new Worker(entry, { workerData: { databasePath }, name: 'countersign-checkpoints' });
    this.worker.on('message', (answer: CheckpointAnswer) => this.answered?.(answer));
    this.worker.on('error', (error) => this.die(error.message));
    this.worker.on('exit', () => this.die('it has ended'));
  }

  start(): void {
    this.timer = setTimeout(() => {
      this.running = this.tick().finally(() => {
        if (this.timer !== null) this.start();
      });
    }, this.options.intervalMs);
    this.timer.unref();
  }

  /** One round: passes until the tail is short, then the tail. */
  async tick(): Promise<void> {
    try {
      for (let passes = 1; passes <= PASSES_MAX; passes += 1) {
        const progress = await this.pass();
        if (progress === null || progress.logFrames < LOG_FRAMES_MIN) return;
        if (framesLeft(progress) > TAIL_FRAMES_MAX) continue;
        await this.options.writer.checkpoint();
        return;
      }
    } catch (error) {
      this.options.problem(error instanceof Error ? error.message : 'the checkpoint has failed');
    }
  }

  async close(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    await this.running;
    if (!this.dead) await this.ask({ kind: 'close' });
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
    if (this.dead) return;
    this.dead = true;
    this.options.problem(`the checkpoint thread has failed: ${why}`);
    this.answered?.({ kind: 'closed' });
  }
}

const framesLeft = ({ logFrames, checkpointedFrames }: CheckpointProgress): number => logFrames - checkpointedFrames;
