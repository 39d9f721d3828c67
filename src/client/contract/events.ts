import { z } from 'zod';
import { id, instant } from './fields.js';

/** The position of an event; -1 is before the first. */
const position = z.string().regex(/^(?:-1|\d{1,15})$/, 'must be a position: a whole number, or -1 for the start');

/** Also as the `Last-Event-ID` header of a stream, which wins over `after`. */
export const lastEventId = position;

export const eventQuery = z.strictObject({
  after: position.describe('Events after this position; from the start without it.').optional(),
  runId: id.describe('Only the events of this run. A harness must name one of its own.').optional(),
  types: z.string().min(1).max(4096).describe('Event types, separated by commas.').optional(),
  limit: z.coerce.number().int().min(1).max(1000).describe('Of a page; a stream has no limit.').optional(),
});

/** A governed event, in a page and as the data of a server-sent event. */
export const eventRepresentation = z
  .strictObject({
    position: z.int().describe('Dense over all tenants, in commit order: the cursor.'),
    eventId: z.string(),
    eventType: z.string(),
    schemaVersion: z.int(),
    streamKind: z.string(),
    streamId: z.string(),
    version: z.int().describe('Contiguous from 1 per stream.'),
    runId: z.string().nullable(),
    toolCallId: z.string().nullable(),
    approvalId: z.string().nullable(),
    actor: z
      .strictObject({ sub: z.string(), act: z.record(z.string(), z.unknown()).optional() })
      .describe('On whose behalf, and the agent that acts: `{sub, act?}` again, for chains.'),
    correlationId: z.string(),
    causationId: z.string().nullable(),
    causeKind: z.enum(['event', 'external', 'timer']),
    occurredAt: instant,
    recordedAt: instant,
    commandId: z.string().optional(),
    payload: z.record(z.string(), z.unknown()).describe('Redacted arguments read `[redacted:…]`.'),
  })
  .meta({ id: 'Event', description: 'A governed event, in a page and as the data of a server-sent event.' });
export type EventRepresentation = z.infer<typeof eventRepresentation>;

export const eventPage = z
  .strictObject({
    items: z.array(eventRepresentation),
    nextAfter: z
      .int()
      .describe('Where the next page begins. A page may hold fewer items than its limit, or none, before the end.'),
    head: z
      .int()
      .describe('Position of the newest event of the installation, -1 when there is none: `nextAfter` at the end.'),
  })
  .meta({ id: 'EventPage' });
export type EventPageRepresentation = z.infer<typeof eventPage>;
