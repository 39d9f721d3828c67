import { z } from 'zod';

export const liveness = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Liveness' });
export type Liveness = z.infer<typeof liveness>;

const reason = z
  .strictObject({
    name: z.string().describe('Stable, for alerts.'),
    severity: z.enum(['not_ready', 'degraded', 'information']),
    detail: z.string().describe('For people.'),
    about: z
      .array(z.string())
      .optional()
      .describe(
        'What it is about; only for callers with a token, and words of policies for those who run the installation.',
      ),
  })
  .meta({ id: 'ReadinessReason' });

export const readiness = z
  .strictObject({
    ready: z.boolean().describe('False: the process can do nothing for anybody.'),
    degraded: z.boolean().describe('True: an operator should look.'),
    reasons: z.array(reason).describe('What stands against the process.'),
    information: z.array(reason).describe('What is no fault and should be known.'),
  })
  .meta({ id: 'Readiness' });
export type ReadinessRepresentation = z.infer<typeof readiness>;
