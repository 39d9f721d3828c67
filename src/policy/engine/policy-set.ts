import type { PolicyAnnotations } from '../core/annotations.js';
import type { ObligationDefaults } from '../core/obligations.js';
import type { FactNeeds } from '../core/facts.js';
import type { RecordShape } from './input-shape.js';
import type { PolicyProblem } from './policy-problem.js';
import type { CedarSchema, GovernedCapability } from './schema.js';

export interface PolicyFile {
  /** The file's name without its folder. */
  readonly name: string;
  readonly text: string;
}

/** Everything a policy set is made from. Plain data: it travels to the thread that checks it. */
export interface PolicyCandidate {
  readonly files: readonly PolicyFile[];
  readonly capabilities: readonly GovernedCapability[];
  readonly approverGroups: readonly string[];
  readonly defaults: ObligationDefaults;
}

export interface CheckedPolicy {
  readonly annotations: PolicyAnnotations;
  readonly text: string;
  /** The actions its scope names; null: it is global and stands in every shard. */
  readonly actions: readonly string[] | null;
}

/** What an evaluation about one capability needs of it. */
export interface PreparedCapability {
  readonly version: string;
  readonly shape: RecordShape;
  readonly needs: FactNeeds;
}

/** A policy set that passed every check. Plain data, ready to be preparsed by any engine thread. */
export interface PolicySet {
  /** `sha256:…` over canonical JSON of `{policies by id, schema, cedar version, defaults}`: all that an answer depends on. */
  readonly revision: string;
  /** `sha256:…` over canonical JSON of the schema. */
  readonly schemaDigest: string;
  readonly engineVersion: string;
  readonly policies: readonly CheckedPolicy[];
  readonly schema: CedarSchema;
  readonly capabilities: Readonly<Record<string, PreparedCapability>>;
  readonly approverGroups: readonly string[];
  readonly defaults: ObligationDefaults;
}

/** A permit that lets a capability of risk high or critical run without anybody being asked (decision 33). */
export interface UnattendedPermit {
  readonly capability: string;
  readonly policyId: string;
  readonly reason: string;
}

/** What became of one attempt to put a policy set in force. */
export interface LoadReport {
  /** False: the set that was in force before stays in force. */
  readonly accepted: boolean;
  /** Of the set now put in force; null when it was refused. */
  readonly revision: string | null;
  readonly schemaDigest: string | null;
  /** Of the engine that checked it; absent when it was refused. */
  readonly engineVersion?: string;
  readonly policyIds: readonly string[];
  /** Why it was refused: every problem that could be found. */
  readonly problems: readonly PolicyProblem[];
  /** What the operator should know although the set is good. */
  readonly warnings: readonly PolicyProblem[];
  readonly unattended: readonly UnattendedPermit[];
}

export type CheckResult =
  | {
      readonly ok: true;
      readonly set: PolicySet;
      readonly warnings: readonly PolicyProblem[];
      readonly unattended: readonly UnattendedPermit[];
    }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[]; readonly warnings: readonly PolicyProblem[] };

export function refusedReport(problems: readonly PolicyProblem[], warnings: readonly PolicyProblem[] = []): LoadReport {
  return { accepted: false, revision: null, schemaDigest: null, policyIds: [], problems, warnings, unattended: [] };
}

export function acceptedReport(checked: CheckResult & { readonly ok: true }): LoadReport {
  const { set, warnings, unattended } = checked;
  return {
    accepted: true,
    revision: set.revision,
    schemaDigest: set.schemaDigest,
    engineVersion: set.engineVersion,
    policyIds: set.policies.map(({ annotations }) => annotations.id).toSorted(),
    problems: [],
    warnings,
    unattended,
  };
}
