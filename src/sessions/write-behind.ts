import { CountersignError } from '../domain/errors/countersign-error.js';
import type { SessionRow } from '../domain/session/session-row.js';
import type { Timer } from '../system/timers.js';

export interface WriteBehindOptions {
  /** The longest intended wait before a write begins; neither a deadline for its end nor a bound on what a crash may lose. */
  readonly delayMs: number;
  readonly eventsMax: number;
  readonly bytesMax: number;
}

/** What the machine acts through. `write` resolves when the rows are durable; a barrier promises all that is written. */
export interface WriteBehindPorts {
  readonly write: (rows: readonly SessionRow[], barrier: boolean) => Promise<{ readonly revision: string }>;
  readonly after: (ms: number, run: () => void) => Timer;
  /** A background write failed; its rows are kept, in order, and nothing is tried again by itself. */
  readonly onFailure: (error: unknown) => void;
  /** Rows up to this `seq` have become durable. */
  readonly onDurable: (durableSeq: number) => void;
}

export interface WriteBehindStatus {
  readonly state: 'idle' | 'waiting' | 'active' | 'paused' | 'barrier' | 'closed';
  /** Events that wait, and events of the write that is under way. */
  readonly pending: number;
  readonly active: number;
  readonly pendingBytes: number;
  readonly timerArmed: boolean;
  readonly deadlineExpired: boolean;
  readonly automaticPaused: boolean;
  readonly barrier: boolean;
  readonly lastError: unknown;
  readonly durableSeq: number;
  /** Up to here the medium has promised; -1: nothing. */
  readonly barrierSeq: number;
  readonly revision: string | null;
}

/** Where the medium stands when a session is opened. */
export interface WriteBehindStart {
  readonly durableSeq: number;
  readonly barrierSeq: number;
  readonly revision: string | null;
}

interface Batch {
  readonly rows: readonly SessionRow[];
  readonly bytes: number;
}

/**
 * Brings the rows of one session to its log in order, in batches, later than they are appended (state-machines §8, W1–W20).
 * Only a flush promises that something is durable. Appends never wait and a failure never undoes one.
 */
export class WriteBehind {
  private pending: SessionRow[] = [];
  private pendingBytes = 0;
  private active: Batch | null = null;
  /** Settles when the write under way has been taken in, whatever came of it. */
  private activeDone: Promise<void> | null = null;
  private timer: Timer | null = null;
  private deadlineExpired = false;
  private automaticPaused = false;
  private barrier: Promise<number> | null = null;
  private lastError: unknown = null;
  private admission: 'open' | 'closing' | 'closed' = 'open';
  private durableSeq: number;
  private barrierSeq: number;
  private revision: string | null;

  constructor(
    private readonly ports: WriteBehindPorts,
    private readonly options: WriteBehindOptions,
    start: WriteBehindStart,
  ) {
    this.durableSeq = start.durableSeq;
    this.barrierSeq = start.barrierSeq;
    this.revision = start.revision;
  }

  /** Refuses for `persistence_closed` and nothing else; producers that may be held back ask `isSaturated` first. */
  enqueue(rows: readonly SessionRow[], bytes: number): void {
    this.mustAdmit();
    const wasEmpty = this.pending.length === 0;
    for (const row of rows) this.pending.push(row);
    this.pendingBytes += bytes;
    if (!wasEmpty || rows.length === 0 || this.automaticPaused || this.barrier !== null) return;
    this.deadlineExpired = false;
    this.arm();
  }

  mustAdmit(): void {
    if (this.admission === 'open') return;
    throw new CountersignError('persistence_closed', 'nothing is taken any more: the session is being closed');
  }

  /** Whether so much would wait that producers of chatter are to be refused. What is under way counts: it is in memory too. */
  isSaturated(events: number, bytes: number): boolean {
    const { eventsMax, bytesMax } = this.options;
    const waiting = this.pending.length + (this.active?.rows.length ?? 0);
    return waiting + events > eventsMax || this.pendingBytes + (this.active?.bytes ?? 0) + bytes > bytesMax;
  }

  /**
   * Resolves with the `seq` up to which everything is durable and promised: all that was appended before, and what came while it
   * was written. Rejects with the error of the medium; the rows stay, in order, for the next flush.
   */
  flush(): Promise<number> {
    if (this.barrier !== null) return this.barrier;
    if (this.active === null && !this.isUnpromised()) return Promise.resolve(this.durableSeq);
    this.disarm();
    const barrier = this.drainBehindBarrier();
    this.barrier = barrier;
    return barrier;
  }

