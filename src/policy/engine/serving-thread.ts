import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { PolicySet } from './policy-set.js';
import type { CompleteOptions } from './thread-options.js';
import { startThread } from './thread-options.js';
import type { Answer, FromThread, Job } from './worker-messages.js';

/** Why there is no answer, in the words of `engineErrors`. */
export type LostCode =
  | 'evaluation_timeout'
  | 'evaluation_overloaded'
  | 'engine_crashed'
  | 'engine_restarting'
  | 'engine_stopped'
  | 'impossible_answer';

export type Answered = { readonly ok: true; readonly answer: Answer } | { readonly ok: false; readonly code: LostCode };

interface Waiting {
  readonly job: Job;
  readonly resolve: (answered: Answered) => void;
}

/** Small, so that a slow request holds up few others; two on the way, so that the thread never waits for us. */
const BATCH_MAX = 16;
const BATCHES_MAX = 2;

/**
 * One engine thread with one policy set. Requests wait here and go over in batches; answers come back in order. A thread that is
 * silent for too long, crashes, answers nonsense or says that its engine is dead is lost: everything that waits is answered
 * with a code at once, and `onLost` is told once.
 */
export class ServingThread {
  private readonly waiting: Waiting[] = [];
  private readonly inFlight: (readonly Waiting[])[] = [];
  private watchdog: NodeJS.Timeout | null = null;
  private lost: LostCode | null = null;
  private onIdle: (() => void) | null = null;

  private constructor(
    private readonly thread: Worker,
    readonly set: PolicySet,
    private readonly options: CompleteOptions,
    private readonly onLost: (lost: ServingThread, code: LostCode) => void,
  ) {}

  /** Resolves with a thread that is ready to serve, or with the reasons why there is none. Never rejects. */
  static async start(
    set: PolicySet,
    options: CompleteOptions,
    onLost: (lost: ServingThread, code: LostCode) => void,
  ): Promise<ServingThread | readonly PolicyProblem[]> {
    const thread = startThread(options.entry, { role: 'serve', set });
    const problems = await readiness(thread, options.startTimeoutMs);
    if (problems.length > 0) {
      await thread.terminate();
      return problems;
    }
    const serving = new ServingThread(thread, set, options, onLost);
    thread.on('message', (message: FromThread) => serving.receive(message));
    thread.on('error', () => serving.lose('engine_crashed'));
    thread.on('messageerror', () => serving.lose('impossible_answer'));
    thread.on('exit', () => serving.lose('engine_crashed'));
    return serving;
  }

  /** It answers nothing any more. */
  get isLost(): boolean {
    return this.lost !== null;
  }

  /** Never rejects. */
  ask(job: Job): Promise<Answered> {
    if (this.lost !== null) return Promise.resolve({ ok: false, code: 'engine_restarting' });
    if (this.waiting.length >= this.options.queueMax)
      return Promise.resolve({ ok: false, code: 'evaluation_overloaded' });
    return new Promise((resolve) => {
      this.waiting.push({ job, resolve });
      this.send();
    });
  }

  /** Answers what it has been asked, then ends. Nothing may be asked of it any more. */
  async retire(): Promise<void> {
    if (this.lost === null && this.inFlight.length > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    await this.stop();
  }

  /** Ends now; what waits is answered with `engine_stopped`. */
  async stop(): Promise<void> {
    this.end('engine_stopped', 'engine_stopped');
    await this.thread.terminate();
  }

  private send(): void {
    while (this.inFlight.length < BATCHES_MAX && this.waiting.length > 0) {
      const batch = this.waiting.splice(0, BATCH_MAX);
      this.inFlight.push(batch);
      this.thread.postMessage(
        batch.map(({ job }) => job),
        [],
      );
      if (this.watchdog === null) this.watchdog = setTimeout(() => this.grace(), this.options.evaluationTimeoutMs);
    }
  }

  /** A busy event loop fires the timer before it reads the answers that are already there, so they get one more turn. */
  private grace(): void {
    const before = this.inFlight[0];
    setImmediate(() => {
      if (this.lost === null && before !== undefined && this.inFlight[0] === before) this.lose('evaluation_timeout');
    });
  }

  private receive(message: FromThread): void {
    if (this.lost !== null) return;
    const batch = this.inFlight.shift();
    if (message.kind !== 'answers' || batch === undefined || message.answers.length !== batch.length) {
      for (const { resolve } of batch ?? []) resolve({ ok: false, code: 'impossible_answer' });
      this.lose('impossible_answer');
      return;
    }
    batch.forEach(({ resolve }, index) => resolve({ ok: true, answer: message.answers[index] as Answer }));
    if (message.dead) this.lose('engine_crashed');
    else this.proceed();
  }

  private proceed(): void {
    this.send();
    if (this.inFlight.length > 0) {
      this.watchdog?.refresh();
      return;
    }
    this.disarm();
    this.onIdle?.();
  }

  private lose(code: LostCode): void {
    if (this.lost !== null) return;
    this.end(code, 'engine_restarting');
    void this.thread.terminate();
    this.onLost(this, code);
  }

  private end(inFlightCode: LostCode, waitingCode: LostCode): void {
    this.lost ??= inFlightCode;
    this.disarm();
    for (const { resolve } of this.inFlight.splice(0).flat()) resolve({ ok: false, code: inFlightCode });
    for (const { resolve } of this.waiting.splice(0)) resolve({ ok: false, code: waitingCode });
    this.onIdle?.();
  }

  private disarm(): void {
    if (this.watchdog !== null) clearTimeout(this.watchdog);
    this.watchdog = null;
  }
}

/** Empty when the thread says that it is ready; whatever else it does first is the problem. */
async function readiness(thread: Worker, timeoutMs: number): Promise<readonly PolicyProblem[]> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const crash = (message: string): readonly PolicyProblem[] => [problem('engine_crashed', message)];
  const said = once(thread, 'message', { signal }).then(([message]) => {
    const { kind, problems } = message as { kind?: unknown; problems?: readonly PolicyProblem[] };
    return kind === 'ready' && problems !== undefined
      ? problems
      : crash('the policy thread answered nonsense as it started');
  });
  const ended = once(thread, 'exit', { signal }).then(() => crash('the policy thread ended as it started'));
  const slow = delay(timeoutMs, crash(`the policy thread was not ready within ${timeoutMs} ms`), { signal });
  try {
    return await Promise.race([said, ended, slow]);
  } catch {
    return crash('the policy thread crashed as it started');
  } finally {
    waiting.abort();
    await Promise.allSettled([said, ended, slow]);
  }
}
