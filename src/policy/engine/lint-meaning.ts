import { parsePointer } from '../../domain/json/json-pointer.js';
import type { Ask } from '../core/annotations.js';
import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { GovernedCapability } from './schema.js';
import { RESOURCE_TYPE } from './schema.js';
import type { LintedPolicy, SplitPolicy } from './split-policies.js';

export interface Meaning {
  /** The policy as it is meant: what its text implies is added to its annotations. */
  readonly policy: LintedPolicy;
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyProblem[];
}

/** A misspelt capability is valid Cedar: the policy would silently never apply. */
export function unknownCapabilities(
  policies: readonly SplitPolicy[],
  capabilities: readonly GovernedCapability[],
): PolicyProblem[] {
  const known = new Set(capabilities.map(({ name }) => name));
  return policies.flatMap((policy) =>
    policy.reading.entities
      .filter(({ type, id }) => type === RESOURCE_TYPE && !known.has(id))
      .map(({ id }) =>
        problem('unknown_capability', `line ${policy.line}: no capability is named ${id}`, { file: policy.file }),
      ),
  );
}

/** A question whose answer nobody reads is valid Cedar too. */
export function lintQuestion(policy: LintedPolicy): Meaning {
  const { ask } = policy.annotations;
  if (ask === null) return { policy, problems: [], warnings: [] };
  const where = { file: policy.file, policyId: policy.annotations.id };
  if (!reads(policy, ['approvals', ask.group])) {
    const message = `asks ${ask.group} but never reads context.approvals of that group, so no vote can lift it`;
    return { policy, problems: [problem('never_lifted', message, where)], warnings: [] };
  }
  return { policy: withImpliedRule(policy, ask), problems: [], warnings: tooFewAsked(policy, ask, where) };
}

/**
 * A policy that looks at `includesRequester` counts no vote of the requester. Asking the requester all the same would only
 * waste the question, so the rule is taken as said.
 */
function withImpliedRule(policy: LintedPolicy, ask: Ask): LintedPolicy {
  if (ask.notRequester !== null || !reads(policy, ['approvals', ask.group, 'includesRequester'])) return policy;
  return { ...policy, annotations: { ...policy.annotations, ask: { ...ask, notRequester: true } } };
}

function tooFewAsked(policy: LintedPolicy, ask: Ask, where: { file: string; policyId: string }): PolicyProblem[] {
  const thresholds = policy.reading.voteThresholds.filter(({ group }) => group === ask.group);
  const needed = Math.max(0, ...thresholds.map(({ votes }) => votes));
  if (needed <= ask.quorum) return [];
  const message = `demands ${needed} votes of ${ask.group} but asks for ${ask.quorum}: say @quorum("${needed}")`;
  return [problem('never_lifted', message, where)];
}

/** Personal arguments a policy reads make its decisions impossible to replay after erasure. */
export function personalReads(
  policies: readonly LintedPolicy[],
  capabilities: readonly GovernedCapability[],
): PolicyProblem[] {
  const warnings: PolicyProblem[] = [];
  for (const policy of policies) {
    const { actions } = policy.reading;
    for (const { name, personal } of capabilities) {
      if (actions !== null && !actions.includes(name)) continue;
      for (const pointer of personal) {
        const path = ['input', ...(parsePointer(pointer) ?? []).filter((segment) => segment !== '*')];
        if (!reads(policy, path)) continue;
        const message = `reads the personal argument ${pointer} of ${name}; after erasure such decisions cannot be replayed`;
        warnings.push(problem('personal_argument', message, { file: policy.file, policyId: policy.annotations.id }));
      }
    }
  }
  return warnings;
}

/** True when the policy reads the place, something inside it, or all of something around it. */
function reads({ reading }: LintedPolicy, place: readonly string[]): boolean {
  return reading.contextPaths.some((path) =>
    place.every((segment, index) => path[index] === undefined || path[index] === segment),
  );
}
