import { decide, engineErrorVerdict } from '../core/decide.js';
import type { PolicyDecision, PolicyRequest } from '../core/policy-types.js';
import type { PreparedSet } from './policy-engine.js';
import type { PolicySet } from './policy-set.js';

/** A decision that lacks only the digest of the request it answers. */
export type Undigested = Omit<PolicyDecision, 'requestDigest'>;

/** What stands in a record where no policy set was in force. */
export const NO_SET = 'none';

/** The whole of `decide()`, all rounds, against a prepared set; null stands for no set in force. Never throws. */
export function evaluateWith(prepared: PreparedSet | null, request: PolicyRequest): Undigested {
  if (prepared === null) return engineErrorDecision(['no_active_set'], null);
  const { set, annotations } = prepared;
  return { ...decide(request, prepared.evaluation(request), annotations, set.defaults), ...stampOf(set) };
}

/** The denial for what never reached the engine, or never came back. */
export function engineErrorDecision(errors: readonly string[], set: PolicySet | null): Undigested {
  return { ...engineErrorVerdict(errors), ...stampOf(set) };
}

function stampOf(set: PolicySet | null): Pick<PolicyDecision, 'policyRevision' | 'schemaDigest' | 'engineVersion'> {
  return {
    policyRevision: set?.revision ?? NO_SET,
    schemaDigest: set?.schemaDigest ?? NO_SET,
    engineVersion: set?.engineVersion ?? NO_SET,
  };
}
