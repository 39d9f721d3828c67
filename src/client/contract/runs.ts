import { z } from 'zod';
import { id, instant, links, requester } from './fields.js';

export const runRepresentation = z
  .strictObject({
    runId: id,
    status: z.string().describe('The stored status, or the wait that its open calls and approvals show.'),
    implicit: z.boolean(),
    label: z.string().nullable().describe('The `Run-Id` header it was made by.'),
    principal: requester,
    openCalls: z.int(),
    createdAt: instant,
    updatedAt: instant,
    links,
  })
  .meta({ id: 'Run' });
export type RunRepresentation = z.infer<typeof runRepresentation>;
