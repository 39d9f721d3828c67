import { FACT_NAMES, type FactNeeds, type LimitScope } from '../core/facts.js';
import type { Limit } from '../core/limits.js';
import type { InputShape, RecordShape } from './input-shape.js';
import { problem, type PolicyProblem } from './policy-problem.js';
import type { GovernedCapability } from './schema.js';
import type { LintedPolicy, SplitPolicy } from './split-policies.js';

/** What the policies that can have a say about each action read of the server's facts, by the action's name. */
export function factNeeds(
  policies: readonly SplitPolicy[],
  linted: readonly LintedPolicy[],
  capabilities: readonly GovernedCapability[],
): ReadonlyMap<string, FactNeeds> {
  return new Map(capabilities.map(({ name }) => [name, needsOf(name, policies, linted)] as const));
}

function needsOf(action: string, policies: readonly SplitPolicy[], linted: readonly LintedPolicy[]): FactNeeds {
  const roots = new Set(
    policies
      .filter((policy) => concerns(policy, action))
      // A policy that takes the whole context reads everything in it.
      .flatMap(({ reading }) => reading.contextPaths.map(([root = '']) => root)),
  );
  const facts = FACT_NAMES.filter((name) => roots.has(name) || roots.has(''));
  const counters: LimitScope[] = [];
  for (const { counter, by } of limitsOf(action, linted).map(({ limit }) => limit)) {
    if (!counters.some((known) => known.counter === counter)) counters.push({ counter, by });
  }
  return { facts, counters, run: counters.some(({ by }) => by.includes('run')) };
}

/** Limits that cannot mean anything: an argument that is no whole number, one counter counted in two ways. */
export function lintLimits(
  policies: readonly LintedPolicy[],
  capabilities: readonly GovernedCapability[],
  shapes: Readonly<Record<string, RecordShape>>,
): PolicyProblem[] {
  return capabilities.flatMap(({ name }) => {
    const limits = limitsOf(name, policies);
    const shape = shapes[name];
    return limits.flatMap(({ limit, policy }, index) => {
      const where = { file: policy.file, policyId: policy.annotations.id };
      const problems: PolicyProblem[] = [];
      if (limit.add !== null && shape !== undefined && kindAt(shape, limit.add) !== 'integer') {
        const argument = `input.${limit.add.join('.')}`;
        problems.push(problem('limit', `@limit adds ${argument}, which is no whole number of ${name}`, where));
      }
      const other = limits.slice(0, index).find((earlier) => earlier.limit.counter === limit.counter);
      if (other !== undefined && waysOf(other.limit) !== waysOf(limit)) {
        const message = `@limit counts ${limit.counter} of ${name} otherwise than ${other.policy.annotations.id} does`;
        problems.push(problem('limit', message, where));
      }
      return problems;
    });
  });
}

const waysOf = ({ by, add }: Limit): string => JSON.stringify([by, add]);

const concerns = ({ reading }: SplitPolicy, action: string): boolean =>
  reading.actions === null || reading.actions.includes(action);

interface LimitOfPolicy {
  readonly limit: Limit;
  readonly policy: LintedPolicy;
}

function limitsOf(action: string, policies: readonly LintedPolicy[]): LimitOfPolicy[] {
  return policies
    .filter((policy) => concerns(policy, action))
    .flatMap((policy) => policy.annotations.limits.map((limit) => ({ limit, policy })));
}

function kindAt(shape: RecordShape, path: readonly string[]): InputShape['kind'] | null {
  let at: InputShape = shape;
  for (const step of path) {
    const member: { readonly shape: InputShape } | undefined =
      at.kind === 'record' && Object.hasOwn(at.members, step) ? at.members[step] : undefined;
    if (member === undefined) return null;
    at = member.shape;
  }
  return at.kind;
}
