import { z } from 'zod';

/** RFC 9457, always with a stable `code`. */
export const problem = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    mend: z.string().describe('How to mend it.'),
    pointer: z.string().describe('RFC 6901 pointer of the offending field.').optional(),
    problems: z.array(z.string()).optional(),
    toolCallId: z.string().optional(),
    approvalId: z.string().optional(),
    leaseId: z.string().optional(),
    commandId: z.string().optional(),
    recordedDecision: z.string().optional(),
  })
  .describe('RFC 9457, always with a stable `code`; never a value of the request.');
export type Problem = z.infer<typeof problem>;
