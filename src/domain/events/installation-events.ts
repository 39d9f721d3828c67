import { define } from './event-definition.js';

/** Why a store is held: a copy from a backup; fewer events than known; other events than known; nothing is known of it any more. */
export const HOLD_REASONS = ['restored', 'behind', 'different', 'head_missing', 'head_unreadable'] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** What happens to capabilities, policies, pauses and instances. Part of the catalogue. */
export const INSTALLATION_EVENTS = {
  // capability, policy, installation
  'capability.registered': define('capability', 1, ['control-plane'], {
    capabilityVersion: 'text',
    manifestDigest: 'text',
    supersedesVersion: 'text?',
  }),
  /** A version that was in force before is in force again; `supersedesVersion` is the one that it takes the place of. */
  'capability.rolled_back': define('capability', 1, ['control-plane'], {
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
    /** Only where a person proposed the set and another one allowed it. */
    author: 'object?',
    approver: 'object?',
    activationId: 'text?',
  }),
  'policy.activation_refused': define('policy', 1, ['policy-runtime'], { problems: 'list' }),
  'pause.set': define('policy', 1, ['control-plane'], { target: 'object', reason: 'text?' }),
  'pause.cleared': define('policy', 1, ['control-plane'], { target: 'object', reason: 'text?' }),
  'instance.taken_over': define('ledger', 1, ['recovery'], {
    instanceId: 'text',
    epoch: 'integer',
    previousInstanceId: 'text?',
  }),
  /** The store is not the newest that is known, or a copy of it: nothing is sent until an operator accepts it. */
  'ledger.restore_detected': define('ledger', 1, ['recovery'], {
    reason: HOLD_REASONS,
    size: 'integer',
    root: 'text',
    knownSize: 'integer?',
    knownRoot: 'text?',
    backupAt: 'text?',
    /** True when it is known that the store holds everything that was ever in it. */
    complete: 'boolean',
  }),
  /** An operator goes on with this store. `known…`: the highest that was known before; `size` and `root`: what is kept from now on. */
  'ledger.restore_accepted': define('ledger', 1, ['control-plane'], {
    reason: 'text',
    knownSize: 'integer?',
    knownRoot: 'text?',
    size: 'integer',
    root: 'text',
  }),
} as const;
