import type { Provider } from '@nestjs/common';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { Settings } from '../../config/settings.js';
import { Logger } from '../../system/logger.js';
import { PolicyEvaluator } from './policy-evaluator.js';
import { ConfiguredPolicySource, PolicySource } from './policy-source.js';
import { PolicyThread } from './policy-thread.js';

/** Who evaluates policies, and where they come from. */
export const POLICY_ENGINE: readonly Provider[] = [
  {
    provide: PolicyEvaluator,
    useFactory: (settings: Settings, logger: Logger) =>
      new PolicyThread({
        evaluationTimeoutMs: settings.policy.evaluationTimeoutMs,
        onLost: (code) => logger.error('a policy thread was lost and is replaced', { code }),
      }),
    inject: [Settings, Logger],
  },
  {
    provide: PolicySource,
    useFactory: (settings: Settings, capabilities: CapabilityRegistry) =>
      new ConfiguredPolicySource(settings.policy, capabilities),
    inject: [Settings, CapabilityRegistry],
  },
];
