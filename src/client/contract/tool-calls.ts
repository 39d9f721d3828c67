import { z } from 'zod';
import { approvalStatus } from './approvals.js';
import { commandId, id, pageCursor, pageLimit, timestamp, words } from './fields.js';

export const proposeToolCallBody = z.strictObject({
  /** `name` or `name@version`. */
  capability: z.string().min(1).max(128),
  /** The arguments, judged against the capability's input schema; defaults are filled in by the proxy. */
  arguments: z.record(z.string(), z.unknown()),
  runId: id.optional(),
  turnId: z.string().min(1).max(128).optional(),
  /** The model provider's id of this call: names one call within a run and turn. */
  callId: z.string().min(1).max(256).optional(),
  reasoningObjectId: id.optional(),
  skillId: id.optional(),
  /** Joins calls of one business intent. */
  intentId: z.string().min(1).max(128).optional(),
  /** Also as the `Idempotency-Key` header; both must agree. */
  idempotencyKey: z.string().min(1).max(255).optional(),
  allowDuplicateIntent: z.boolean().optional(),
  /** The agent's words for the approver; shown as untrusted text. */
  reason: words.optional(),
  executeBefore: timestamp.optional(),
});
export type ProposeToolCallBody = z.infer<typeof proposeToolCallBody>;

export const resolutionBody = z.strictObject({
  finding: z.enum(['happened', 'not_happened', 'partial', 'unknowable']),
  /** Where the proof is kept: ticket numbers, statement lines, URLs. */
  evidenceRefs: z.array(z.string().min(1).max(512)).max(32),
  note: words.optional(),
  commandId,
});
export type ResolutionBody = z.infer<typeof resolutionBody>;

const status = z.enum([
  'proposed',
  'authorized',
  'dispatching',
  'dispatched',
  'accepted',
  'result_unknown',
  'reconciling',
  'completed',
  'failed',
  'manual_handoff',
  'denied',
  'not_executed',
]);

/** `needs-reconciliation` stands for result_unknown, reconciling and manual_handoff without a finding. */
export const toolCallListQuery = z.strictObject({
  status: z.union([status, z.literal('needs-reconciliation')]).optional(),
  runId: id.optional(),
  capability: z.string().min(1).max(64).optional(),
  /** Subject of the requester; with `agent`, the calls that agent made for them. */
  principal: z.string().min(1).max(256).optional(),
  agent: z.string().min(1).max(256).optional(),
  from: timestamp.optional(),
  to: timestamp.optional(),
  limit: pageLimit.optional(),
  cursor: pageCursor.optional(),
});

export const waitQuery = z.strictObject({ wait: z.coerce.number().min(0).max(3600).optional() });

/** A tool call as every surface shows it: the same representation whatever its status. */
export const toolCallRepresentation = z.strictObject({
  toolCallId: id,
  status,
  /** Who or what the call waits for; null when it waits for nothing. */
  waitingFor: z.enum(['approval', 'execution', 'upstream', 'reconciliation', 'operator']).nullable(),
  attempt: z.int(),
  capability: z.string(),
  capabilityVersion: z.string(),
  /** Effective arguments; redacted ones read `[redacted:…]`. */
  arguments: z.record(z.string(), z.unknown()),
  argsDigest: z.string(),
  runId: z.string(),
  turnId: z.string().nullable(),
  callId: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  decision: z
    .strictObject({
      outcome: z.enum(['allow', 'deny', 'requires_confirmation']),
      reasons: z.array(z.string()),
      policyRevision: z.string(),
      determining: z.array(z.string()),
    })
    .nullable(),
  approval: z
    .strictObject({
      approvalId: z.string(),
      status: approvalStatus,
      decideBy: z.string(),
      executeBy: z.string().nullable(),
      needed: z.array(z.strictObject({ group: z.string(), count: z.int(), have: z.int() })),
      link: z.string(),
    })
    .nullable(),
  result: z.unknown(),
  resultTruncated: z.boolean(),
  /** The event whose sealed payload holds the result. */
  resultRef: z.string().nullable(),
  error: z
    .strictObject({ code: z.string(), effect: z.enum(['none', 'partial', 'full', 'unknown']), message: z.string() })
    .nullable(),
  mayHaveHappened: z.boolean(),
  retryAllowed: z.boolean(),
  retryReasons: z.array(z.string()),
  reconciliation: z
    .strictObject({
      strategy: z.string().nullable(),
      attempts: z.int(),
      nextAt: z.string().nullable(),
      deadline: z.string().nullable(),
    })
    .nullable(),
  resolution: z.strictObject({ finding: z.string(), evidenceRefs: z.array(z.string()) }).nullable(),
  outcome: z.strictObject({ status: z.string(), evidenceRefs: z.array(z.string()) }),
  /** One sentence for the model: what is known, and whether to call again. */
  guidance: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Position of the newest event of the call. */
  position: z.int(),
  links: z.record(z.string(), z.string()),
});
export type ToolCallRepresentation = z.infer<typeof toolCallRepresentation>;
