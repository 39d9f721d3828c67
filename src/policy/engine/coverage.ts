import type { Schema } from '@cedar-policy/cedar-wasm/nodejs';
import type { Cedar } from './cedar-module.js';
import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { UnattendedPermit } from './policy-set.js';
import type { CedarSchema, GovernedCapability } from './schema.js';
import { ACTION_TYPE, RESOURCE_TYPE, schemaOfActions } from './schema.js';
import type { LintedPolicy } from './split-policies.js';

export interface Coverage {
  readonly problems: readonly PolicyProblem[];
  readonly unattended: readonly UnattendedPermit[];
}

/**
 * Decision 33: about every capability of risk high or critical people must be able to be asked, that is, at least one forbid
 * they can lift may apply to it; or a permit says `@unattended("reason")`, which is reported.
 */
export function coverageOf(
  cedar: Cedar,
  policies: readonly LintedPolicy[],
  schema: CedarSchema,
  capabilities: readonly GovernedCapability[],
): Coverage {
  const problems: PolicyProblem[] = [];
  const unattended: UnattendedPermit[] = [];
  for (const { name, risk } of capabilities) {
    if (risk !== 'high' && risk !== 'critical') continue;
    const reaches = (policy: LintedPolicy): boolean => canApply(cedar, policy, name, schema);
    const permits = policies.filter(({ annotations }) => annotations.unattended !== null).filter(reaches);
    for (const { annotations } of permits) {
      unattended.push({ capability: name, policyId: annotations.id, reason: annotations.unattended ?? '' });
    }
    if (permits.length > 0 || policies.filter(({ annotations }) => annotations.ask !== null).some(reaches)) continue;
    const message = `${name} has risk ${risk}, but no forbid with @on_deny can apply to it and no permit says @unattended("reason")`;
    problems.push(problem('nobody_asked', message));
  }
  return { problems, unattended };
}

/** Whether a policy can ever have a say about a capability: its scope, and the type checker's word on its conditions. */
function canApply(cedar: Cedar, { text, reading }: LintedPolicy, capability: string, schema: CedarSchema): boolean {
  const { actions, resource, entities } = reading;
  if (actions !== null && !actions.includes(capability)) return false;
  if (resource !== null && (resource.type !== RESOURCE_TYPE || resource.id !== capability)) return false;
  const named = entities.filter(({ type }) => type === ACTION_TYPE).map(({ id }) => id);
  // The engine parses the schema each time, so it gets no more of it than the policy can need.
  const needed = schemaOfActions(schema, [...new Set([capability, ...named])]);
  const possible = cedar.getValidRequestEnvsPolicy(text, needed as unknown as Schema);
  return possible.type === 'success' && possible.actions.includes(`${ACTION_TYPE}::${JSON.stringify(capability)}`);
}
