import { z } from 'zod';
import { links, timestamp } from './fields.js';

/** The wire format of feedback about the outcome of a call. */

const word = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters');

export const feedbackBody = z
  .strictObject({
    /** The source's own id: the same id is the same feedback, and is recorded once. */
    feedbackId: word,
    /** What the source says of the success criteria. */
    verdict: z.enum(['met', 'failed', 'inconclusive']),
    criteriaId: z.string().min(1).max(64),
    criteriaVersion: z.string().min(1).max(32),
    /** When the source looked. */
    verifiedAt: timestamp,
    evidenceRefs: z
      .array(
        z.strictObject({
          kind: z.string().min(1).max(64),
          /** Where the evidence is kept: a statement line, a document, a URL. */
          ref: z.string().min(1).max(512),
          digest: z
            .string()
            .regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 hex digits of the evidence')
            .optional(),
        }),
      )
      .max(16),
    note: z.string().min(1).max(1000).optional(),
  })
  .meta({ id: 'Feedback' });
export type FeedbackBody = z.infer<typeof feedbackBody>;

export const feedbackRepresentation = z.strictObject({
  toolCallId: z.string(),
  feedbackId: z.string(),
  status: z.literal('received'),
  /** True when this feedback had been taken before. */
  replayed: z.boolean(),
  /** What the outcome is now; the execution of the call is another matter and stays as it is. */
  outcome: z.strictObject({ status: z.string() }),
  links,
});
export type FeedbackRepresentation = z.infer<typeof feedbackRepresentation>;
