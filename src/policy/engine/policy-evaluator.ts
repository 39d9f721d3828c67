import type { CanonicalRequest } from '../core/canonical-request.js';
import type { PolicyDecision } from '../core/policy-types.js';
import type { LoadReport, PolicyCandidate, PolicySet } from './policy-set.js';

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
   * Checks the candidate and puts it in force, from one decision to the next. A candidate with any problem leaves the set in
   * force where it is. Never rejects.
   */
  abstract load(candidate: PolicyCandidate): Promise<LoadReport>;

  /** True when the engine gives its known answers now. Never rejects. */
  abstract probe(): Promise<boolean>;

  /** Ends what runs; later decisions are denials. */
  abstract stop(): Promise<void>;
}
