import { z } from 'zod';
import { id } from './fields.js';

export const runRepresentation = z.strictObject({
  runId: id,
  /** The stored status, or the wait that its open calls and approvals show. */
  status: z.string(),
  implicit: z.boolean(),
  label: z.string().nullable(),
  principal: z.strictObject({ sub: z.string(), act: z.string().nullable() }),
  openCalls: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  links: z.record(z.string(), z.string()),
});
export type RunRepresentation = z.infer<typeof runRepresentation>;
