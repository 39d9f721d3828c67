import { z } from 'zod';

export const liveness = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Liveness' });
export type Liveness = z.infer<typeof liveness>;

export const readiness = z
  .strictObject({ ready: z.boolean(), reasons: z.array(z.string()).describe('What keeps it from serving.') })
  .meta({ id: 'Readiness' });
export type ReadinessRepresentation = z.infer<typeof readiness>;
