import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Clock } from '../system/clock.js';
import { Metrics } from '../system/metrics/metrics.js';
import { Readiness, type ReadinessReason } from '../system/readiness.js';
import { PolicyService } from './policy.service.js';

/** Looks that may be missing before the last good answer is too old to count. */
const LOOKS_MISSED_MAX = 3;

/**
 * Asks the policy engine again and again what it must answer: one known forbid, one known permit, one known question.
 * While it does not, every call is denied, so nothing is served by sending this process any.
 */
@Injectable()
export class PolicyWatch {
  private goodAt: number;
  private isGood = true;

  constructor(
    private readonly policy: PolicyService,
    private readonly settings: Settings,
    private readonly clock: Clock,
    readiness: Readiness,
    metrics: Metrics,
  ) {
    this.goodAt = clock.monotonic();
    readiness.watch(() => [...this.reasons(), ...this.unattended()]);
    metrics.gauge('countersign_policy_probe_good', '1 while the policy engine gives its known answers.', () =>
      this.reasons().length === 0 ? 1 : 0,
    );
    metrics.gauge(
      'countersign_policy_probe_age_seconds',
      'Since the policy engine last gave its known answers.',
      () => this.ageMs() / 1000,
    );
  }

  async look(): Promise<void> {
    this.isGood = await this.policy.probe();
    if (this.isGood) this.goodAt = this.clock.monotonic();
  }

  private ageMs(): number {
    return this.clock.monotonic() - this.goodAt;
  }

  private reasons(): readonly ReadinessReason[] {
    const not_ready = (detail: string) => [{ name: 'policy', weight: 'not_ready', detail } as const];
    if (this.policy.revision() === null) return not_ready('no policy set is in force');
    const { probeIntervalMs } = this.settings.readiness;
    const { evaluationTimeoutMs } = this.settings.policy;
    if (this.isGood && this.ageMs() <= LOOKS_MISSED_MAX * (probeIntervalMs + evaluationTimeoutMs)) return [];
    const seconds = Math.round(this.ageMs() / 1000);
    return not_ready(`the policy engine last gave its known answers ${seconds} s ago`);
  }

  /** Permits that let something risky run without anybody being asked: no fault, and nobody should forget them. */
  private unattended(): readonly ReadinessReason[] {
    const permits = this.policy.unattended();
    if (permits.length === 0) return [];
    const about = permits.map(({ capability, policyId, reason }) => `${capability} by ${policyId}: ${reason}`);
    const detail = `${permits.length} permits let a capability of high risk run unattended`;
    return [{ name: 'unattended_permits', weight: 'information', detail, about }];
  }
}
