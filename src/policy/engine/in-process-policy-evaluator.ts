import type { CanonicalRequest } from '../core/canonical-request.js';
import type { PolicyDecision, PolicyRequest } from '../core/policy-types.js';
import { loadCedar } from './cedar-module.js';
import type { Cedar } from './cedar-module.js';
import { CedarEngine } from './cedar.engine.js';
import { checkCandidate } from './check-candidate.js';
import { evaluateWith } from './evaluate.js';
import { PolicyEvaluator, refusedStandby, type Standby } from './policy-evaluator.js';
import { problem } from './policy-problem.js';
import type { PolicyCandidate, PolicySet } from './policy-set.js';
import { acceptedReport, refusedReport } from './policy-set.js';

/**
 * Evaluation on the caller's own thread, for tests and tools. It has no time limit and cannot be rebuilt: policies are checked by
 * the very instance that will use them, and once that is dead everything is denied.
 */
export class InProcessPolicyEvaluator extends PolicyEvaluator {
  private stopped = false;

  private constructor(
    private readonly cedar: Cedar,
    private readonly engine: CedarEngine,
  ) {
    super();
  }

  /** Two on one thread need two names: parsed sets are the thread's. */
  static async create(name = 'serving'): Promise<InProcessPolicyEvaluator> {
    const cedar = await loadCedar();
    return new InProcessPolicyEvaluator(cedar, new CedarEngine(cedar, name));
  }

  override get active(): PolicySet | null {
    return this.stopped ? null : (this.engine.active?.set ?? null);
  }

  override async decide({ text, digest }: CanonicalRequest): Promise<PolicyDecision> {
    const request = JSON.parse(text) as PolicyRequest;
    return { ...evaluateWith(this.stopped ? null : this.engine.active, request), requestDigest: digest };
  }

  /** What cannot be parsed again when it enters is seen then: the engine has accepted it a moment before. */
  override async prepare(candidate: PolicyCandidate): Promise<Standby> {
    if (this.engine.dead) return refusedStandby(refusedReport([problem('engine_crashed', 'the engine is dead')]));
    const checked = checkCandidate(this.cedar, candidate);
    if (!checked.ok) {
      if (checked.problems.some(({ code }) => code === 'engine_crashed')) this.engine.declareDead();
      return refusedStandby(refusedReport(checked.problems, checked.warnings));
    }
    let waiting = true;
    return {
      report: acceptedReport(checked),
      enter: () => {
        if (!waiting) return;
        waiting = false;
        const problems = this.engine.activate(checked.set);
        if (problems.length > 0) throw new Error('the engine refuses what it accepted a moment ago');
      },
      leave: async () => {
        waiting = false;
      },
    };
  }

  override async probe(): Promise<boolean> {
    return !this.stopped && this.engine.active !== null && this.engine.selfTest();
  }

  override async stop(): Promise<void> {
    this.stopped = true;
  }
}
