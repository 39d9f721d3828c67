import { z } from 'zod';
import { id } from './fields.js';

/** The position of an event; -1 is before the first. */
const position = z.string().regex(/^(?:-1|\d{1,15})$/, 'must be a position: a whole number, or -1 for the start');

/** Also as the `Last-Event-ID` header of a stream, which wins over `after`. */
export const lastEventId = position;

export const eventQuery = z.strictObject({
  /** Events after this position; from the start without it. */
  after: position.optional(),
  /** Only the events of this run. A harness must name one of its own. */
  runId: id.optional(),
  /** Event types, separated by commas. */
  types: z.string().min(1).max(4096).optional(),
  /** Of a page; a stream has no limit. */
  limit: z.coerce.number().int().min(1).max(1000).optional(),
});

/** A governed event, in a page and as the data of a server-sent event. Redacted arguments read `[redacted:…]`. */
export const eventRepresentation = z.strictObject({
  /** Dense over all tenants, in commit order: the cursor. */
  position: z.int(),
  eventId: z.string(),
  eventType: z.string(),
  schemaVersion: z.int(),
  streamKind: z.string(),
  streamId: z.string(),
  /** Contiguous from 1 per stream. */
  version: z.int(),
  runId: z.string().nullable(),
  toolCallId: z.string().nullable(),
  approvalId: z.string().nullable(),
  /** On whose behalf, and the agent that acts: `{sub, act?}` again, for chains. */
  actor: z.strictObject({ sub: z.string(), act: z.record(z.string(), z.unknown()).optional() }),
  correlationId: z.string(),
  causationId: z.string().nullable(),
  causeKind: z.enum(['event', 'external', 'timer']),
  occurredAt: z.string(),
  recordedAt: z.string(),
  commandId: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
});
export type EventRepresentation = z.infer<typeof eventRepresentation>;

export const eventPage = z.strictObject({
  items: z.array(eventRepresentation),
  /** Where the next page begins. A page may hold fewer items than its limit, or none, before the end. */
  nextAfter: z.int(),
  /** Position of the newest event of the installation, -1 when there is none: `nextAfter` equals it at the end. */
  head: z.int(),
});
export type EventPageRepresentation = z.infer<typeof eventPage>;