  /** From now on nothing is taken; what has been taken is still written by `drain`. */
  closeAdmission(): void {
    if (this.admission === 'open') this.admission = 'closing';
  }

  /** The last flush. After a failure the rows are still there, and it may be called again. */
  async drain(): Promise<void> {
    this.closeAdmission();
    await this.flush();
    this.disarm();
    this.admission = 'closed';
  }

  /** What waits is not wanted any more: the log itself is being removed. A write under way is not called back. */
  discard(): void {
    this.disarm();
    this.admission = 'closed';
    this.pending = [];
    this.pendingBytes = 0;
  }

  get isAdmitting(): boolean {
    return this.admission === 'open';
  }

  /** The last `seq` that is durable; -1: none. */
  get durable(): number {
    return this.durableSeq;
  }

  status(): WriteBehindStatus {
    return {
      state: this.state(),
      pending: this.pending.length,
      active: this.active?.rows.length ?? 0,
      pendingBytes: this.pendingBytes,
      timerArmed: this.timer !== null,
      deadlineExpired: this.deadlineExpired,
      automaticPaused: this.automaticPaused,
      barrier: this.barrier !== null,
      lastError: this.lastError,
      durableSeq: this.durableSeq,
      barrierSeq: this.barrierSeq,
      revision: this.revision,
    };
  }

  /** Whether a flush has something to write, if only its promise. */
  private isUnpromised(): boolean {
    if (this.admission === 'closed') return false;
    return this.pending.length > 0 || this.durableSeq > this.barrierSeq;
  }

  private state(): WriteBehindStatus['state'] {
    if (this.admission === 'closed') return 'closed';
    if (this.barrier !== null) return 'barrier';
    if (this.active !== null) return 'active';
    if (this.pending.length === 0) return 'idle';
    return this.automaticPaused ? 'paused' : 'waiting';
  }

  private arm(): void {
    this.timer = this.ports.after(this.options.delayMs, () => this.onTimer());
  }

  private disarm(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  private onTimer(): void {
    this.timer = null;
    if (this.active !== null) this.deadlineExpired = true;
    else this.writeInBackground();
  }

  private writeInBackground(): void {
    this.activeDone = this.writePrefix(false).then(
      () => this.goOn(),
      (error: unknown) => this.pause(error),
    );
  }

  /** After a write that succeeded, unless a flush has taken over. */
  private goOn(): void {
    if (this.barrier !== null || this.pending.length === 0 || !this.deadlineExpired) return;
    this.deadlineExpired = false;
    this.writeInBackground();
  }

  private pause(error: unknown): void {
    this.disarm();
    this.automaticPaused = true;
    this.ports.onFailure(error);
  }

  /** Takes everything that waits; what comes later is the next batch. A failed batch goes back to the head, in its order. */
  private async writePrefix(barrier: boolean): Promise<void> {
    const batch: Batch = { rows: this.pending, bytes: this.pendingBytes };
    this.active = batch;
    this.pending = [];
    this.pendingBytes = 0;
    this.deadlineExpired = false;
    let revision: string;
    try {
      ({ revision } = await this.ports.write(batch.rows, barrier));
    } catch (error) {
      this.active = null;
      this.pending = batch.rows.concat(this.pending);
      this.pendingBytes += batch.bytes;
      this.lastError = error;
      throw error;
    }
    this.active = null;
    this.succeed(batch.rows, revision, barrier);
  }

  private succeed(rows: readonly SessionRow[], revision: string, barrier: boolean): void {
    this.revision = revision;
    this.lastError = null;
    const last = rows.at(-1);
    if (last !== undefined) this.durableSeq = last.seq;
    if (barrier) this.barrierSeq = this.durableSeq;
    if (last !== undefined) this.ports.onDurable(this.durableSeq);
  }

  private async drainBehindBarrier(): Promise<number> {
    // the write under way is not ours: should it fail, its rows are at the head again and ours to write
    if (this.active !== null) await this.activeDone;
    try {
      while (this.isUnpromised()) await this.writePrefix(true);
    } catch (error) {
      this.automaticPaused = true;
      this.barrier = null;
      throw error;
    }
    // in the job that saw the emptiness: what is appended from here on has a window of its own
    this.barrier = null;
    this.automaticPaused = false;
    return this.durableSeq;
  }
}
