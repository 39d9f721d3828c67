import type { Schema } from '@cedar-policy/cedar-wasm/nodejs';
import type { Cedar } from './cedar-module.js';
import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { CedarSchema } from './schema.js';
import { located } from './split-policies.js';
import type { SplitPolicy } from './split-policies.js';

/**
 * Strict validation of all policies against the schema. Warnings are problems too: a policy that can never apply, or that hides
 * its text, is not what its author meant.
 */
export function validatePolicies(cedar: Cedar, policies: readonly SplitPolicy[], schema: CedarSchema): PolicyProblem[] {
  const keyed = new Map(policies.map((policy, index) => [keyOf(policy, index, policies), policy]));
  const answer = cedar.validate({
    schema: schema as unknown as Schema,
    policies: { staticPolicies: Object.fromEntries([...keyed].map(([key, { text }]) => [key, text])) },
    validationSettings: { mode: 'strict' },
  });
  if (answer.type === 'failure') {
    return answer.errors.map((error) => problem('schema', located(error, '')));
  }
  const ofPolicies = [...answer.validationErrors, ...answer.validationWarnings].map(({ policyId, error }) => {
    const policy = keyed.get(policyId);
    return problem('validation', located(error, policy?.text ?? '', policy?.line), {
      policyId,
      ...(policy !== undefined && { file: policy.file }),
    });
  });
  return [...ofPolicies, ...answer.otherWarnings.map((warning) => problem('validation', located(warning, '')))];
}

/** The policy's own id, or a number that names it well enough where it has none or shares it. */
function keyOf(policy: SplitPolicy, index: number, all: readonly SplitPolicy[]): string {
  const id = idOf(policy);
  const own = id !== null && all.findIndex((other) => idOf(other) === id) === index;
  return own ? id : `policy ${index + 1} of the set`;
}

function idOf({ reading }: SplitPolicy): string | null {
  return reading.annotations.find(([name]) => name === 'id')?.[1] ?? null;
}
