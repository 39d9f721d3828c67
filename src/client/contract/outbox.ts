import { z } from 'zod';
import { commandId } from './fields.js';

export const sinkName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'must be the name of a sink');
const place = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const deadLetterQuery = z.strictObject({
  sink: sinkName.optional(),
  /** Dead letters after this position; from the start without it. */
  after: z
    .string()
    .regex(/^(?:-1|\d{1,15})$/, 'must be a position')
    .optional(),
  limit: z.coerce.number().int().min(1).max(1000).optional(),
});

/** `position: "all"` is the oldest 500 of the sink. */
export const deadLetterReplayBody = z
  .strictObject({ commandId, sink: sinkName, position: z.union([place, z.literal('all')]) })
  .meta({ id: 'DeadLetterReplay' });
export type DeadLetterReplayBody = z.infer<typeof deadLetterReplayBody>;

/** Both ends are included; without an end up to where the sink is. */
export const sinkReplayBody = z
  .strictObject({ commandId, fromPosition: place, toPosition: place.optional() })
  .meta({ id: 'SinkReplay' });
export type SinkReplayBody = z.infer<typeof sinkReplayBody>;

export const sinkRepresentation = z
  .strictObject({
    name: z.string(),
    kind: z.enum(['webhook', 'file', 'chat']),
    /** Everything up to this position has been delivered, passed over by the filter or put aside; -1 before the first. */
    cursor: z.int(),
    lagPositions: z.int(),
    /** Age in milliseconds of the oldest event that is still to be delivered. */
    lagMs: z.int(),
    parked: z.int(),
    dead: z.int(),
    /** Why the sink takes nothing now; null while it does. */
    lastError: z.string().nullable(),
    failingSince: z.string().nullable(),
    /** An operator's replay that is under way. */
    replay: z.strictObject({ position: z.int(), toPosition: z.int() }).nullable(),
  })
  .meta({ id: 'Sink' });
export type SinkRepresentation = z.infer<typeof sinkRepresentation>;

export const sinkList = z.strictObject({ items: z.array(sinkRepresentation) });
export type SinkListRepresentation = z.infer<typeof sinkList>;

export const deadLetterRepresentation = z
  .strictObject({
    sink: z.string(),
    position: z.int(),
    eventId: z.string(),
    eventType: z.string(),
    tenant: z.string(),
    /** What keeps its order: `call/…` or another stream. */
    partition: z.string(),
    tries: z.int(),
    lastError: z.string().nullable(),
    recordedAt: z.string(),
    parkedAt: z.string(),
  })
  .meta({ id: 'DeadLetter' });

export const deadLetterPage = z.strictObject({
  items: z.array(deadLetterRepresentation),
  /** Give it as `after` for the next page; null when this was the last. */
  nextAfter: z.int().nullable(),
});
export type DeadLetterPageRepresentation = z.infer<typeof deadLetterPage>;
