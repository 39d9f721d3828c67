import { z } from 'zod';
import { commandId, consentDigest, id, words } from './fields.js';

const pauseTarget = z.union([
  z.literal('all'),
  z.literal('tenant'),
  z.strictObject({ principal: z.string().min(1).max(256) }),
  z.strictObject({ capability: z.string().min(1).max(64) }),
]);
export type PauseTarget = z.infer<typeof pauseTarget>;

export const controlBody = z.discriminatedUnion('type', [
  z.strictObject({
    commandId,
    type: z.literal('resume'),
    target: z.strictObject({ approvalId: id }),
    decision: z.enum(['allow', 'deny']),
    digest: consentDigest,
    reason: words.optional(),
  }),
  z.strictObject({ commandId, type: z.literal('resume_authorized'), reason: words.optional() }),
  z.strictObject({
    commandId,
    type: z.literal('cancel'),
    target: z.strictObject({ toolCallId: id }),
    reason: words.optional(),
  }),
  z.strictObject({
    commandId,
    type: z.literal('retry'),
    target: z.strictObject({ toolCallId: id }),
    reason: words.optional(),
  }),
  z.strictObject({ commandId, type: z.literal('pause'), target: pauseTarget, reason: words.optional() }),
  z.strictObject({ commandId, type: z.literal('unpause'), target: pauseTarget, reason: words.optional() }),
  z.strictObject({ commandId, type: z.literal('reload'), target: z.literal('policies'), reason: words.optional() }),
]);
export type ControlBody = z.infer<typeof controlBody>;

export const commandRepresentation = z.strictObject({
  commandId: z.string(),
  type: z.string(),
  status: z.enum(['accepted', 'rejected']),
  code: z.string().nullable(),
  message: z.string().nullable(),
  receivedAt: z.string(),
  /** Events the command caused, its own first. */
  eventIds: z.array(z.string()),
  links: z.record(z.string(), z.string()),
});
export type CommandRepresentation = z.infer<typeof commandRepresentation>;
