import { z } from 'zod';

export const capabilityRepresentation = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    title: z.string(),
    description: z.string(),
    risk: z.string(),
    effect: z.string(),
    inputSchema: z.record(z.string(), z.unknown()).describe('JSON Schema of the arguments.'),
    outputSchema: z.record(z.string(), z.unknown()).nullable(),
    idempotencyKeyRequired: z.boolean(),
    state: z.enum(['active', 'paused', 'held']),
    manifestDigest: z.string(),
  })
  .meta({
    id: 'Capability',
    description: 'As an agent needs it: what to send, what it may cost, whether a key is needed.',
  });
export type CapabilityRepresentation = z.infer<typeof capabilityRepresentation>;

export const capabilityList = z
  .strictObject({ items: z.array(capabilityRepresentation) })
  .meta({ id: 'CapabilityList' });
export type CapabilityList = z.infer<typeof capabilityList>;
