import { z } from 'zod';
import { lastEventId } from '../../client/contract/events.js';

/** A header of a request that the server reads. Its value is judged where it is used, which may have a code of its own. */
export interface RequestHeader<N extends string = string> {
  readonly name: N;
  readonly means: string;
  readonly schema: z.ZodType;
  readonly example: string;
}

/** A header that an answer of ours carries: always, or when what it means is so. */
export interface AnswerHeader {
  readonly name: string;
  readonly means: string;
  readonly always: boolean;
  readonly schema: z.ZodType;
}

/** What node has parsed: names in lower case. */
export type SentHeaders = Readonly<Record<string, string | undefined>>;

/** The headers that an operation declares. To read another one does not compile. */
export function readHeaders<const H extends readonly RequestHeader[]>(
  _declared: H,
  sent: SentHeaders,
): Readonly<Record<Lowercase<H[number]['name']>, string | undefined>> {
  return sent as Record<Lowercase<H[number]['name']>, string | undefined>;
}

export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  means:
    'Names the intent: the same key with the same arguments is the same call. Required for every effect but `read_only`, unless the manifest derives it.',
  schema: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  example: 'refund-ord_1001-1',
} as const satisfies RequestHeader;

export const COMMAND_KEY = {
  name: 'Idempotency-Key',
  means: 'Instead of `commandId` in the body, which wins.',
  schema: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  example: 'pause-refunds-2031-01-01',
} as const satisfies RequestHeader;

export const RUN_ID = {
  name: 'Run-Id',
  means: "The caller's own name for a run; calls of the same principal and name share it.",
  schema: z.string().regex(/^[\x21-\x7e]{1,128}$/),
  example: 'ticket-4711',
} as const satisfies RequestHeader;

export const PREFER = {
  name: 'Prefer',
  means: '`wait=SECONDS` (RFC 7240) holds the answer up to that long for an end of the call; a setting bounds it.',
  schema: z.string(),
  example: 'wait=10',
} as const satisfies RequestHeader;

export const IF_MATCH = {
  name: 'If-Match',
  means: 'The `ETag` the approval was read with; a decision about another version is refused with 412.',
  schema: z.string(),
  example: '"apr_01jz0q6k3v5m8x2c4d7f9h1k3n.1"',
} as const satisfies RequestHeader;

export const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  means: 'Of a stream: the `id` of the last event received. Wins over `after`.',
  schema: lastEventId,
  example: '41',
} as const satisfies RequestHeader;

export const WEBHOOK_ID = {
  name: 'Webhook-Id',
  means: "The sender's id of the callback: sent again, it is a duplicate.",
  schema: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  example: 'msg_2031_01_01_17',
} as const satisfies RequestHeader;

export const WEBHOOK_TIMESTAMP = {
  name: 'Webhook-Timestamp',
  means: 'Seconds since 1970 when it was signed.',
  schema: z.string().regex(/^\d{1,12}$/),
  example: '1925028000',
} as const satisfies RequestHeader;

export const WEBHOOK_SIGNATURE = {
  name: 'Webhook-Signature',
  means: '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several are separated by spaces.',
  schema: z.string(),
  example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
} as const satisfies RequestHeader;

export const ETAG = {
  name: 'ETag',
  means: 'Version of the approval, for `If-Match`.',
  always: true,
  schema: z.string().regex(/^"[a-z0-9_]+\.\d{1,9}"$/),
} as const satisfies AnswerHeader;

export const LOCATION = {
  name: 'Location',
  means: 'Where the call can be read.',
  always: true,
  schema: z.string().regex(/^\/v1\/tool-calls\//),
} as const satisfies AnswerHeader;

export const IDEMPOTENT_REPLAYED = {
  name: 'Idempotent-Replayed',
  means: 'There when the key or callId named an earlier call, which this is.',
  always: false,
  schema: z.literal('true'),
} as const satisfies AnswerHeader;

export const PREFERENCE_APPLIED = {
  name: 'Preference-Applied',
  means: 'The wait that was granted, in whole seconds.',
  always: false,
  schema: z.string().regex(/^wait=\d{1,6}$/),
} as const satisfies AnswerHeader;

export const COUNTERSIGN_COMMAND = {
  name: 'Countersign-Command',
  means: 'The command that the decision was recorded as; `GET /v1/control/{commandId}` shows it.',
  always: true,
  schema: z.string(),
} as const satisfies AnswerHeader;

export const RETRY_AFTER = {
  name: 'Retry-After',
  means: 'Seconds after which to try again.',
  always: true,
  schema: z.string().regex(/^\d{1,6}$/),
} as const satisfies AnswerHeader;

export const WWW_AUTHENTICATE = {
  name: 'WWW-Authenticate',
  means: 'The scheme that is asked for.',
  always: true,
  schema: z.literal('Bearer'),
} as const satisfies AnswerHeader;
