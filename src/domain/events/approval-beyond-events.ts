import { define } from './event-definition.js';

/** What can become of a question besides votes and its end: lent, widened, passed in an emergency, replaced. */
export const APPROVAL_BEYOND_EVENTS = {
  'approval.delegated': define('approval', 1, ['policy-runtime'], {
    by: 'object',
    to: 'text',
    groups: 'list',
    until: 'text',
    reason: 'text?',
  }),
  'approval.delegation_revoked': define('approval', 1, ['policy-runtime'], {
    by: 'object',
    to: 'text',
    reason: 'text?',
  }),
  'approval.escalated': define('approval', 1, ['policy-runtime'], {
    cause: ['timer', 'approver'],
    by: 'object?',
    /** The groups of the question for which the wider group may decide as well. */
    groups: 'list',
    to: 'text',
    reason: 'text?',
  }),
  'approval.break_glass_used': define('approval', 1, ['policy-runtime'], {
    by: 'object',
    consentDigest: 'text',
    reason: 'text',
  }),
  'approval.review_recorded': define('approval', 1, ['policy-runtime'], {
    by: 'object',
    finding: ['justified', 'not_justified'],
    reason: 'text',
  }),
  'approval.edited': define('approval', 1, ['policy-runtime'], {
    by: 'object',
    consentDigest: 'text',
    reason: 'text',
    newToolCallId: 'text',
  }),
} as const;
