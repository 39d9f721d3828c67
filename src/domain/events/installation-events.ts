import { define } from './event-definition.js';

/** What happens to capabilities, policies, pauses and instances. Part of the catalogue. */
export const INSTALLATION_EVENTS = {
  // capability, policy, installation
  'capability.registered': define('capability', 1, ['control-plane'], {
    capabilityVersion: 'text',
    manifestDigest: 'text',
    supersedesVersion: 'text?',
  }),
  'capability.held': define('capability', 1, ['capability-runtime'], { capabilityVersion: 'text', reason: 'text' }),
  'capability.released': define('capability', 1, ['capability-runtime', 'control-plane'], {
    capabilityVersion: 'text',
    reason: 'text',
  }),
  'policy.activated': define('policy', 1, ['policy-runtime'], {
    policyRevision: 'text',
    schemaDigest: 'text',
    previousRevision: 'text?',
    policyIds: 'list',
  }),
  'policy.activation_refused': define('policy', 1, ['policy-runtime'], { problems: 'list' }),
  'pause.set': define('policy', 1, ['control-plane'], { target: 'object', reason: 'text?' }),
  'pause.cleared': define('policy', 1, ['control-plane'], { target: 'object', reason: 'text?' }),
  'instance.taken_over': define('ledger', 1, ['recovery'], {
    instanceId: 'text',
    epoch: 'integer',
    previousInstanceId: 'text?',
  }),
} as const;
