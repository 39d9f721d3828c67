import { z } from 'zod';
import { commandId, consentDigest, id, instant, reason, verdict, words } from './fields.js';

/** Wire format of stopping, suspending and resuming runs, and of undoing a call. */

const runTarget = z.strictObject({ runId: id });

/** `resume` is one word for two things: a decision about an approval, and letting a run go on. */
export const resumeCommand = z.strictObject({
  commandId,
  type: z.literal('resume'),
  target: z.union([z.strictObject({ approvalId: id }), runTarget]),
  decision: verdict.describe('Required for an approval; a run takes none.').optional(),
  digest: consentDigest.optional(),
  reason,
});

export const stopCommand = z.strictObject({
  commandId,
  type: z.literal('stop'),
  target: runTarget,
  modelActive: z
    .boolean()
    .describe('True when a model is still generating for this run: the stop then waits for the report that it is not.')
    .optional(),
  reason,
});

export const suspendCommand = z.strictObject({ commandId, type: z.literal('suspend'), target: runTarget, reason });

/** Proposes the call that the manifest names as the one that undoes this one. */
export const compensationBody = z
  .strictObject({ reason: words.describe('Shown to approvers as untrusted text.').optional() })
  .meta({ id: 'Compensation' });
export type CompensationBody = z.infer<typeof compensationBody>;

export const cancellationRepresentation = z
  .strictObject({
    status: z.enum(['requested', 'unanswered', 'confirmed', 'impossible']),
    reason: z.string().nullable().describe('Why it cannot be stopped, where that is on record.'),
  })
  .meta({
    id: 'Cancellation',
    description: 'What is on record about stopping what was sent. `requested` and `unanswered` claim nothing.',
  });

export const stopRepresentation = z
  .strictObject({
    requestedAt: instant,
    requestedBy: z.string(),
    model: z.enum(['idle', 'active', 'cancelled']),
    calls: z.array(
      z.strictObject({
        toolCallId: id,
        leg: z.enum([
          'open',
          'not_started',
          'cancel_requested',
          'cancelled',
          'irreversible',
          'finished',
          'handed_over',
        ]),
      }),
    ),
  })
  .meta({ id: 'Stop', description: 'How far a stop has come, call by call, read from what is recorded about each.' });
