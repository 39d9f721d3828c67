import { z } from 'zod';
import { commandId, consentDigest, id, pageCursor, pageLimit, words } from './fields.js';

export const approvalStatus = z.enum(['pending', 'granted', 'consumed', 'denied', 'expired', 'invalidated', 'closed']);

export const decisionBody = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  digest: consentDigest,
  reason: words.optional(),
  commandId,
});
export type DecisionBody = z.infer<typeof decisionBody>;

export const approvalListQuery = z.strictObject({
  status: approvalStatus.optional(),
  limit: pageLimit.optional(),
  cursor: pageCursor.optional(),
});

export const approvalRepresentation = z.strictObject({
  approvalId: id,
  status: approvalStatus,
  toolCallId: id,
  runId: id,
  attempt: z.int(),
  capability: z.string(),
  capabilityVersion: z.string(),
  title: z.string(),
  description: z.string(),
  risk: z.string(),
  effect: z.string(),
  /** What will be sent, in full; hidden and bidirectional characters are shown escaped, redacted values masked. */
  arguments: z.record(z.string(), z.unknown()),
  /** True when there is nothing to see: such a question deserves a second look. */
  argumentsEmpty: z.boolean(),
  target: z.record(z.string(), z.unknown()),
  /** Send this back with the decision. */
  digest: z.string(),
  argsDigest: z.string(),
  shownDigest: z.string(),
  requester: z.strictObject({ sub: z.string(), act: z.string().nullable() }),
  /** The agent's own words: untrusted. */
  agentReason: z.string().nullable(),
  reasons: z.array(z.string()),
  determining: z.array(z.string()),
  policyRevision: z.string(),
  decideBy: z.string(),
  executeByLatest: z.string(),
  executeBy: z.string().nullable(),
  needed: z.array(z.strictObject({ group: z.string(), count: z.int(), have: z.int(), notRequester: z.boolean() })),
  votes: z.array(
    z.strictObject({
      sub: z.string(),
      decision: z.enum(['allow', 'deny']),
      at: z.string(),
      reason: z.string().nullable(),
    }),
  ),
  decidedBy: z.array(z.string()).nullable(),
  statusReason: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  links: z.record(z.string(), z.string()),
});
export type ApprovalRepresentation = z.infer<typeof approvalRepresentation>;
