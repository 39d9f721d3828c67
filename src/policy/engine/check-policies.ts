import { canonicalJson } from '../../domain/json/canonical-json.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import { readAnnotations } from '../core/annotations.js';
import { digestOfText } from '../core/canonical-request.js';
import type { FactNeeds } from '../core/facts.js';
import { NO_FACTS } from '../core/facts.js';
import type { Cedar } from './cedar-module.js';
import { engineVersionOf } from './cedar-module.js';
import { coverageOf } from './coverage.js';
import { factNeeds, lintLimits } from './fact-needs.js';
import { lintQuestion, personalReads, unknownCapabilities } from './lint-meaning.js';
import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { CheckResult, PolicyCandidate, PolicySet } from './policy-set.js';
import type { CedarSchema, SchemaRead } from './schema.js';
import { schemaFrom } from './schema.js';
import type { LintedPolicy, SplitPolicy } from './split-policies.js';
import { splitPolicies } from './split-policies.js';
import { validatePolicies } from './validate-policies.js';

/**
 * Everything that can be said about a candidate without evaluating it: syntax, annotations, ids, strict validation, meaning, and
 * whether people are asked about what is dangerous. The answer lists every problem. Runs on the engine's thread and may kill its instance:
 * only texts that passed `scanPolicyText`, and only on an instance that is thrown away.
 */
export function checkPolicies(cedar: Cedar, candidate: PolicyCandidate): CheckResult {
  const split = candidate.files.map((file) => splitPolicies(cedar, file));
  const policies = split.flatMap((file) => file.policies);
  const problems: PolicyProblem[] = split.flatMap((file) => file.problems);
  if (policies.length === 0 && problems.length === 0) problems.push(problem('no_policies', 'there is not one policy'));
  const linted = lintAnnotations(policies, candidate.approverGroups, problems);
  problems.push(...duplicateIds(linted));
  const needs = factNeeds(policies, linted, candidate.capabilities);
  const schema = readSchema(candidate, needs, problems);
  if (schema === null) return { ok: false, problems, warnings: [] };
  problems.push(...validatePolicies(cedar, policies, schema.schema));
  problems.push(...unknownCapabilities(policies, candidate.capabilities));
  problems.push(...lintLimits(linted, candidate.capabilities, schema.shapes));
  const meant = linted.map(lintQuestion);
  const judged = meant.map(({ policy }) => policy);
  problems.push(...meant.flatMap((meaning) => meaning.problems));
  // Who can be asked is only known once every policy is understood.
  const coverage = coverageOf(cedar, judged, schema.schema, candidate.capabilities);
  if (problems.length === 0) problems.push(...coverage.problems);
  const warnings = [
    ...meant.flatMap((meaning) => meaning.warnings),
    ...personalReads(judged, candidate.capabilities),
    ...unreadableArguments(schema),
  ];
  if (problems.length > 0) return { ok: false, problems, warnings };
  return {
    ok: true,
    set: setFrom(cedar, judged, { ...schema, needs }, candidate),
    warnings,
    unattended: coverage.unattended,
  };
}

type Needs = ReadonlyMap<string, FactNeeds>;

function lintAnnotations(
  policies: readonly SplitPolicy[],
  approverGroups: readonly string[],
  problems: PolicyProblem[],
): LintedPolicy[] {
  const linted: LintedPolicy[] = [];
  for (const policy of policies) {
    const { effect, annotations } = policy.reading;
    const read = readAnnotations(effect, annotations, approverGroups);
    if (read.ok) linted.push({ ...policy, annotations: read.annotations });
    else {
      const policyId = annotations.find(([name]) => name === 'id')?.[1];
      const where = { file: policy.file, ...(typeof policyId === 'string' && { policyId }) };
      problems.push(
        ...read.problems.map(({ annotation, message }) => problem('annotation', `@${annotation} ${message}`, where)),
      );
    }
  }
  return linted;
}

function duplicateIds(policies: readonly LintedPolicy[]): PolicyProblem[] {
  const seen = new Map<string, string>();
  const problems: PolicyProblem[] = [];
  for (const { annotations, file } of policies) {
    const first = seen.get(annotations.id);
    if (first === undefined) seen.set(annotations.id, file);
    else
      problems.push(problem('duplicate_id', `the id is already used in ${first}`, { file, policyId: annotations.id }));
  }
  return problems;
}

function readSchema(
  { capabilities, approverGroups }: PolicyCandidate,
  needs: Needs,
  problems: PolicyProblem[],
): SchemaRead | null {
  const names = capabilities.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  problems.push(...twice.map((name) => problem('duplicate_capability', `two capabilities are named ${name}`)));
  return twice.length > 0 ? null : schemaFrom(capabilities, approverGroups, needs);
}

function unreadableArguments({ unreadable }: SchemaRead): PolicyProblem[] {
  return unreadable.map(({ capability, pointers }) =>
    problem('unreadable_arguments', `policies about ${capability} cannot read ${pointers.join(', ')}`),
  );
}

function setFrom(
  cedar: Cedar,
  policies: readonly LintedPolicy[],
  { schema, shapes, needs }: SchemaRead & { readonly needs: Needs },
  { capabilities, approverGroups, defaults }: PolicyCandidate,
): PolicySet {
  const texts = Object.fromEntries(policies.map(({ annotations, text }) => [annotations.id, text]));
  const known = capabilities.map(
    ({ name, version }) =>
      [
        name,
        { version, shape: shapes[name] ?? { kind: 'record', members: {} }, needs: needs.get(name) ?? NO_FACTS },
      ] as const,
  );
  return {
    revision: digestOfJson({
      policies: texts,
      schema: jsonOf(schema),
      cedarVersion: cedar.getCedarVersion(),
      defaults: { ...defaults },
    }),
    schemaDigest: digestOfJson(jsonOf(schema)),
    engineVersion: engineVersionOf(cedar),
    policies: policies.map(({ annotations, text, reading }) => ({ annotations, text, actions: reading.actions })),
    schema,
    capabilities: Object.fromEntries(known),
    approverGroups,
    defaults,
  };
}

function jsonOf(schema: CedarSchema): JsonValue {
  return schema as unknown as JsonValue;
}

function digestOfJson(value: JsonValue): string {
  return digestOfText(canonicalJson(value));
}
