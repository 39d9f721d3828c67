import { Worker } from 'node:worker_threads';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type {
  SessionLogAnswer,
  SessionLogRequest,
  SessionLogThreadData,
  SessionWrite,
  SessionWriteResult,
} from './session-log-messages.js';

/** The program of the thread in a built product: it lies beside this file. */
export const SESSION_LOG_ENTRY = new URL('./session-log.worker.js', import.meta.url);

/** Rows of one transaction, about: a batch behind it waits for one sync more and not for megabytes. */
const ROWS_PER_COMMIT = 8_000;

interface Waiting {
  readonly write: SessionWrite;
  readonly resolve: (revision: string) => void;
  readonly reject: (error: Error) => void;
}

/** The writer thread, seen from the main thread. What comes while a transaction is under way shares the next one. */
export class SessionLogThread {
  private readonly queue: Waiting[] = [];
  private answered: ((answer: SessionLogAnswer) => void) | null = null;
  private running: Promise<void> | null = null;
  private dead: Error | null = null;
  private closing: Promise<void> | null = null;

  private constructor(private readonly worker: Worker) {
    worker.on('message', (answer: SessionLogAnswer) => this.answered?.(answer));
    worker.on('error', (error) => this.die(`the writer of the sessions has failed: ${error.message}`));
    worker.on('exit', () => this.die('the writer of the sessions has ended'));
  }

  /** Resolves when the database is open; rejects with the refusal of `prepareSessionDatabase`. */
  static async start(data: SessionLogThreadData, entry: URL): Promise<SessionLogThread> {
    const thread = new SessionLogThread(new Worker(entry, { workerData: data, name: 'countersign-sessions' }));
    const answer = await thread.answer();
    if (answer.kind === 'ready') return thread;
    await thread.worker.terminate();
    const message = 'message' in answer ? answer.message : `the thread has begun with ${answer.kind}`;
    if (answer.kind === 'unusable' && answer.code !== null) throw new CountersignError(answer.code, message);
    throw new Error(message);
  }

  /** Resolves with the new revision once the write is durable. */
  write(write: SessionWrite): Promise<string> {
    if (this.dead !== null) return Promise.reject(this.dead);
    if (this.closing !== null) return Promise.reject(CLOSED());
    return new Promise((resolve, reject) => {
      this.queue.push({ write, resolve, reject });
      // In the next job, so that what many sessions write in this one shares a transaction.
      this.running ??= Promise.resolve().then(() => this.drain());
    });
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    await this.running;
    if (this.dead === null) await this.ask({ kind: 'close' });
    await this.worker.terminate();
  }

  private async drain(): Promise<void> {
    while (this.queue.length > 0) await this.commit(this.nextBatch());
    this.running = null;
  }

  private nextBatch(): readonly Waiting[] {
    let rows = 0;
    let count = 0;
    while (count < this.queue.length && rows < ROWS_PER_COMMIT) {
      const write = this.queue[count]?.write;
      rows += write?.kind === 'append' ? write.batch.rows.length : 1;
      count += 1;
    }
    return this.queue.splice(0, count);
  }

  private async commit(batch: readonly Waiting[]): Promise<void> {
    const answer = await this.ask({ kind: 'write', writes: batch.map(({ write }) => write) });
    if (answer.kind !== 'written') {
      const message = 'message' in answer ? answer.message : `the thread has answered ${answer.kind} to a write`;
      for (const { reject } of batch) reject(new Error(`sessions.sqlite: ${message}`));
      return;
    }
    for (const [index, waiting] of batch.entries()) settle(waiting, answer.results[index]);
  }

  private async ask(request: SessionLogRequest): Promise<SessionLogAnswer> {
    if (this.dead !== null) return { kind: 'failed', message: this.dead.message };
    this.worker.postMessage(request);
    return this.answer();
  }

  private answer(): Promise<SessionLogAnswer> {
    return new Promise((resolve) => {
      this.answered = (answer) => {
        this.answered = null;
        resolve(answer);
      };
    });
  }

  private die(message: string): void {
    this.dead ??= new Error(message);
    this.answered?.({ kind: 'failed', message });
  }
}

const CLOSED = (): CountersignError => new CountersignError('persistence_closed', 'the sessions are being closed');

function settle({ resolve, reject }: Waiting, result: SessionWriteResult | undefined): void {
  if (result === undefined) reject(new Error('the writer of the sessions has left out an answer'));
  else if (result.outcome === 'written') resolve(result.revision);
  else reject(new CountersignError(result.code, result.message));
}
