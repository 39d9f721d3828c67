import { Injectable } from '@nestjs/common';
import type { Count, Distribution, Family } from '../system/metrics/instruments.js';
import { Metrics } from '../system/metrics/metrics.js';
import type { PolicyDecision } from './core/policy-types.js';

/** Failures are counted by these codes; anything else the engine says is `policy_error`, so that labels stay few. */
const CODES: ReadonlySet<string> = new Set([
  'request_unreadable',
  'engine_threw',
  'no_active_set',
  'evaluation_timeout',
  'evaluation_overloaded',
  'engine_crashed',
  'engine_restarting',
  'engine_stopped',
  'impossible_answer',
]);

/** How long evaluations take, what they answer, and why there was no answer. */
@Injectable()
export class PolicyMetrics {
  private readonly seconds: Distribution;
  private readonly outcomes: Readonly<Record<PolicyDecision['outcome'], Count>>;
  private readonly failures: Family<Count>;

  constructor(metrics: Metrics) {
    this.seconds = metrics
      .distribution('countersign_policy_evaluation_seconds', 'One evaluation, waiting for the policy thread included.')
      .with();
    const outcomes = metrics.count('countersign_policy_decisions_total', 'Decisions by outcome.', ['outcome']);
    this.outcomes = {
      allow: outcomes.with('allow'),
      deny: outcomes.with('deny'),
      requires_confirmation: outcomes.with('requires_confirmation'),
    };
    this.failures = metrics.count(
      'countersign_policy_failures_total',
      'Evaluations that brought no answer; each is a denial and counted as one too.',
      ['code'],
    );
    for (const code of CODES) this.failures.with(code);
  }

  decided(decision: PolicyDecision, tookMs: number): void {
    this.seconds.observe(tookMs / 1000);
    this.outcomes[decision.outcome].add();
    if (decision.denyCode !== 'engine_error') return;
    const code = decision.engineErrors[0] ?? '';
    this.failures.with(CODES.has(code) ? code : 'policy_error').add();
  }
}
