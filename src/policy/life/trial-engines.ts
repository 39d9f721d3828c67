import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Logger } from '../../system/logger.js';
import { canonicalRequest } from '../core/canonical-request.js';
import type { PolicyDecision, PolicyRequest } from '../core/policy-types.js';
import type { PolicyEvaluator } from '../engine/policy-evaluator.js';
import type { LoadReport, PolicyCandidate } from '../engine/policy-set.js';
import { PolicyThread } from '../engine/policy-thread.js';

/** An engine with one candidate, if that passed its check. */
export interface Trial {
  readonly report: LoadReport;
  /** Never rejects; after a refusal every answer is a denial. */
  decide(request: PolicyRequest): Promise<PolicyDecision>;
}

/**
 * Engines apart from the one that decides, on threads of their own: whatever a candidate does to its engine harms no
 * decision, and the event loop waits for nothing.
 */
@Injectable()
export class TrialEngines {
  private turns: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  /** One trial at a time, thrown away afterwards. Rejects only with what `work` throws. */
  run<T>(candidate: PolicyCandidate, work: (trial: Trial) => Promise<T>): Promise<T> {
    const turn = this.turns.then(async () => {
      const engine = this.start();
      try {
        const report = await engine.load(candidate);
        return await work({ report, decide: (request) => engine.decide(canonicalRequest(request)) });
      } finally {
        await engine.stop();
      }
    });
    this.turns = turn.catch(() => undefined);
    return turn;
  }

  /** For an engine that stays; whoever starts it stops it. */
  start(): PolicyEvaluator {
    return new PolicyThread({
      evaluationTimeoutMs: this.settings.policy.evaluationTimeoutMs,
      onLost: (code) => this.logger.warn('a policy thread beside the one that decides was lost', { code }),
    });
  }
}
