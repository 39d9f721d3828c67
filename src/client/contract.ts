import { z } from 'zod';

/**
 * The wire format of `/v1`: what the server validates with and what clients compile against. Times are RFC 3339 with
 * offset, money is integer minor units, ids are opaque text. Unknown fields in a request are refused.
 */

/** RFC 3339 with an offset, one accepted spelling; anything else is refused whatever the host's time zone. */
const RFC_3339 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** February has no 30th, and a parser that makes it the 2nd of March changes what was agreed. */
function isExistingDay(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  return day !== undefined && day <= new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate();
}

export const timestamp = z
  .string()
  .regex(RFC_3339, 'must be an RFC 3339 time with an offset')
  .refine(isExistingDay, 'must be an existing day');

const id = z.string().min(1).max(64);
const words = z.string().min(1);

export const proposeToolCallBody = z.strictObject({
  /** `name` or `name@version`. */
  capability: z.string().min(1).max(128),
  /** The arguments, judged against the capability's input schema; defaults are filled in by the proxy. */
  arguments: z.record(z.string(), z.unknown()),
  runId: id.optional(),
  turnId: z.string().min(1).max(128).optional(),
  /** The model provider's id of this call: names one call within a run and turn. */
  callId: z.string().min(1).max(256).optional(),
  reasoningObjectId: id.optional(),
  skillId: id.optional(),
  /** Joins calls of one business intent. */
  intentId: z.string().min(1).max(128).optional(),
  /** Also as the `Idempotency-Key` header; both must agree. */
  idempotencyKey: z.string().min(1).max(255).optional(),
  allowDuplicateIntent: z.boolean().optional(),
  /** The agent's words for the approver; shown as untrusted text. */
  reason: words.optional(),
  executeBefore: timestamp.optional(),
});
export type ProposeToolCallBody = z.infer<typeof proposeToolCallBody>;

/** A client's name for its command: the same id is the same command. */
const commandId = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .optional();

export const decisionBody = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  /** The consent digest that the approval showed. */
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be the digest the approval shows'),
  reason: words.optional(),
  commandId,
});
export type DecisionBody = z.infer<typeof decisionBody>;

const pauseTarget = z.union([
  z.literal('all'),
  z.literal('tenant'),
  z.strictObject({ principal: z.string().min(1).max(256) }),
  z.strictObject({ capability: z.string().min(1).max(64) }),
]);
export type PauseTarget = z.infer<typeof pauseTarget>;

export const controlBody = z.discriminatedUnion('type', [
  z.strictObject({
    commandId,
    type: z.literal('resume'),
    target: z.strictObject({ approvalId: id }),
    decision: z.enum(['allow', 'deny']),
    digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be the digest the approval shows'),
    reason: words.optional(),
  }),
  z.strictObject({ commandId, type: z.literal('resume_authorized'), reason: words.optional() }),
  z.strictObject({
    commandId,
    type: z.literal('cancel'),
    target: z.strictObject({ toolCallId: id }),
    reason: words.optional(),
  }),
  z.strictObject({
    commandId,
    type: z.literal('retry'),
    target: z.strictObject({ toolCallId: id }),
    reason: words.optional(),
  }),
  z.strictObject({ commandId, type: z.literal('pause'), target: pauseTarget, reason: words.optional() }),
  z.strictObject({ commandId, type: z.literal('unpause'), target: pauseTarget, reason: words.optional() }),
  z.strictObject({ commandId, type: z.literal('reload'), target: z.literal('policies'), reason: words.optional() }),
]);
export type ControlBody = z.infer<typeof controlBody>;

export const resolutionBody = z.strictObject({
  finding: z.enum(['happened', 'not_happened', 'partial', 'unknowable']),
  /** Where the proof is kept: ticket numbers, statement lines, URLs. */
  evidenceRefs: z.array(z.string().min(1).max(512)).max(32),
  note: words.optional(),
  commandId,
});
export type ResolutionBody = z.infer<typeof resolutionBody>;

const status = z.enum([
  'proposed',
  'authorized',
  'dispatching',
  'dispatched',
  'accepted',
  'result_unknown',
  'reconciling',
  'completed',
  'failed',
  'manual_handoff',
  'denied',
  'not_executed',
]);

/** `needs-reconciliation` stands for result_unknown, reconciling and manual_handoff without a finding. */
export const toolCallListQuery = z.strictObject({
  status: z.union([status, z.literal('needs-reconciliation')]).optional(),
  runId: id.optional(),
  capability: z.string().min(1).max(64).optional(),
  /** Subject of the requester; with `agent`, the calls that agent made for them. */
  principal: z.string().min(1).max(256).optional(),
  agent: z.string().min(1).max(256).optional(),
  from: timestamp.optional(),
  to: timestamp.optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
  cursor: z.string().min(1).max(512).optional(),
});

const approvalStatus = z.enum(['pending', 'granted', 'consumed', 'denied', 'expired', 'invalidated', 'closed']);

export const approvalListQuery = z.strictObject({
  status: approvalStatus.optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
  cursor: z.string().min(1).max(512).optional(),
});

export const waitQuery = z.strictObject({ wait: z.coerce.number().min(0).max(3600).optional() });

