import type { PolicyAnnotations } from '../core/annotations.js';
import type { EngineAnswer } from '../core/decide.js';
import type { ApprovalFacts } from '../core/obligations.js';
import type { PolicyRequest } from '../core/policy-types.js';
import type { PolicyProblem } from './policy-problem.js';
import type { PolicySet } from './policy-set.js';

/** A policy set parsed and ready inside an engine. */
export interface PreparedSet {
  readonly set: PolicySet;
  readonly annotations: ReadonlyMap<string, PolicyAnnotations>;
  /** One request, ready to be evaluated with any votes. Neither call throws; what fails is an answer. */
  evaluation(request: PolicyRequest): (approvals: ApprovalFacts) => EngineAnswer;
}

/**
 * A two-valued policy engine with a set in force and a place to prepare the next one. Synchronous and without a clock: whoever
 * calls it keeps it off the event loop and limits its time.
 */
export abstract class PolicyEngine {
  /** Name and version, recorded with every decision. */
  abstract readonly version: string;

  /** The set in force, or null before the first one. */
  abstract readonly active: PreparedSet | null;

  /** True once the engine cannot be trusted any more. It then fails every evaluation and accepts no set. */
  abstract readonly dead: boolean;

  /** Prepares the set beside the one in force and swaps only when that worked. The answer is why it did not: empty means swapped. */
  abstract activate(set: PolicySet): readonly PolicyProblem[];

  /** Evaluates one known forbid, one known permit and one known question; true when all answers are right. */
  abstract selfTest(): boolean;
}
