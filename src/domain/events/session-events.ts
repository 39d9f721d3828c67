import { define } from './event-definition.js';

/** Where a run can go on (state-machines §1, §2); the waits are those that outlive a process. */
export const CHECKPOINT_KINDS = [
  'after_user_input',
  'awaiting_approval',
  'awaiting_plan_review',
  'awaiting_reconciliation',
  'suspended',
  'recovered',
] as const;
export type CheckpointKind = (typeof CHECKPOINT_KINDS)[number];

export const COMPATIBILITY_VERDICTS = ['continue', 'migrate', 'old_runtime', 'manual'] as const;
export type CompatibilityVerdict = (typeof COMPATIBILITY_VERDICTS)[number];

/**
 * What is governed about durable sessions: whose they are, who may append, what recovery did to their logs, and where
 * their runs can go on. The conversation itself is in the log of the session. Part of the catalogue.
 */
export const SESSION_EVENTS = {
  'session.opened': define('session', 1, ['session-runtime'], {
    principal: 'object',
    parentSessionId: 'text?',
    parentRunId: 'text?',
    parentToolCallId: 'text?',
    subagentId: 'text?',
    formatVersion: 'integer',
  }),
  'session.harness_attached': define('session', 1, ['session-runtime'], {
    harnessInstanceId: 'text',
    ownerEpoch: 'integer',
    harnessVersion: 'text?',
    /** Up to here the log was on disk then: a log that ends before it has lost what was promised. */
    durableSeq: 'integer?',
  }),
  'session.imported': define('session', 1, ['recovery'], {
    sourceDigest: 'text',
    sourceSchemaVersion: 'integer',
    agentState: 'object',
  }),
  'session.repaired': define('session', 1, ['recovery'], {
    tornFrom: 'integer?',
    truncatedBytes: 'integer?',
    closers: 'list',
    oldRevision: 'text',
  }),
  'session.history_truncated': define('session', 1, ['session-runtime'], {
    droppedMessageIds: 'list',
    /** Answers that take the place of what is not known: `[{callId, disposition}]`. */
    answers: 'list?',
    reason: 'text',
  }),
  /** The log and the snapshots are gone; this and the governed events of its runs remain. */
  'session.deleted': define('session', 1, ['session-runtime'], { reason: 'text?' }),

  // A stream of its own each: a call that begins to wait makes one without taking a version of its run.
  'checkpoint.created': define('checkpoint', 1, ['session-runtime', 'recovery'], {
    checkpointId: 'text',
    kind: CHECKPOINT_KINDS,
    /** Up to here the session log was on disk then, where the maker knew it. */
    seq: 'integer?',
    resumeAt: 'text?',
  }),
  'checkpoint.compat_decided': define('checkpoint', 1, ['session-runtime'], {
    checkpointId: 'text',
    verdict: COMPATIBILITY_VERDICTS,
    from: 'text',
    to: 'text',
  }),
  'checkpoint.archived': define('checkpoint', 1, ['session-runtime', 'recovery'], { checkpointId: 'text' }),
} as const;
