import type { OnApplicationShutdown } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { DomainEvent } from '../domain/events/catalogue.js';
import type { JsonValue } from '../domain/json/json-value.js';
import { Metrics } from '../system/metrics/metrics.js';
import type { CanonicalRequest } from './core/canonical-request.js';
import { canonicalRequest } from './core/canonical-request.js';
import { NO_FACTS, type FactNeeds } from './core/facts.js';
import type { PolicyDecision, PolicyRequest } from './core/policy-types.js';
import { NO_SET, engineErrorDecision } from './engine/evaluate.js';
import { candidateFrom, readPolicyFiles, type CandidateRead, type FilesRead } from './engine/load-policies.js';
import { PolicyEvaluator, refusedStandby, type Standby } from './engine/policy-evaluator.js';
import { problem } from './engine/policy-problem.js';
import type { LoadReport, PolicyCandidate, PolicySet, UnattendedPermit } from './engine/policy-set.js';
import { refusedReport } from './engine/policy-set.js';
import { PolicySource } from './engine/policy-source.js';
import { PolicyMetrics } from './policy-metrics.js';

/** What the check of a set said, and what the set is made from; null where it never became a candidate. */
export interface CheckedSet {
  readonly report: LoadReport;
  readonly candidate: PolicyCandidate | null;
}

/** A checked set that stands ready. */
export interface StandbySet extends Standby, CheckedSet {}

/** Asks the policy in force, and puts policy in force. Holds waiting only; the rules are in `core/` and `engine/`. */
@Injectable()
export class PolicyService implements OnApplicationShutdown {
  private loading: Promise<unknown> = Promise.resolve();
  private report: LoadReport | null = null;
  private entered: LoadReport | null = null;

  constructor(
    private readonly evaluator: PolicyEvaluator,
    private readonly source: PolicySource,
    private readonly metrics: PolicyMetrics = new PolicyMetrics(new Metrics()),
  ) {}

  /**
   * The recorded answer to one request. Never rejects: a failure of any kind is a denial with `engine_error`, and
   * `engineErrors` says which. `requestDigest` is over the canonical request, the very bytes that were judged.
   */
  async decide(request: PolicyRequest): Promise<PolicyDecision> {
    const begunMs = performance.now();
    const decision = await this.answer(request);
    this.metrics.decided(decision, performance.now() - begunMs);
    return decision;
  }

  private async answer(request: PolicyRequest): Promise<PolicyDecision> {
    const canonical = readable(request);
    if (canonical === null) {
      return { ...engineErrorDecision(['request_unreadable'], this.evaluator.active), requestDigest: NO_SET };
    }
    try {
      return await this.evaluator.decide(canonical);
    } catch {
      return { ...engineErrorDecision(['engine_threw'], this.evaluator.active), requestDigest: canonical.digest };
    }
  }

  /** `sha256:…` of the set in force; null: there is none and everything is denied. */
  revision(): string | null {
    return this.evaluator.active?.revision ?? null;
  }

  /** What the policies in force about a capability read of the server's facts. */
  needs(capability: string): FactNeeds {
    return this.evaluator.active?.capabilities[capability]?.needs ?? NO_FACTS;
  }

  schemaDigest(): string | null {
    return this.evaluator.active?.schemaDigest ?? null;
  }

  /**
   * Reads the folder, or takes the files that are given, and makes the set ready beside the one in force, which goes on
   * deciding until the new one enters. Sets are prepared one after the other. Never rejects: a set with a problem is a
   * report that lists every one.
   */
  prepare(given: FilesRead | null = null): Promise<StandbySet> {
    const turn = this.loading.then(() => this.prepareNext(given));
    this.loading = turn;
    return turn;
  }

  /** The files as a candidate for what is in force now, or why they are none. */
  candidate(given: FilesRead): CandidateRead {
    return candidateFrom(given, this.source.current());
  }

  /** Checks the folder, or the files given, and keeps nothing of it. Never rejects. */
  async check(given: FilesRead | null = null): Promise<CheckedSet> {
    const standby = await this.standby(given);
    await standby.leave();
    return { report: standby.report, candidate: standby.candidate };
  }

  /** The set in force as it was checked; null: there is none. */
  set(): PolicySet | null {
    return this.evaluator.active;
  }

  /** What became of the last attempt to load a set; null before the first. */
  lastReport(): LoadReport | null {
    return this.report;
  }

  /** Permits of the set in force under which something of high risk runs without anybody being asked. */
  unattended(): readonly UnattendedPermit[] {
    return this.entered?.unattended ?? [];
  }

  /** What the check found worth knowing about the set in force. */
  warnings(): LoadReport['warnings'] {
    return this.entered?.warnings ?? [];
  }

  /** One known forbid, one known permit, one known question; false also when no set is in force. Never rejects. */
  async probe(): Promise<boolean> {
    return this.evaluator.probe();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.evaluator.stop();
  }

  private async prepareNext(given: FilesRead | null): Promise<StandbySet> {
    const standby = await this.standby(given);
    const { report } = standby;
    this.report = report;
    return {
      ...standby,
      enter: () => {
        standby.enter();
        if (report.accepted) this.entered = report;
      },
    };
  }

  private async standby(given: FilesRead | null): Promise<StandbySet> {
    try {
      const sources = this.source.current();
      const read = candidateFrom(given ?? (await readPolicyFiles(sources.dir)), sources);
      if (!read.ok) return { ...refusedStandby(read.report), candidate: null };
      return { ...(await this.evaluator.prepare(read.candidate)), candidate: read.candidate };
    } catch {
      const report = refusedReport([problem('unreadable_folder', 'the policies cannot be loaded')]);
      return { ...refusedStandby(report), candidate: null };
    }
  }
}

/**
 * The fact a load leaves behind, for the stream `policy/*`. Recorded by whoever asked for the load, in one unit with the row that names
 * the revision in force; an accepted set that was in force already (`previousRevision` is its revision) needs no new fact.
 */
export function loadEvent(
  report: LoadReport,
  previousRevision: string | null,
): DomainEvent<'policy.activated'> | DomainEvent<'policy.activation_refused'> | null {
  const { revision, schemaDigest, policyIds } = report;
  if (!report.accepted || revision === null || schemaDigest === null) {
    return { type: 'policy.activation_refused', payload: { problems: report.problems as unknown as JsonValue[] } };
  }
  if (revision === previousRevision) return null;
  return {
    type: 'policy.activated',
    payload: { policyRevision: revision, schemaDigest, previousRevision, policyIds },
  };
}

function readable(request: PolicyRequest): CanonicalRequest | null {
  try {
    return canonicalRequest(request);
  } catch {
    return null;
  }
}
