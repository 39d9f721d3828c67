import { z } from 'zod';
import { instant, links, nextCursor, pageCursor, pageLimit, requester, timestamp } from './fields.js';

/**
 * The wire format of durable sessions. Two moments are told apart everywhere: an append is *accepted* (in memory, in order,
 * seen by later reads of the state) and becomes *durable* later; only a flush, or an append with `durable=true`, says so.
 */

const word = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters');
/** Looked at by the rules for session ids; its characters are the caller's own. */
const sessionId = z.string().min(1).max(200);
const anyObject = z.record(z.string(), z.unknown());
export const seq = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const ref = z.string().min(1).max(128);
const ownerEpoch = z
  .int()
  .min(1)
  .max(Number.MAX_SAFE_INTEGER)
  .describe('The epoch that attaching gave; an older one is refused with `owner_epoch_stale`.');

const harness = z
  .strictObject({
    instanceId: word.describe('This instance of the harness.'),
    version: word.optional(),
  })
  .meta({ id: 'Harness' });

export const openSessionBody = z
  .strictObject({
    sessionId: sessionId.optional().describe('Your own name; without it one is given.'),
    metadata: anyObject.default({}),
    harness,
    parent: z
      .strictObject({
        sessionId,
        runId: ref.optional(),
        toolCallId: ref.optional(),
        subagentId: ref.optional(),
      })
      .optional()
      .describe('Whose work it does, when another session handed it over.'),
  })
  .meta({ id: 'OpenSession' });

export const attachSessionBody = z.strictObject({ harness }).meta({ id: 'AttachSession' });

export const detachSessionBody = z
  .strictObject({ ownerEpoch, reason: z.string().min(1).max(200).default('done') })
  .meta({ id: 'DetachSession' });

const appendedEvent = z.strictObject({
  type: z.string().min(1).max(64).describe('As docs/sessions.md lists.'),
  runId: ref.optional(),
  turnId: ref.optional(),
  stepId: ref.optional(),
  toolCallId: ref.optional(),
  reasoningObjectId: ref.optional(),
  skillId: ref.optional(),
  causationId: ref.optional().describe('The event of this session that led here.'),
  occurredAt: timestamp.optional().describe('When it happened; without it, now.'),
  payload: anyObject,
});

export const appendEventsBody = z
  .strictObject({
    ownerEpoch,
    expectedSeq: seq.describe('The `seq` the first of them gets: `headSeq` + 1 of the last answer.'),
    events: z.array(appendedEvent).min(1),
    atomic: z.boolean().default(false).describe('They also become durable together or not at all.'),
  })
  .meta({ id: 'AppendEvents' });

export const appendQuery = z.strictObject({
  durable: z.enum(['true', 'false']).optional().describe('`true`: answer when the disk has them.'),
});

export const flushBody = z.strictObject({}).meta({ id: 'FlushSession' });

/** `headSeq` is accepted, `durableSeq` is on disk; -1: nothing. */
const marks = { headSeq: z.int(), durableSeq: z.int() };

export const appendAnswer = z.strictObject({
  ...marks,
  /** True only when every event of this answer is on disk. */
  durable: z.boolean(),
  /** True when the same batch had been appended before. */
  replayed: z.boolean(),
  eventIds: z.array(z.string()),
});
export type AppendAnswer = z.infer<typeof appendAnswer>;

export const flushAnswer = z.strictObject({ ...marks, durable: z.literal(true) });
export type FlushAnswer = z.infer<typeof flushAnswer>;

export const sessionRepresentation = z
  .strictObject({
    sessionId: z.string(),
    status: z.enum(['open', 'deleted']),
    principal: requester,
    ownerEpoch: z.int(),
    harnessInstanceId: z.string().nullable(),
    parent: anyObject.nullable(),
    /** Null: the session is not in memory here. */
    log: z
      .strictObject({
        ...marks,
        pending: z.int(),
        active: z.int(),
        barrier: z.boolean(),
        automaticPaused: z.boolean(),
        lastError: z.string().nullable(),
        revision: z.string().nullable(),
      })
      .nullable(),
    createdAt: instant,
    updatedAt: instant,
    links,
  })
  .meta({ id: 'Session' });
export type SessionRepresentation = z.infer<typeof sessionRepresentation>;

export const sessionListQuery = z.strictObject({ limit: pageLimit, cursor: pageCursor });
export const sessionPage = z.strictObject({ items: z.array(sessionRepresentation), nextCursor });
export type SessionPage = z.infer<typeof sessionPage>;

