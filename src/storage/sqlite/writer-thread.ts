import { Worker, type ResourceLimits } from 'node:worker_threads';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { RewrapProgress } from '../custody.js';
import type { InstanceRef } from '../store.js';
import type { Unit } from '../unit.js';
import type { UnitResult } from './unit-writer.js';
import type { StoreHead } from '../store-head.js';
import { StoreBroken, StoreBusy, StoreTakenOver } from './write-failure.js';
import type { CopyAnswer, CopyRequest, WriterAnswer, WriterRequest, WriterThreadData } from './writer-messages.js';
import type { CheckpointProgress, WriterPort } from './writer-port.js';

/** The program of the writer thread in a built product: it lies beside this file. */
export const WRITER_ENTRY = new URL('./writer.worker.js', import.meta.url);

/** Units die as soon as they are written. A young generation is used up to its limit whatever the load, so it has a small one. */
const RESOURCES: ResourceLimits = { maxYoungGenerationSizeMb: 12 };

interface Waiting {
  readonly resolve: (answer: WriterAnswer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The writer thread, seen from the main thread. Answers come in the order of the requests. When the thread dies, everything that
 * waits and everything that comes later is rejected with `StoreBroken`: nobody knows how far it got.
 */
export class WriterThread implements WriterPort {
  private readonly waiting: Waiting[] = [];
  private dead: StoreBroken | null = null;
  private copyEnded: ((answer: CopyAnswer) => void) | null = null;

  private constructor(private readonly worker: Worker) {
    worker.on('message', (answer: WriterAnswer | CopyAnswer) => {
      if (answer.kind === 'copied' || answer.kind === 'copy_failed') this.copyEnded?.(answer);
      else this.waiting.shift()?.resolve(answer);
    });
    worker.on('error', (error) => this.die(`the writer thread has failed: ${error.message}`));
    worker.on('exit', () => this.die('the writer thread has ended'));
  }

  /** Resolves when the thread has opened the database; rejects with the error of opening it. */
  static async start(
    data: WriterThreadData,
    entry: URL,
  ): Promise<{ thread: WriterThread; head: number; leavesAtKnown: readonly (string | null)[] }> {
    const thread = new WriterThread(
      new Worker(entry, { workerData: data, name: 'countersign-writer', resourceLimits: RESOURCES }),
    );
    const answer = await thread.next();
    if (answer.kind === 'ready') return { thread, head: answer.head, leavesAtKnown: answer.leavesAtKnown };
    await thread.worker.terminate();
    if (answer.kind !== 'unusable') throw new Error(`the writer thread has begun with ${answer.kind}`);
    throw answer.code === null ? new StoreBroken(answer.message) : new CountersignError(answer.code, answer.message);
  }

  async apply(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    try {
      return await this.applied(units);
    } catch (error) {
      // A function or another thing without a plain form: nothing was sent, and only its own unit is refused.
      if (!isCloneError(error)) throw error;
      const plain = new Set(units.filter(isPlain));
      const results = [...(await this.applied([...plain]))];
      return units.map((unit) => (plain.has(unit) ? (results.shift() ?? NOT_PLAIN) : NOT_PLAIN));
    }
  }

  async own(instance: InstanceRef): Promise<void> {
    const answer = await this.ask({ kind: 'own', instance });
    if (answer.kind !== 'owned') throw this.die(`the writer thread has answered ${answer.kind} to its owner`);
  }

  async recover(): Promise<number> {
    const answer = await this.ask({ kind: 'recover' });
    if (answer.kind === 'recovered') return answer.head;
    if (answer.kind === 'broken') throw new StoreBroken(answer.message, {}, answer.mayRecover);
    if (answer.kind === 'taken_over') throw new StoreTakenOver();
    throw this.die(`the writer thread has answered ${answer.kind} to a recovery`);
  }

  async checkpoint(): Promise<CheckpointProgress> {
    const answer = await this.ask({ kind: 'checkpoint' });
    if (answer.kind === 'checkpointed') return answer.progress;
    if (answer.kind === 'broken') throw new StoreBroken(answer.message);
    throw this.die(`the writer thread has answered ${answer.kind} to a checkpoint`);
  }

  /** Where the store stands. The root is null while more than `budgetMs` of counting is left. Rejects with `StoreTakenOver`. */
  async head(budgetMs: number): Promise<StoreHead> {
    const answer = await this.ask({ kind: 'head', budgetMs });
    if (answer.kind === 'head') return answer.head;
    if (answer.kind === 'taken_over') throw new StoreTakenOver();
    throw this.die(`the writer thread has answered ${answer.kind} to a question for the head`);
  }

  /** Rejects with `StoreTakenOver`, and with a plain `Error` when the step failed; the store is none the worse. */
  async rewrap(after: string, limit: number): Promise<RewrapProgress> {
    const answer = await this.ask({ kind: 'rewrap', after, limit });
    if (answer.kind === 'rewrapped') return answer.progress;
    throw this.rewrapFailure(answer);
  }

  async releaseOtherKeys(): Promise<void> {
    const answer = await this.ask({ kind: 'release_keys' });
    if (answer.kind !== 'keys_released') throw this.rewrapFailure(answer);
  }

  /** Copies the database to a new file while commits go on. One at a time. Rejects with a plain `Error`; the store is none the worse. */
  copyTo(path: string): Promise<void> {
    if (this.dead !== null) return Promise.reject(this.dead);
    if (this.copyEnded !== null) return Promise.reject(new Error('another copy is being made'));
    return new Promise((resolve, reject) => {
      this.copyEnded = (answer) => {
        this.copyEnded = null;
        if (answer.kind === 'copied') resolve();
        else reject(new Error(answer.message));
      };
      this.worker.postMessage({ kind: 'copy', path } satisfies CopyRequest);
    });
  }

  /** Lets the requests before it end, closes the database and the thread. */
  async close(): Promise<void> {
    if (this.dead === null) await this.ask({ kind: 'close' }).catch(() => undefined);
    await this.worker.terminate();
  }

  private async applied(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    const answer = await this.ask({ kind: 'apply', units });
    switch (answer.kind) {
      case 'applied':
        return answer.results;
      case 'busy':
        throw new StoreBusy('another process holds the database');
      case 'broken':
        throw new StoreBroken(answer.message, {}, answer.mayRecover);
      case 'taken_over':
        throw new StoreTakenOver();
      case 'owned':
      case 'ready':
      case 'unusable':
      case 'checkpointed':
      case 'head':
      case 'recovered':
      case 'rewrapped':
      case 'keys_released':
      case 'rewrap_failed':
      case 'closed':
        throw this.die(`the writer thread has answered ${answer.kind} to a batch`);
    }
  }

  private rewrapFailure(answer: WriterAnswer): Error {
    if (answer.kind === 'rewrap_failed') return new Error(answer.message);
    if (answer.kind === 'taken_over') return new StoreTakenOver();
    return this.die(`the writer thread has answered ${answer.kind} to a rewrapping`);
  }

  private ask(request: WriterRequest): Promise<WriterAnswer> {
    if (this.dead !== null) return Promise.reject(this.dead);
    // In this order: what cannot be sent is not waited for.
    this.worker.postMessage(request);
    return this.next();
  }

  private next(): Promise<WriterAnswer> {
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  private die(why: string): StoreBroken {
    this.dead ??= new StoreBroken(why);
    for (const { reject } of this.waiting.splice(0)) reject(this.dead);
    this.copyEnded?.({ kind: 'copy_failed', message: why });
    return this.dead;
  }
}

const NOT_PLAIN: UnitResult = { outcome: 'refused', message: 'a unit is plain data' };

/** By its name: it is an error of the realm that the program was started in, which under test is not that of this module. */
const isCloneError = (error: unknown): boolean =>
  (error as { readonly name?: unknown } | null)?.name === 'DataCloneError';

function isPlain(unit: Unit): boolean {
  try {
    structuredClone(unit);
    return true;
  } catch {
    return false;
  }
}
