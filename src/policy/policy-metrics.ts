import { Injectable } from '@nestjs/common';
import { Metrics } from '../system/metrics/metrics.js';
import type { PolicyDecision } from './core/policy-types.js';

const OUTCOMES: readonly PolicyDecision['outcome'][] = ['allow', 'deny', 'requires_confirmation'];

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
  private readonly seconds;
  private readonly outcomes;
  private readonly failures;

  constructor(metrics: Metrics) {
    this.seconds = metrics.histogram(
      'countersign_policy_evaluation_seconds',
      'One evaluation, waiting for the policy thread included.',
    );
    this.outcomes = metrics.counter('countersign_policy_decisions_total', 'Decisions by outcome.', ['outcome']);
    for (const outcome of OUTCOMES) this.outcomes.inc({ outcome }, 0);
    this.failures = metrics.counter(
      'countersign_policy_failures_total',
      'Evaluations that brought no answer; each is a denial and counted as one too.',
      ['code'],
    );
    for (const code of CODES) this.failures.inc({ code }, 0);
  }

  decided(decision: PolicyDecision, tookMs: number): void {
    this.seconds.observe(tookMs / 1000);
    this.outcomes.inc({ outcome: decision.outcome });
    if (decision.denyCode !== 'engine_error') return;
    const code = decision.engineErrors[0] ?? '';
    this.failures.inc({ code: CODES.has(code) ? code : 'policy_error' });
  }
}