/** What a harness needs to go on. Nothing in it was executed, sent or decided by making it. */
export const resumePacket = z
  .strictObject({
    sessionId: z.string(),
    ownerEpoch: z.int(),
    ...marks,
    /** False: the session can only be read. */
    canResume: z.boolean(),
    notResumableReason: z.string().nullable(),
    /** `live`, `main`, `bak` (the newest snapshot could not be read), `rebuilt` (no snapshot could), `new`. */
    loadedFrom: z.string(),
    /** Paired: fit to be sent to a model, except for `trailing`. */
    history: z.array(anyObject),
    /** Calls of the last assistant message that wait; a model must not be asked before they are answered. */
    waitingCalls: z.array(z.string()),
    state: anyObject,
    runState: anyObject.nullable(),
    pendingApprovals: z.array(
      z.strictObject({
        approvalId: z.string(),
        toolCallId: z.string(),
        capability: z.string(),
        risk: z.string(),
        decideBy: z.string(),
        link: z.string(),
      }),
    ),
    /** Each governed call of the run: what is known of it, and what may be done about it. */
    toolCalls: z.array(
      z.strictObject({
        toolCallId: z.string(),
        callId: z.string().nullable(),
        turnId: z.string().nullable(),
        capability: z.string(),
        status: z.string(),
        /** `replay`: nothing was sent · `ask`: only the tool, a look-up or a person can tell · `forbid`: over. */
        recovery: z.enum(['replay', 'ask', 'forbid']),
        mayHaveHappened: z.boolean(),
        retryAllowed: z.boolean(),
        waitingFor: z.string().nullable(),
        guidance: z.string(),
      }),
    ),
    happened: z.array(z.string()),
    inProgress: z.array(z.string()),
    uncertain: z.array(z.string()),
    /** What adds no new risk, in order. */
    nextSafe: z.array(z.string()),
    versions: z.strictObject({ verdict: z.string(), from: z.string(), to: z.string() }).nullable(),
    checkpoint: anyObject.nullable(),
    links,
  })
  .meta({ id: 'ResumePacket' });
export type ResumePacketRepresentation = z.infer<typeof resumePacket>;

export const startRunBody = z
  .strictObject({
    ownerEpoch,
    clientId: word.describe("The harness's own name of the run: the same name is the same run."),
    goalRef: z.string().min(1).max(512).optional(),
  })
  .meta({ id: 'StartRun' });

export const sessionEventsQuery = z.strictObject({
  fromSeq: z.coerce
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('The first `seq` wanted; without it the beginning.'),
  limit: z.coerce.number().int().min(1).max(1000).optional(),
});

/** One row of the log, durable. */
export const sessionEventRepresentation = z
  .strictObject({
    kind: z.enum(['event', 'mirror']),
    seq,
    eventId: z.string(),
    eventType: z.string(),
    runId: z.string().nullable(),
    turnId: z.string().nullable(),
    stepId: z.string().nullable(),
    toolCallId: z.string().nullable(),
    producer: z.string(),
    occurredAt: instant,
    recordedAt: instant,
    synthetic: z.boolean(),
    /** Of a governed event its index in the ledger; null for what the conversation says. */
    position: z.int().nullable(),
    /** Of a governed event null: `GET /v1/events` has it. */
    payload: anyObject.nullable(),
  })
  .meta({ id: 'SessionEvent' });
export type SessionEventRepresentation = z.infer<typeof sessionEventRepresentation>;

export const sessionEventPage = z.strictObject({
  items: z.array(sessionEventRepresentation),
  /** The `fromSeq` of the next page; null at the durable end. */
  nextSeq: z.int().nullable(),
  ...marks,
});
export type SessionEventPage = z.infer<typeof sessionEventPage>;

export const inspectQuery = z.strictObject({
  deep: z.enum(['true', 'false']).optional().describe('`true`: every digest of a payload is computed again.'),
});

export const inspectAnswer = z.strictObject({
  sessionId: z.string(),
  /** One word for the tail or the damage; `code` is what a load would be refused with. */
  verdict: z.string(),
  code: z.string().nullable(),
  report: anyObject,
});
export type InspectAnswer = z.infer<typeof inspectAnswer>;

export const SAVE_POINTS = ['after_user_input', 'after_assistant_turn', 'after_tool_batch'] as const;

export const saveStateBody = z.strictObject({ ownerEpoch, savePoint: z.enum(SAVE_POINTS) }).meta({ id: 'SaveState' });

export const notResumableBody = z
  .strictObject({ ownerEpoch, reason: z.string().min(1).max(200).optional() })
  .meta({ id: 'MarkNotResumable' });

export const stateRepresentation = z.strictObject({
  sessionId: z.string(),
  /** Where in the log the state stands. */
  position: z.strictObject({ lastSeq: z.int(), lastEventId: z.string().nullable() }),
  agentState: anyObject,
  runState: anyObject.nullable(),
  canResume: z.boolean(),
  saved: z.boolean(),
});
export type StateRepresentation = z.infer<typeof stateRepresentation>;

export type OpenSessionBody = z.input<typeof openSessionBody>;
export type AttachSessionBody = z.input<typeof attachSessionBody>;
export type DetachSessionBody = z.input<typeof detachSessionBody>;
export type AppendEventsBody = z.input<typeof appendEventsBody>;
export type StartRunBody = z.input<typeof startRunBody>;
export type SaveStateBody = z.input<typeof saveStateBody>;
export type NotResumableBody = z.input<typeof notResumableBody>;
