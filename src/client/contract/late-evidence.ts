import { z } from 'zod';

/** What tools and connectors tell afterwards, and what they get for it. Part of the wire format of `/v1`. */

const name = z.string().min(1).max(512);

const line = z
  .strictObject({
    lineId: z.string().regex(/^[\x21-\x7e]{1,126}$/, 'must be 1 to 126 visible ASCII characters'),
    finding: z.enum(['happened', 'failed', 'pending']),
    downstreamKey: name.describe('The key the tool got from us.').optional(),
    reference: name.describe("The tool's own reference.").optional(),
    effect: z
      .record(z.string(), z.unknown())
      .describe('What the books show; it becomes the result of the call.')
      .optional(),
  })
  .refine(({ downstreamKey, reference }) => downstreamKey !== undefined || reference !== undefined, {
    message: 'needs downstreamKey or reference',
  });

export const statementBody = z
  .strictObject({
    statementId: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters')
      .describe("The sender's name of the statement: sent again, its lines are duplicates."),
    capability: z.string().min(1).max(64),
    lines: z.array(line).min(1).max(200),
  })
  .meta({ id: 'Statement' });
export type StatementBody = z.infer<typeof statementBody>;

export const receipt = z
  .strictObject({
    id: z.string(),
    status: z
      .enum(['recorded', 'unmatched', 'duplicate'])
      .describe('`unmatched`: kept, and given to its call when one turns out to be meant.'),
    toolCallId: z.string().nullable(),
  })
  .meta({ id: 'Receipt' });
export type ReceiptRepresentation = z.infer<typeof receipt>;

export const statementReceipt = z
  .strictObject({ statementId: z.string(), lines: z.array(receipt) })
  .meta({ id: 'StatementReceipt' });
export type StatementReceipt = z.infer<typeof statementReceipt>;
