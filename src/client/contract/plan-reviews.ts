import { z } from 'zod';
import { commandId, consentDigest, id, instant, links, nextCursor, pageCursor, pageLimit, reason } from './fields.js';

const DAY_MS = 86_400_000;

const status = z.enum(['pending', 'approved', 'rejected', 'expired', 'invalidated', 'closed']);

const step = z.union([z.string().min(1), z.record(z.string(), z.unknown())]);

export const planReviewBody = z
  .strictObject({
    plan: z
      .union([z.string().min(1), z.array(step).min(1), z.record(z.string(), z.unknown())])
      .describe('The whole plan: text, steps or an object. People see exactly this.'),
    decideWithinMs: z
      .int()
      .min(10_000)
      .max(30 * DAY_MS)
      .describe('Milliseconds people have. Left out: `policy.decideWithinMs`.')
      .optional(),
  })
  .meta({ id: 'PlanReview' });
export type PlanReviewBody = z.infer<typeof planReviewBody>;

export const planDecisionBody = z
  .strictObject({
    decision: z.enum(['approved', 'rejected']),
    digest: consentDigest.describe('The `digest` that the review showed.'),
    reason,
    commandId,
  })
  .meta({ id: 'PlanDecision' });
export type PlanDecisionBody = z.infer<typeof planDecisionBody>;

export const planReviewRepresentation = z
  .strictObject({
    planReviewId: id,
    runId: id,
    status,
    plan: z.unknown().describe('Hidden characters are shown escaped. Null once it has been erased.'),
    digest: z.string().describe('Over the plan as it was sent; the decision sends it back.'),
    decideBy: instant,
    decidedBy: z.string().nullable(),
    reason: z.string().nullable(),
    createdAt: instant,
    updatedAt: instant,
    links,
  })
  .meta({ id: 'PlanReviewState', description: 'A plan that people are shown before its run goes on.' });
export type PlanReviewRepresentation = z.infer<typeof planReviewRepresentation>;

export const planReviewListQuery = z.strictObject({
  runId: id.optional(),
  status: status.optional(),
  limit: pageLimit,
  cursor: pageCursor,
});

export const planReviewPage = z
  .strictObject({ items: z.array(planReviewRepresentation), nextCursor })
  .meta({ id: 'PlanReviewPage' });
export type PlanReviewPage = z.infer<typeof planReviewPage>;
