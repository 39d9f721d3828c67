import type { CanonicalRequest } from '../core/canonical-request.js';
import type { PolicyDecision } from '../core/policy-types.js';
import type { LoadReport, PolicyCandidate, PolicySet } from './policy-set.js';

/** A set that stands ready. Whoever asked for it either lets it enter or lets it go; after one of both, both do nothing. */
export interface Standby {
  readonly report: LoadReport;
  /** Puts the set in force from one decision to the next; nothing where it was refused. */
  enter(): void;
  /** Gives back what it takes to stand ready. */
  leave(): Promise<void>;
}

export function refusedStandby(report: LoadReport): Standby {
  return { report, enter: () => undefined, leave: async () => undefined };
}

/**
 * Where policy is evaluated. A decision is always an answer: whatever fails (no set, a crash, a timeout, an overload) is a
 * denial with `engine_error` and says which in `engineErrors`.
 */
export abstract class PolicyEvaluator {
  /** The set in force; null: everything is denied. */
  abstract readonly active: PolicySet | null;

  /** Never rejects. */
  abstract decide(request: CanonicalRequest): Promise<PolicyDecision>;

  /**
   * Checks the candidate and makes it ready beside the set in force, which goes on deciding. Never rejects: a candidate with
   * any problem is a report that says so.
   */
  abstract prepare(candidate: PolicyCandidate): Promise<Standby>;

  /** Checks the candidate and puts it in force at once. Never rejects. */
  async load(candidate: PolicyCandidate): Promise<LoadReport> {
    const standby = await this.prepare(candidate);
    standby.enter();
    return standby.report;
  }

  /** True when the engine gives its known answers now. Never rejects. */
  abstract probe(): Promise<boolean>;

  /** Ends what runs; later decisions are denials. */
  abstract stop(): Promise<void>;
}
