import type { Provider } from '@nestjs/common';
import { DecidePolicyActivationHandler } from './decide-policy-activation/decide-policy-activation.handler.js';
import { ProposePolicyActivationHandler } from './propose-policy-activation/propose-policy-activation.handler.js';
import { ReloadPoliciesHandler } from './reload-policies/reload-policies.handler.js';
import { SetPolicyShadowHandler } from './set-policy-shadow/set-policy-shadow.handler.js';

/** Commands about policy sets. */
export const POLICY_COMMANDS: readonly Provider[] = [
  ReloadPoliciesHandler,
  ProposePolicyActivationHandler,
  DecidePolicyActivationHandler,
  SetPolicyShadowHandler,
];
