import { z } from 'zod';
import { approvalStatus } from './approvals.js';
import { commandId, id, instant, links, nextCursor, pageCursor, pageLimit, timestamp, words } from './fields.js';
import { cancellationRepresentation } from './run-control.js';

export const proposeToolCallBody = z
  .strictObject({
    capability: z.string().min(1).max(128).describe('`name` or `name@version`.'),
    arguments: z
      .record(z.string(), z.unknown())
      .describe("Judged against the capability's input schema; defaults are filled in by the proxy."),
    runId: id
      .describe("A run of this principal; without it, the one that `Run-Id` names or the principal's run of the day.")
      .optional(),
    turnId: z.string().min(1).max(128).optional(),
    callId: z
      .string()
      .min(1)
      .max(256)
      .describe("The model provider's id of this call: names one call within a run and turn.")
      .optional(),
    reasoningObjectId: id.optional(),
    skillId: id.optional(),
    intentId: z.string().min(1).max(128).describe('Joins calls of one business intent.').optional(),
    idempotencyKey: z
      .string()
      .min(1)
      .max(255)
      .describe('Also as the `Idempotency-Key` header; both must agree.')
      .optional(),
    allowDuplicateIntent: z
      .boolean()
      .describe('Lets a call through although an identical one is not settled yet.')
      .optional(),
    reason: words.describe("The agent's words for the approver; shown as untrusted text.").optional(),
    executeBefore: timestamp.describe('The call is not sent after this time.').optional(),
  })
  .meta({ id: 'ProposeToolCall' });
export type ProposeToolCallBody = z.infer<typeof proposeToolCallBody>;

export const resolutionBody = z
  .strictObject({
    finding: z.enum(['happened', 'not_happened', 'partial', 'unknowable']),
    evidenceRefs: z
      .array(z.string().min(1).max(512))
      .max(32)
      .describe('Where the proof is kept: ticket numbers, statement lines, URLs.'),
    note: words.optional(),
    commandId,
  })
  .meta({ id: 'Resolution' });
export type ResolutionBody = z.infer<typeof resolutionBody>;

const status = z
  .enum([
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
  ])
  .meta({ id: 'ToolCallStatus' });

export const toolCallListQuery = z.strictObject({
  status: z
    .union([status, z.literal('needs-reconciliation'), z.literal('contradicted')])
    .describe(
      '`needs-reconciliation`: result_unknown, reconciling, and manual_handoff without a finding. `contradicted`: ended otherwise than later evidence says.',
    )
    .optional(),
  runId: id.optional(),
  capability: z.string().min(1).max(64).optional(),
  principal: z.string().min(1).max(256).describe('Subject of the requester.').optional(),
  agent: z
    .string()
    .min(1)
    .max(256)
    .describe('With `principal` only: the calls that this agent made for them.')
    .optional(),
  from: timestamp.describe('Created at this time or later.').optional(),
  to: timestamp.describe('Created before this time.').optional(),
  limit: pageLimit,
  cursor: pageCursor,
});

export const waitQuery = z.strictObject({
  wait: z.coerce
    .number()
    .min(0)
    .max(3600)
    .describe('Seconds to wait for an end of the call; a setting (`http.waitMsMax`) bounds it.')
    .optional(),
});

/** A tool call as every surface shows it: the same representation whatever its status. */
export const toolCallRepresentation = z
  .strictObject({
    toolCallId: id,
    status,
    waitingFor: z
      .enum(['approval', 'execution', 'upstream', 'reconciliation', 'operator'])
      .nullable()
      .describe('Who or what the call waits for; null when it waits for nothing.'),
    attempt: z.int(),
    capability: z.string(),
    capabilityVersion: z.string(),
    arguments: z.record(z.string(), z.unknown()).describe('Effective arguments; redacted ones read `[redacted:…]`.'),
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
      .nullable()
      .describe("The policy's decision, the reasons fit for the model, and the policies that determined it."),
    approval: z
      .strictObject({
        approvalId: z.string(),
        status: approvalStatus,
        decideBy: instant,
        executeBy: instant.nullable(),
        needed: z.array(z.strictObject({ group: z.string(), count: z.int(), have: z.int() })),
        link: z.string(),
      })
      .nullable(),
    result: z.unknown().describe('Declared output, or bounded text; null until there is one.'),
    resultTruncated: z.boolean(),
    resultRef: z.string().nullable().describe('The event whose sealed payload holds the result.'),
    externalRequestId: z
      .string()
      .nullable()
      .describe('What the tool calls the request, once it has said so: ask it by this.'),
    error: z
      .strictObject({ code: z.string(), effect: z.enum(['none', 'partial', 'full', 'unknown']), message: z.string() })
      .nullable(),
    mayHaveHappened: z.boolean(),
    contradicted: z
      .boolean()
      .describe('Evidence that came later says otherwise than the end of the call: a person has to look.'),
    retryAllowed: z.boolean(),
    retryReasons: z.array(z.string()),
    reconciliation: z
      .strictObject({
        strategy: z.string().nullable(),
        attempts: z.int(),
        nextAt: instant.nullable(),
        deadline: instant.nullable(),
      })
      .nullable(),
    resolution: z.strictObject({ finding: z.string(), evidenceRefs: z.array(z.string()) }).nullable(),
    cancellation: cancellationRepresentation.nullable(),
    compensates: z.string().nullable().describe('The call that this one is meant to undo.'),
    compensatedBy: z.string().nullable().describe('The call that was proposed to undo this one.'),
    outcome: z.strictObject({ status: z.string(), evidenceRefs: z.array(z.string()) }),
    guidance: z.string().describe('One sentence for the model: what is known, and whether to call again.'),
    createdAt: instant,
    updatedAt: instant,
    position: z.int().describe('Position of the newest event of the call.'),
    links,
  })
  .meta({
    id: 'ToolCall',
    description: 'A tool call as every surface shows it: the same representation whatever its status.',
  });
export type ToolCallRepresentation = z.infer<typeof toolCallRepresentation>;

export const toolCallPage = z
  .strictObject({ items: z.array(toolCallRepresentation), nextCursor })
  .meta({ id: 'ToolCallPage', description: 'Newest first.' });
export type ToolCallPage = z.infer<typeof toolCallPage>;
