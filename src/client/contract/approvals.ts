import { z } from 'zod';
import {
  commandId,
  consentDigest,
  id,
  instant,
  links,
  nextCursor,
  pageCursor,
  pageLimit,
  reason,
  requester,
  verdict,
} from './fields.js';

export const approvalStatus = z
  .enum(['pending', 'granted', 'consumed', 'denied', 'expired', 'invalidated', 'closed'])
  .meta({ id: 'ApprovalStatus' });

export const decisionBody = z
  .strictObject({ decision: verdict, digest: consentDigest, reason, commandId })
  .meta({ id: 'ApprovalDecision' });
export type DecisionBody = z.infer<typeof decisionBody>;

export const approvalListQuery = z.strictObject({
  status: approvalStatus.optional(),
  batchId: id.describe('Questions of one turn.').optional(),
  reviewOwed: z.literal('true').describe('Only emergencies that nobody has reviewed.').optional(),
  limit: pageLimit,
  cursor: pageCursor,
});

const shownPrecondition = z
  .strictObject({
    name: z.string(),
    title: z.string(),
    observedAt: instant,
    value: z
      .union([z.string(), z.number(), z.boolean(), z.null()])
      .optional()
      .describe('As it was read, where it is short and no secret; hidden characters are escaped.'),
    absent: z.literal(true).optional().describe('There was no such value.'),
    digest: z.string().optional().describe('Of a value that is not shown.'),
  })
  .meta({
    id: 'ShownPrecondition',
    description: 'One thing that must still be so when the call is sent, as it was read when people were asked.',
  });

export const approvalRepresentation = z
  .strictObject({
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
    arguments: z
      .record(z.string(), z.unknown())
      .describe('What will be sent, in full; hidden and bidirectional characters are escaped, redacted values masked.'),
    argumentsEmpty: z.boolean().describe('True when there is nothing to see: such a question deserves a second look.'),
    argumentsLong: z.boolean().describe('True when the request is long: it is shown in full, so look at its end.'),
    target: z.record(z.string(), z.unknown()),
    digest: z.string().describe('Send this back with the decision.'),
    argsDigest: z.string(),
    shownDigest: z.string(),
    requester,
    preconditions: z
      .array(shownPrecondition)
      .optional()
      .describe('What the call rests on, where its capability says so.'),
    agentReason: z.string().nullable().describe("The agent's own words: untrusted."),
    reasons: z.array(z.string()),
    determining: z.array(z.string()),
    policyRevision: z.string(),
    decideBy: instant,
    executeByLatest: instant,
    executeBy: instant.nullable(),
    needed: z.array(z.strictObject({ group: z.string(), count: z.int(), have: z.int(), notRequester: z.boolean() })),
    votes: z.array(
      z.strictObject({
        sub: z.string(),
        decision: verdict,
        at: instant,
        reason: z.string().nullable(),
        onBehalfOf: z
          .array(z.string())
          .describe('Whose right the vote rests on besides the voter: together they are one person.'),
      }),
    ),
    batchId: z.string().nullable().describe('What the questions of one turn share; each is decided by itself.'),
    delegations: z.array(
      z.strictObject({ from: z.string(), to: z.string(), until: instant, groups: z.array(z.string()) }),
    ),
    escalations: z
      .array(z.strictObject({ group: z.string(), to: z.string() }))
      .describe('Members of `to` may decide for `group` as well.'),
    escalateAt: instant.nullable(),
    breakGlass: z
      .strictObject({
        by: z.string(),
        reviewOwed: z.boolean(),
        reviewedBy: z.string().nullable(),
        finding: z.string().nullable(),
      })
      .nullable()
      .describe('Who let it pass in an emergency, and what another person found about that.'),
    decidedBy: z.array(z.string()).nullable(),
    statusReason: z.string().nullable(),
    createdAt: instant,
    updatedAt: instant,
    links,
  })
  .meta({ id: 'Approval', description: 'A question to people: exactly what would run, who asks, and who may answer.' });
export type ApprovalRepresentation = z.infer<typeof approvalRepresentation>;

export const approvalPage = z
  .strictObject({ items: z.array(approvalRepresentation), nextCursor })
  .meta({ id: 'ApprovalPage', description: 'Newest first.' });
export type ApprovalPage = z.infer<typeof approvalPage>;
