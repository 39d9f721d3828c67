import { z } from 'zod';
import {
  commandId,
  consentDigest,
  id,
  instant,
  nextCursor,
  pageCursor,
  pageLimit,
  reason,
  timestamp,
  verdict,
  words,
} from './fields.js';

/** Most questions that one request may decide. */
const DECISIONS_MAX = 200;

const subject = z.string().min(1).max(200);
const group = z.string().min(1).max(64);
const requiredReason = words.describe('Why, in the words of whoever does it. Recorded.');

export const withdrawalBody = z.strictObject({ reason, commandId }).meta({ id: 'VoteWithdrawal' });
export type WithdrawalBody = z.infer<typeof withdrawalBody>;

export const delegateBody = z
  .strictObject({
    to: subject.describe('Who may decide in your place: another person who is not the requester.'),
    until: timestamp.describe('Left out: as long as the question may be decided.').optional(),
    groups: z.array(group).min(1).max(20).describe('Left out: all groups you may decide for.').optional(),
    reason,
    commandId,
  })
  .meta({ id: 'ApprovalDelegation' });
export type DelegateBody = z.infer<typeof delegateBody>;

export const delegateRevocationBody = z
  .strictObject({ to: subject.describe('Whom you lent your right to here.'), reason, commandId })
  .meta({ id: 'ApprovalDelegationRevocation' });
export type DelegateRevocationBody = z.infer<typeof delegateRevocationBody>;

export const escalateBody = z
  .strictObject({ group: group.describe('The group that is asked as well.'), reason: requiredReason, commandId })
  .meta({ id: 'ApprovalEscalation' });
export type EscalateBody = z.infer<typeof escalateBody>;

export const breakGlassBody = z
  .strictObject({ digest: consentDigest, reason: requiredReason, commandId })
  .meta({ id: 'BreakGlass' });
export type BreakGlassBody = z.infer<typeof breakGlassBody>;

export const reviewBody = z
  .strictObject({ finding: z.enum(['justified', 'not_justified']), reason: requiredReason, commandId })
  .meta({ id: 'BreakGlassReview' });
export type ReviewBody = z.infer<typeof reviewBody>;

export const editBody = z
  .strictObject({
    digest: consentDigest,
    arguments: z.record(z.string(), z.unknown()).describe('The whole arguments of the new call.'),
    reason: requiredReason,
  })
  .meta({ id: 'ApprovalEdit' });
export type EditBody = z.infer<typeof editBody>;

export const decisionsBody = z
  .strictObject({
    decisions: z
      .array(z.strictObject({ approvalId: id, digest: consentDigest, decision: verdict, reason }))
      .min(1)
      .max(DECISIONS_MAX)
      .describe('Exactly these questions, each with what it showed; none may be listed twice.'),
    commandId,
  })
  .meta({ id: 'ApprovalDecisions' });
export type DecisionsBody = z.infer<typeof decisionsBody>;

export const decisionsAnswer = z
  .strictObject({
    items: z.array(
      z.strictObject({
        approvalId: id,
        result: z.enum(['recorded', 'refused']),
        commandId: z.string().nullable(),
        code: z.string().nullable(),
        message: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'ApprovalDecisionsAnswer', description: 'What became of each, in the order of the request.' });
export type DecisionsAnswer = z.infer<typeof decisionsAnswer>;

export const refusalBody = z.strictObject({ reason: requiredReason, commandId }).meta({ id: 'CallRefusal' });
export type RefusalBody = z.infer<typeof refusalBody>;

export const editedAnswer = z
  .strictObject({
    toolCallId: id.describe('The new call, with the edited arguments.'),
    supersedesToolCallId: id,
    status: z.string(),
    approvalId: id.nullable().describe('The question about the new call; null where the policy asks nobody.'),
    links: z.record(z.string(), z.string()),
  })
  .meta({ id: 'EditedCall' });
export type EditedAnswer = z.infer<typeof editedAnswer>;

export const refusedAnswer = z
  .strictObject({ toolCallId: id, status: z.literal('denied'), links: z.record(z.string(), z.string()) })
  .meta({ id: 'RefusedCall' });
export type RefusedAnswer = z.infer<typeof refusedAnswer>;

export const grantBody = z
  .strictObject({
    capability: z.string().min(1).max(64),
    principal: z
      .strictObject({ sub: subject.optional(), act: subject.optional() })
      .describe('Whose requests: for whom, by which agent. Left out: anybody.')
      .optional(),
    argumentsEqual: z
      .record(z.string(), z.unknown())
      .describe('JSON pointer → value the effective arguments must have there. Left out: any arguments.')
      .optional(),
    group: group.describe('Your group, in which this counts as your allow.'),
    until: timestamp,
    reason: requiredReason,
    commandId,
  })
  .meta({ id: 'Grant' });
export type GrantBody = z.infer<typeof grantBody>;

export const delegationBody = z
  .strictObject({
    to: subject,
    groups: z.array(group).min(1).max(20).describe('Left out: all your groups that approvals ask.').optional(),
    until: timestamp,
    reason,
    commandId,
  })
  .meta({ id: 'StandingDelegation' });
export type DelegationBody = z.infer<typeof delegationBody>;

export const revocationBody = z.strictObject({ reason, commandId }).meta({ id: 'StandingRightRevocation' });
export type RevocationBody = z.infer<typeof revocationBody>;

const status = z.enum(['active', 'revoked', 'expired']);

export const grantRepresentation = z
  .strictObject({
    grantId: id,
    status,
    by: z.string(),
    capability: z.string(),
    group: z.string(),
    principal: z.strictObject({ sub: z.string().nullable(), act: z.string().nullable() }),
    argumentsEqual: z.record(z.string(), z.unknown()).nullable(),
    until: instant,
    reason: z.string().nullable(),
    revokedBy: z.string().nullable(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'GrantState', description: "One person's standing allow in one group." });
export type GrantRepresentation = z.infer<typeof grantRepresentation>;

export const delegationRepresentation = z
  .strictObject({
    delegationId: id,
    status,
    by: z.string(),
    to: z.string(),
    groups: z.array(z.string()),
    until: instant,
    reason: z.string().nullable(),
    revokedBy: z.string().nullable(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'StandingDelegationState', description: "One person's right to decide, lent to another." });
export type DelegationRepresentation = z.infer<typeof delegationRepresentation>;

export const standingListQuery = z.strictObject({ limit: pageLimit, cursor: pageCursor });

export const grantPage = z.strictObject({ items: z.array(grantRepresentation), nextCursor }).meta({ id: 'GrantPage' });
export type GrantPage = z.infer<typeof grantPage>;

export const delegationPage = z
  .strictObject({ items: z.array(delegationRepresentation), nextCursor })
  .meta({ id: 'StandingDelegationPage' });
export type DelegationPage = z.infer<typeof delegationPage>;
