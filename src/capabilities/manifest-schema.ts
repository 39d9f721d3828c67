import { z } from 'zod';
import { DOWNSTREAM_KEY_LENGTH_MIN } from '../domain/digests/digests.js';
import { KNOWN_EFFECTS } from '../domain/events/catalogue.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';
import { parsePointer } from '../domain/json/json-pointer.js';
import { EFFECTS, RISKS } from '../domain/tool-call/tool-call.state.js';
import { DAY_MS, durationWord, parseDuration } from './duration.js';
import { leaseKeys } from './lease-schema.js';
import { PRECONDITION_TIMEOUT_MS_MAX, preconditionsSchema } from './precondition-schema.js';
import { hasHiddenText } from './schema-rules.js';

/** `refund.create`: lower-case words, joined by dots. */
export const CAPABILITY_NAME = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*$/;
export const CAPABILITY_VERSION =
  /^(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** Node clamps nothing above this: a timer of more than 24.8 days fires at once. */
const TIMEOUT_MS_MAX = 24 * DAY_MS;

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;

const shownText = (lengthMax: number): z.ZodString =>
  z
    .string()
    .min(1)
    .max(lengthMax)
    .refine((text) => !hasHiddenText(text), 'holds invisible or bidirectional characters');

const oneLine = (lengthMax: number): z.ZodString => shownText(lengthMax).regex(/^[^\n\t]*$/, 'must be a single line');

/** A duration in milliseconds between two bounds, both allowed. */
const duration = (minMs: number, maxMs: number): z.ZodType<number> =>
  z.unknown().transform((value, context) => {
    const ms = parseDuration(value);
    if (ms !== null && ms >= minMs && ms <= maxMs) return ms;
    const range = `${durationWord(minMs)} to ${durationWord(maxMs)}`;
    context.addIssue({
      code: 'custom',
      message: `must be a duration such as 500, 30s or 24h (a number is milliseconds), ${range}`,
    });
    return z.NEVER;
  });

const wholeNumber = (min: number, max: number): z.ZodInt => z.int().min(min).max(max);

const jsonPointer = z
  .string()
  .max(512)
  .refine((text) => parsePointer(text) !== null, 'must be a JSON pointer such as /data/0/id (RFC 6901)');

const argumentPointer = jsonPointer.refine((text) => text !== '', 'must name an argument, such as /cardToken');

const jsonObject = z.custom<JsonObject>(
  (value) => isJsonObject(value as JsonValue),
  'must be a map: a JSON Schema 2020-12',
);

const statuses = z.array(wholeNumber(100, 599)).max(64);
const statusList = statuses.readonly();
const wordList = z.array(z.string().min(1).max(128)).max(64);
const words = wordList.readonly();
const textByName = z.record(z.string().min(1).max(128), z.string().max(2_048)).readonly();

const httpMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

const request = z
  .strictObject({
    method: httpMethod,
    path: z.string().min(1).max(2_048),
    query: textByName.default({}),
    headers: textByName.default({}),
    body: z.custom<JsonValue>(() => true).default(null),
  })
  .readonly();

const connector = z
  .strictObject({
    kind: z.literal('http'),
    baseUrl: z.string().min(1).max(2_048),
    allowAddresses: z.array(z.string().min(1).max(64)).max(32).readonly().default([]),
    credential: z.string().min(1).max(64).nullable().default(null),
    request,
    responseBytesMax: wholeNumber(1, 16_777_216).default(262_144),
  })
  .readonly();

const idempotency = z
  .strictObject({
    header: z.string().regex(HEADER_NAME, 'must be the name of a header').nullable().default(null),
    argument: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be the name of a top-level field of the body')
      .nullable()
      .default(null),
    keyLengthMax: wholeNumber(DOWNSTREAM_KEY_LENGTH_MIN, 255).default(255),
    keyRetention: duration(1_000, 3_650 * DAY_MS)
      .nullable()
      .default(null),
    callerKeyTemplate: z.string().min(1).max(512).nullable().default(null),
    replayAsProbe: z.boolean().default(false),
  })
  .readonly();

const probe = z
  .strictObject({
    strategy: z.enum(['query_by_idempotency_key', 'query_by_external_id']),
    request,
    foundAt: jsonPointer.default(''),
    statusAt: jsonPointer.nullable().default(null),
    happenedWhen: words.default([]),
    failedWhen: words.default([]),
    pendingWhen: words.default([]),
    referenceAt: jsonPointer.nullable().default(null),
    visibilityDelay: duration(0, DAY_MS),
    absenceIsProof: z.boolean(),
    attemptsMax: wholeNumber(1, 1_000).default(12),
    budget: duration(1_000, TIMEOUT_MS_MAX).default(600_000),
    credential: z.string().min(1).max(64).nullable().default(null),
  })
  .readonly();

/** How long evidence that comes by itself is waited for. A day, where the manifest does not say. */
const patience = duration(1_000, TIMEOUT_MS_MAX).default(DAY_MS);

const callback = z
  .strictObject({
    secret: z.string().min(1).max(64),
    statusAt: jsonPointer,
    happenedWhen: wordList.min(1).readonly(),
    failedWhen: words.default([]),
    pendingWhen: words.default([]),
    effectAt: jsonPointer.default(''),
    referenceAt: jsonPointer.nullable().default(null),
    keyAt: jsonPointer.nullable().default(null),
    budget: patience,
  })
  .readonly();

const cancel = z
  .strictObject({
    by: z.enum(['idempotency_key', 'external_id']),
    request,
    cancelledStatus: statuses.min(1).readonly().default([200, 204]),
    refusedStatus: statusList.default([404, 405, 409, 410, 422]),
    statusAt: jsonPointer.nullable().default(null),
    cancelledWhen: words.default([]),
    refusedWhen: words.default([]),
    effect: z.enum(KNOWN_EFFECTS).default('none'),
    timeout: duration(100, 60_000).default(5_000),
  })
  .readonly();

const compensationArgument = z.union([
  z.strictObject({ from: z.enum(['arguments', 'result']), at: jsonPointer }).readonly(),
  z.strictObject({ from: z.enum(['downstreamKey', 'externalRequestId', 'toolCallId']) }).readonly(),
  z.strictObject({ value: z.custom<JsonValue>((value) => value !== undefined) }).readonly(),
]);

const compensation = z
  .strictObject({
    capability: z.string().max(64).regex(CAPABILITY_NAME, 'must be the name of a capability'),
    arguments: z.record(z.string().min(1).max(128), compensationArgument).readonly(),
  })
  .readonly();

const evidenceKind = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be lower-case words such as provider_status');

const success = z
  .strictObject({
    criteria: z.string().regex(/^[a-z][a-z0-9_.-]{0,63}$/, 'must be a lower-case name such as refund_settled'),
    version: z.string().min(1).max(32).default('1'),
    within: duration(1_000, 3_650 * DAY_MS),
    needs: z.array(evidenceKind).min(1).max(8).readonly(),
    sources: z
      .array(
        z
          .strictObject({
            subject: z.string().regex(/^[\x21-\x7e]{1,256}$/, 'must be the subject of a token'),
            evidence: z.array(evidenceKind).min(1).max(16).readonly(),
            authoritative: z.boolean().default(false),
          })
          .readonly(),
      )
      .min(1)
      .max(16)
      .readonly(),
  })
  .readonly();

const preconditions = preconditionsSchema({
  request,
  jsonPointer,
  argumentPointer,
  title: oneLine(120),
  timeout: duration(100, PRECONDITION_TIMEOUT_MS_MAX).default(5_000),
});

/**
 * The keys of a manifest as an operator writes them. Durations are words or milliseconds. A key that is not here is refused; whatever
 * depends on more than one key is in manifest-rules.ts.
 */
export const MANIFEST_KEYS = {
  name: z.string().max(64).regex(CAPABILITY_NAME, 'must be lower-case words joined by dots, such as refund.create'),
  version: z.string().max(32).regex(CAPABILITY_VERSION, 'must be a version such as 1.0.0'),
  title: oneLine(120),
  description: shownText(4_000),
  inputSchema: jsonObject,
  outputSchema: jsonObject.nullable().default(null),
  risk: z.enum(RISKS),
  effect: z.enum(EFFECTS),
  connector,
  idempotency: idempotency.prefault({}),
  probe: probe.nullable().default(null),
  callback: callback.nullable().default(null),
  statement: z.strictObject({ budget: patience }).readonly().nullable().default(null),
  resolvers: wholeNumber(1, 2).default(1),
  cancel: cancel.nullable().default(null),
  compensation: compensation.nullable().default(null),
  definitiveStatus: statusList.nullable().default(null),
  rejectedBeforeExecutionStatus: statusList.default([]),
  pending: z
    .strictObject({ status: statuses.min(1).readonly(), referenceAt: jsonPointer })
    .readonly()
    .nullable()
    .default(null),
  timeout: duration(100, TIMEOUT_MS_MAX).default(30_000),
  quiesce: duration(10, 3_600_000).default(5_000),
  onAmbiguous: z.enum(['reconcile', 'handoff']).nullable().default(null),
  lateResult: z.enum(['callback', 'poll', 'none']).default('none'),
  retryRejected: z.boolean().default(true),
  redact: z.array(argumentPointer).max(64).readonly().default([]),
  personal: z.array(argumentPointer).max(64).readonly().default([]),
  concurrency: wholeNumber(1, 10_000).default(16),
  ratePerSecond: z.number().min(0.001).max(100_000).nullable().default(null),
  success: success.nullable().default(null),
  ...leaseKeys(duration),
  preconditions: preconditions.nullable().default(null),
} as const;

export type ManifestKey = keyof typeof MANIFEST_KEYS;

/** The manifest as far as it could be read: a key with a problem of its own is undefined. */
export type ManifestDraft = { readonly [K in ManifestKey]?: z.output<(typeof MANIFEST_KEYS)[K]> | undefined };
