import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import type { PolicyRequest } from '../core/policy-types.js';
import type { Cedar } from './cedar-module.js';
import { CedarEngine } from './cedar.engine.js';
import { checkPolicies } from './check-policies.js';
import { evaluateWith } from './evaluate.js';
import type { InputShape } from './input-shape.js';
import type { PreparedSet } from './policy-engine.js';
import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { CheckResult, PolicyCandidate, PolicySet } from './policy-set.js';
import type { GovernedCapability } from './schema.js';

/**
 * The whole check of a candidate: what can be read from its text, then its first use on this thread. Every shard is evaluated
 * with plain arguments, because what exhausts the engine's stack may be parsed without harm and only kill it then.
 */
export function checkCandidate(cedar: Cedar, candidate: PolicyCandidate): CheckResult {
  try {
    const checked = checkPolicies(cedar, candidate);
    if (!checked.ok) return checked;
    const problems = firstUse(new CedarEngine(cedar, 'trial'), checked.set, candidate);
    return problems.length === 0 ? checked : { ok: false, problems, warnings: checked.warnings };
  } catch {
    return {
      ok: false,
      problems: [problem('engine_crashed', 'the engine crashed while it read the policies')],
      warnings: [],
    };
  }
}

function firstUse(engine: CedarEngine, set: PolicySet, candidate: PolicyCandidate): readonly PolicyProblem[] {
  const refused = engine.activate(set);
  if (refused.length > 0) return refused;
  const failing = candidate.capabilities.flatMap((capability) => trialOf(engine.active, capability, set));
  if (engine.dead) return [problem('engine_crashed', 'the engine crashed while it evaluated the policies')];
  return failing;
}

/** Once with the required arguments only, once with all of them. */
function trialOf(prepared: PreparedSet | null, capability: GovernedCapability, set: PolicySet): PolicyProblem[] {
  const shape = set.capabilities[capability.name]?.shape;
  if (shape === undefined) return [];
  const errors = [false, true].flatMap((all) => {
    const input = plainValue(shape, all) as JsonObject;
    return evaluateWith(prepared, requestAbout(capability, input)).engineErrors;
  });
  return [...new Set(errors)].map((code) =>
    problem('self_test', `evaluating ${capability.name} with plain arguments fails: ${code}`),
  );
}

function plainValue(shape: InputShape, all: boolean): JsonValue {
  switch (shape.kind) {
    case 'string':
      return '';
    case 'integer':
      return 0;
    case 'boolean':
      return false;
    case 'set':
      return all ? [plainValue(shape.element, all)] : [];
    case 'record': {
      const members = Object.entries(shape.members).filter(([, member]) => all || member.required);
      return Object.fromEntries(members.map(([key, member]) => [key, plainValue(member.shape, all)]));
    }
  }
}

function requestAbout({ name, version, risk, effect }: GovernedCapability, input: JsonObject): PolicyRequest {
  return {
    tenant: 'self-test',
    sub: 'self-test',
    act: 'self-test',
    roles: [],
    capability: name,
    capabilityVersion: version,
    risk,
    effect,
    input,
    approvals: {},
    attempt: 1,
    reasoningPresent: false,
    allowDuplicateIntent: false,
    nowMs: 0,
  };
}
