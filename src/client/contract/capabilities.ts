import { z } from 'zod';

export const capabilityRepresentation = z.strictObject({
  name: z.string(),
  version: z.string(),
  title: z.string(),
  description: z.string(),
  risk: z.string(),
  effect: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).nullable(),
  idempotencyKeyRequired: z.boolean(),
  state: z.string(),
  manifestDigest: z.string(),
});
export type CapabilityRepresentation = z.infer<typeof capabilityRepresentation>;
