import { APPROVAL_BEYOND_EVENTS } from './approval-beyond-events.js';
import { define } from './event-definition.js';

/** What people are asked and answer, and what becomes of a control command. Part of the catalogue. */
export const APPROVAL_AND_COMMAND_EVENTS = {
  // approval
  'approval.required': define('approval', 2, ['policy-runtime'], {
    risk: 'text',
    expiresAt: 'text',
    decideBy: 'text',
    executionWindowMs: 'integer',
    executeByLatest: 'text',
    attempt: 'integer',
    capability: 'text',
    capabilityVersion: 'text',
    manifestDigest: 'text',
    argsDigest: 'text',
    consentDigest: 'text',
    shown: 'object',
    shownDigest: 'text',
    groups: 'list',
    requesterSubjects: 'list',
    reasons: 'list',
    policyRevision: 'text',
    /** `{name, digest, holds, observedAt}` of each precondition, where the manifest has any. */
    preconditions: 'list?',
    approvalBatchId: 'text?',
    supersedesApprovalId: 'text?',
  }),
  'approval.vote_recorded': define('approval', 1, ['policy-runtime'], {
    by: 'object',
    decision: ['allow', 'deny'],
    groups: 'list',
    consentDigest: 'text',
    reason: 'text?',
    /** Delegators whose right the vote rests on. */
    onBehalfOf: 'list?',
  }),
  'approval.vote_withdrawn': define('approval', 1, ['policy-runtime'], { by: 'object', reason: 'text?' }),
  'approval.granted': define('approval', 1, ['policy-runtime'], {
    decidedBy: 'list',
    decidedAt: 'text',
    executeBy: 'text',
  }),
  'approval.denied': define('approval', 1, ['policy-runtime'], {
    decidedBy: 'list',
    decidedAt: 'text',
    comment: 'text?',
  }),
  'approval.expired': define('approval', 1, ['policy-runtime'], {
    clock: ['decide', 'execute'],
    deadline: 'text',
    noticedAt: 'text',
  }),
  'approval.invalidated': define('approval', 1, ['policy-runtime'], {
    reason: ['policy_changed', 'capability_changed', 'precondition_changed', 'digest_mismatch', 'vote_withdrawn'],
    oldVersion: 'text?',
    newVersion: 'text?',
    /** Names of the preconditions that are not as they were shown. */
    preconditions: 'list?',
  }),
  'approval.consumed': define('approval', 1, ['capability-runtime'], { attempt: 'integer', nonce: 'text' }),
  'approval.closed': define('approval', 1, ['policy-runtime', 'control-plane', 'recovery'], {
    reason: ['cancelled', 'stopped', 'run_ended', 'run_not_resumable', 'superseded', 'restored', 'refused'],
  }),
  ...APPROVAL_BEYOND_EVENTS,

  // command
  'control.accepted': define('command', 1, ['control-plane'], {
    type: 'text',
    target: 'object',
    issuer: 'object',
    receivedAt: 'text',
    requestDigest: 'text',
    answer: 'object?',
  }),
  'control.rejected': define('command', 1, ['control-plane'], {
    type: 'text',
    target: 'object',
    issuer: 'object',
    receivedAt: 'text',
    requestDigest: 'text',
    code: 'text',
    message: 'text',
    details: 'object?',
  }),
} as const;
