import type { CanonicalRequest } from '../core/canonical-request.js';
import type { PolicyDecision } from '../core/policy-types.js';
import { checkInThread } from './check-in-thread.js';
import type { Undigested } from './evaluate.js';
import { engineErrorDecision } from './evaluate.js';
import { PolicyEvaluator, refusedStandby, type Standby } from './policy-evaluator.js';
import { problem } from './policy-problem.js';
import type { PolicyCandidate, PolicySet } from './policy-set.js';
import { acceptedReport, refusedReport } from './policy-set.js';
import type { LostCode } from './serving-thread.js';
import { ServingThread } from './serving-thread.js';
import type { CompleteOptions, PolicyThreadOptions } from './thread-options.js';
import { completeOptions } from './thread-options.js';
import type { Answer } from './worker-messages.js';

/**
 * Evaluation off the event loop, on one thread. The standby slot is a second thread: a candidate is checked on a thread that is
 * thrown away, prepared on a fresh one, and becomes the serving one in a single assignment. So neither parsing a set nor a parser
 * that dies of it ever delays or harms a decision, and the old thread still answers what it was asked.
 *
 * A lost thread is replaced with the same set; until then everything is denied.
 */
export class PolicyThread extends PolicyEvaluator {
  private readonly options: CompleteOptions;
  private inForce: PolicySet | null = null;
  private serving: ServingThread | null = null;
  private stopped = false;
  /** Loads and restarts happen one after the other. */
  private changes: Promise<unknown> = Promise.resolve();

  constructor(options: PolicyThreadOptions) {
    super();
    this.options = completeOptions(options);
  }

  override get active(): PolicySet | null {
    return this.inForce;
  }

  override async decide({ text, digest }: CanonicalRequest): Promise<PolicyDecision> {
    return { ...(await this.evaluate(text)), requestDigest: digest };
  }

  override prepare(candidate: PolicyCandidate): Promise<Standby> {
    return this.inTurn(() => this.prepareSet(candidate));
  }

  override async probe(): Promise<boolean> {
    const answered = await this.serving?.ask(null);
    return answered?.ok === true && answered.answer === true;
  }

  override async stop(): Promise<void> {
    this.stopped = true;
    const { serving } = this;
    this.serving = null;
    await serving?.stop();
    await this.changes;
  }

  private async evaluate(text: string): Promise<Undigested> {
    const { serving } = this;
    if (serving === null) return engineErrorDecision([this.absence()], this.inForce);
    const answered = await serving.ask(text);
    if (!answered.ok) return engineErrorDecision([answered.code], serving.set);
    return isDecision(answered.answer) ? answered.answer : engineErrorDecision(['impossible_answer'], serving.set);
  }

  private absence(): LostCode | 'no_active_set' {
    if (this.stopped) return 'engine_stopped';
    return this.inForce === null ? 'no_active_set' : 'engine_restarting';
  }

  private async prepareSet(candidate: PolicyCandidate): Promise<Standby> {
    const checked = await checkInThread(this.options.entry, candidate, this.options.startTimeoutMs);
    if (!checked.ok) return refusedStandby(refusedReport(checked.problems, checked.warnings));
    const started = await this.startServing(checked.set);
    if (!(started instanceof ServingThread)) return refusedStandby(refusedReport(started, checked.warnings));
    if (this.stopped) {
      return refusedStandby(refusedReport([problem('engine_crashed', 'policy evaluation has been stopped')]));
    }
    let standing: ServingThread | null = started;
    const taken = (): ServingThread | null => {
      const thread = standing;
      standing = null;
      return thread;
    };
    return {
      report: acceptedReport(checked),
      enter: () => this.enter(taken()),
      leave: async () => taken()?.stop(),
    };
  }

  private enter(started: ServingThread | null): void {
    if (started === null) return;
    if (this.stopped) {
      void started.stop();
      return;
    }
    const previous = this.serving;
    this.inForce = started.set;
    // A thread that died while it stood ready is replaced like one that dies later; until then everything is denied.
    this.serving = started.isLost ? null : started;
    if (started.isLost) void this.inTurn(() => this.restart());
    void previous?.retire();
  }

  private lose(lost: ServingThread, code: LostCode): void {
    this.options.onLost(code);
    if (this.serving !== lost) return;
    this.serving = null;
    void this.inTurn(() => this.restart());
  }

  private async restart(): Promise<void> {
    if (this.stopped || this.serving !== null || this.inForce === null) return;
    const started = await this.startServing(this.inForce);
    if (started instanceof ServingThread) this.serving = started;
    else if (!this.stopped)
      setTimeout(() => void this.inTurn(() => this.restart()), this.options.restartDelayMs).unref();
  }

  /** A thread that was still starting when everything was stopped is stopped too. */
  private async startServing(set: PolicySet) {
    const started = await ServingThread.start(set, this.options, (lost, code) => this.lose(lost, code));
    if (this.stopped && started instanceof ServingThread) await started.stop();
    return started;
  }

  private inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.changes.then(change);
    this.changes = turn.catch(() => undefined);
    return turn;
  }
}

const OUTCOMES: readonly unknown[] = ['allow', 'deny', 'requires_confirmation'];

function isDecision(answer: Answer): answer is Undigested {
  return typeof answer === 'object' && OUTCOMES.includes((answer as { outcome?: unknown } | null)?.outcome);
}
