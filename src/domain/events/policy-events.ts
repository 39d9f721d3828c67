import { define } from './event-definition.js';

/** How a policy set comes into force where that is an approved action, and what shadows it. Part of the catalogue. */
export const POLICY_EVENTS = {
  'policy.activation_proposed': define('policy', 1, ['control-plane'], {
    activationId: 'text',
    policyRevision: 'text',
    schemaDigest: 'text',
    /** The set in force when it was proposed: what the proposal is a change of. */
    basedOn: 'text?',
    author: 'object',
    reason: 'text',
    reportDigest: 'text',
    policyIds: 'list',
    decideBy: 'text',
  }),
  'policy.activation_decided': define('policy', 1, ['control-plane'], {
    activationId: 'text',
    policyRevision: 'text',
    decision: ['allow', 'deny'],
    author: 'object',
    by: 'object',
    reason: 'text?',
  }),
  'policy.activation_expired': define('policy', 1, ['control-plane'], {
    activationId: 'text',
    policyRevision: 'text',
    /** Nobody decided in time, or another set has come into force since. */
    because: ['overdue', 'superseded'],
  }),
  'policy.shadow_set': define('policy', 1, ['control-plane'], {
    policyRevision: 'text',
    previousRevision: 'text?',
    by: 'object',
    reason: 'text?',
  }),
  'policy.shadow_cleared': define('policy', 1, ['control-plane'], {
    policyRevision: 'text',
    by: 'object',
    reason: 'text?',
  }),
} as const;
