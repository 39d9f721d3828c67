import { define } from './event-definition.js';

/** Rights that a person gives for a time: a standing allow, and a standing deputy. */
export const STANDING_EVENTS = {
  'grant.created': define('grant', 1, ['policy-runtime'], {
    by: 'object',
    capability: 'text',
    group: 'text',
    principalSub: 'text?',
    principalAct: 'text?',
    /** Pointer → value that the effective arguments must have there. */
    argumentsEqual: 'object?',
    until: 'text',
    reason: 'text',
  }),
  'grant.revoked': define('grant', 1, ['policy-runtime'], { by: 'object', reason: 'text?' }),
  'grant.expired': define('grant', 1, ['policy-runtime'], { deadline: 'text', noticedAt: 'text' }),
  'delegation.created': define('delegation', 1, ['policy-runtime'], {
    by: 'object',
    to: 'text',
    groups: 'list',
    until: 'text',
    reason: 'text?',
  }),
  'delegation.revoked': define('delegation', 1, ['policy-runtime'], { by: 'object', reason: 'text?' }),
  'delegation.expired': define('delegation', 1, ['policy-runtime'], { deadline: 'text', noticedAt: 'text' }),
} as const;
