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
import { loadPolicies } from './engine/load-policies.js';
import { PolicyEvaluator } from './engine/policy-evaluator.js';
import { problem } from './engine/policy-problem.js';
import type { LoadReport, UnattendedPermit } from './engine/policy-set.js';
import { refusedReport } from './engine/policy-set.js';
import { PolicySource } from './engine/policy-source.js';
import { PolicyMetrics } from './policy-metrics.js';

/** Asks the policy in force, and puts policy in force. Holds waiting only; the rules are in `core/` and `engine/`. */
@Injectable()
export class PolicyService implements OnApplicationShutdown {
  private loading: Promise<unknown> = Promise.resolve();
  private report: LoadReport | null = null;
  private permits: readonly UnattendedPermit[] = [];

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
   * Reads the policies anew and puts them in force if every check passes; otherwise the set in force stays and the report
   * lists every problem. Reloads happen one after the other. Never rejects.
   */
  reload(): Promise<LoadReport> {
    const turn = this.loading.then(() => this.load());
    this.loading = turn;
    return turn;
  }

  /** What became of the last reload; null before the first. */
  lastReport(): LoadReport | null {
    return this.report;
  }

  /** Permits of the set in force under which something of high risk runs without anybody being asked. */
  unattended(): readonly UnattendedPermit[] {
    return this.permits;
  }

  /** One known forbid, one known permit, one known question; false also when no set is in force. Never rejects. */
  async probe(): Promise<boolean> {
    return this.evaluator.probe();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.evaluator.stop();
  }

  private async load(): Promise<LoadReport> {
    try {
      this.report = await loadPolicies(this.evaluator, this.source.current());
    } catch {
      this.report = refusedReport([problem('unreadable_folder', 'the policies cannot be loaded')]);
    }
    if (this.report.accepted) this.permits = this.report.unattended;
    return this.report;
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
