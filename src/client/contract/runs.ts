import { z } from 'zod';
import { id, instant, links, requester } from './fields.js';
import { stopRepresentation } from './run-control.js';

export const runRepresentation = z
  .strictObject({
    runId: id,
    status: z.string().describe('The stored status, or the wait that its open calls and approvals show.'),
    implicit: z.boolean(),
    label: z.string().nullable().describe('The `Run-Id` header it was made by.'),
    principal: requester,
    openCalls: z.int(),
    planReviewApproved: z.boolean().describe('The newest plan that people were shown was approved.'),
    canStop: z.boolean().describe('A stop would be admitted.'),
    stop: stopRepresentation.nullable().describe('How far a stop has come; null while nobody has asked for one.'),
    createdAt: instant,
    updatedAt: instant,
    links,
  })
  .meta({ id: 'Run' });
export type RunRepresentation = z.infer<typeof runRepresentation>;