/** A tool call as every surface shows it: the same representation whatever its status. */
export const toolCallRepresentation = z.strictObject({
  toolCallId: id,
  status,
  /** Who or what the call waits for; null when it waits for nothing. */
  waitingFor: z.enum(['approval', 'execution', 'upstream', 'reconciliation', 'operator']).nullable(),
  attempt: z.int(),
  capability: z.string(),
  capabilityVersion: z.string(),
  /** Effective arguments; redacted ones read `[redacted:…]`. */
  arguments: z.record(z.string(), z.unknown()),
  argsDigest: z.string(),
  runId: z.string(),
  turnId: z.string().nullable(),
  callId: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  decision: z
    .strictObject({
      outcome: z.enum(['allow', 'deny', 'requires_confirmation']),
      reasons: z.array(z.string()),
      policyRevision: z.string(),
      determining: z.array(z.string()),
    })
    .nullable(),
  approval: z
    .strictObject({
      approvalId: z.string(),
      status: approvalStatus,
      decideBy: z.string(),
      executeBy: z.string().nullable(),
      needed: z.array(z.strictObject({ group: z.string(), count: z.int(), have: z.int() })),
      link: z.string(),
    })
    .nullable(),
  result: z.unknown(),
  resultTruncated: z.boolean(),
  /** The event whose sealed payload holds the result. */
  resultRef: z.string().nullable(),
  error: z
    .strictObject({ code: z.string(), effect: z.enum(['none', 'partial', 'full', 'unknown']), message: z.string() })
    .nullable(),
  mayHaveHappened: z.boolean(),
  retryAllowed: z.boolean(),
  retryReasons: z.array(z.string()),
  reconciliation: z
    .strictObject({
      strategy: z.string().nullable(),
      attempts: z.int(),
      nextAt: z.string().nullable(),
      deadline: z.string().nullable(),
    })
    .nullable(),
  resolution: z.strictObject({ finding: z.string(), evidenceRefs: z.array(z.string()) }).nullable(),
  outcome: z.strictObject({ status: z.string(), evidenceRefs: z.array(z.string()) }),
  /** One sentence for the model: what is known, and whether to call again. */
  guidance: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Position of the newest event of the call. */
  position: z.int(),
  links: z.record(z.string(), z.string()),
});
export type ToolCallRepresentation = z.infer<typeof toolCallRepresentation>;

export const approvalRepresentation = z.strictObject({
  approvalId: id,
  status: approvalStatus,
  toolCallId: id,
  runId: id,
  attempt: z.int(),
  capability: z.string(),
  capabilityVersion: z.string(),
  title: z.string(),
  description: z.string(),
  risk: z.string(),
  effect: z.string(),
  /** What will be sent, in full; hidden and bidirectional characters are shown escaped, redacted values masked. */
  arguments: z.record(z.string(), z.unknown()),
  /** True when there is nothing to see: such a question deserves a second look. */
  argumentsEmpty: z.boolean(),
  target: z.record(z.string(), z.unknown()),
  /** Send this back with the decision. */
  digest: z.string(),
  argsDigest: z.string(),
  shownDigest: z.string(),
  requester: z.strictObject({ sub: z.string(), act: z.string().nullable() }),
  /** The agent's own words: untrusted. */
  agentReason: z.string().nullable(),
  reasons: z.array(z.string()),
  determining: z.array(z.string()),
  policyRevision: z.string(),
  decideBy: z.string(),
  executeByLatest: z.string(),
  executeBy: z.string().nullable(),
  needed: z.array(z.strictObject({ group: z.string(), count: z.int(), have: z.int(), notRequester: z.boolean() })),
  votes: z.array(
    z.strictObject({
      sub: z.string(),
      decision: z.enum(['allow', 'deny']),
      at: z.string(),
      reason: z.string().nullable(),
    }),
  ),
  decidedBy: z.array(z.string()).nullable(),
  statusReason: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  links: z.record(z.string(), z.string()),
});
export type ApprovalRepresentation = z.infer<typeof approvalRepresentation>;

export const runRepresentation = z.strictObject({
  runId: id,
  /** The stored status, or the wait that its open calls and approvals show. */
  status: z.string(),
  implicit: z.boolean(),
  label: z.string().nullable(),
  principal: z.strictObject({ sub: z.string(), act: z.string().nullable() }),
  openCalls: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  links: z.record(z.string(), z.string()),
});
export type RunRepresentation = z.infer<typeof runRepresentation>;

export const commandRepresentation = z.strictObject({
  commandId: z.string(),
  type: z.string(),
  status: z.enum(['accepted', 'rejected']),
  code: z.string().nullable(),
  message: z.string().nullable(),
  receivedAt: z.string(),
  /** Events the command caused, its own first. */
  eventIds: z.array(z.string()),
  links: z.record(z.string(), z.string()),
});
export type CommandRepresentation = z.infer<typeof commandRepresentation>;

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

/** RFC 9457, always with a stable `code`. */
export const problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  /** How to mend it. */
  mend: z.string(),
  /** RFC 6901 pointer of the offending field. */
  pointer: z.string().optional(),
  problems: z.array(z.string()).optional(),
  toolCallId: z.string().optional(),
  approvalId: z.string().optional(),
  commandId: z.string().optional(),
  recordedDecision: z.string().optional(),
});
export type Problem = z.infer<typeof problem>;

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
