import { z } from 'zod';
import { eventRepresentation } from './events.js';
import { id, links } from './fields.js';

/** The wire format of what a harness states about its runs, and of how a run is shown. */

const clientId = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters');
const ref = z.string().min(1).max(512);
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 hex digits');

export const openRunBody = z
  .strictObject({
    /** As in the `Run-Id` header of a proposal: one open run per label. */
    label: clientId,
    goalRef: ref.optional(),
  })
  .meta({ id: 'OpenRun' });

export const turnBody = z
  .strictObject({
    /** The harness's own id of the turn: the same id is the same turn. */
    clientId,
  })
  .meta({ id: 'Turn' });

export const reasoningBody = z
  .strictObject({
    clientId,
    goalRef: ref,
    conclusion: z.string().min(1).max(4000),
    knowledgeRefs: z.array(ref).max(64).default([]),
    evidenceRefs: z.array(ref).max(64).default([]),
    risk: z.enum(['low', 'medium', 'high', 'critical']),
    contextBuildId: id.optional(),
    suggestedAction: z.string().min(1).max(1000).optional(),
    /** Joins what belongs to one business intent; calls that name this reasoning inherit it. */
    intentId: z.string().min(1).max(128).optional(),
    skillId: id.optional(),
  })
  .meta({ id: 'Reasoning' });

export const artifactBody = z
  .strictObject({
    clientId,
    goalRef: ref,
    mediaType: z.string().regex(/^[a-z0-9!#$&^_.+-]{1,64}\/[a-z0-9!#$&^_.+-]{1,64}$/i, 'must be a media type'),
    digest,
    /** Where it is kept. Bytes are never stored here. */
    location: z.string().min(1).max(1024),
    title: z.string().min(1).max(200).optional(),
    reasoningObjectId: id.optional(),
    toolCallId: id.optional(),
  })
  .meta({ id: 'Artifact' });

export const subagentBody = z
  .strictObject({
    clientId,
    childSessionId: id,
    goalRef: ref,
    toolCallId: id.optional(),
  })
  .meta({ id: 'Subagent' });

export const subagentEndBody = z
  .strictObject({
    status: z.enum(['completed', 'failed']),
    resultRef: ref.optional(),
  })
  .meta({ id: 'SubagentEnd' });

export const completeRunBody = z.strictObject({}).meta({ id: 'CompleteRun' });

export const failRunBody = z
  .strictObject({
    code: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a lower-case code such as model_failed'),
    message: z.string().min(1).max(1000).optional(),
  })
  .meta({ id: 'FailRun' });

export type OpenRunBody = z.input<typeof openRunBody>;
export type TurnBody = z.input<typeof turnBody>;
export type ReasoningBody = z.input<typeof reasoningBody>;
export type ArtifactBody = z.input<typeof artifactBody>;
export type SubagentBody = z.input<typeof subagentBody>;
export type SubagentEndBody = z.input<typeof subagentEndBody>;
export type FailRunBody = z.input<typeof failRunBody>;

/** What was recorded. The id is ours and joins the chain; `replayed` when the client's id had been recorded before. */
const recorded = { runId: z.string(), replayed: z.boolean(), links };
export const turnRepresentation = z.strictObject({ turnId: z.string(), ...recorded });
export const reasoningRepresentation = z.strictObject({
  reasoningObjectId: z.string(),
  turnId: z.string().nullable(),
  ...recorded,
});
export const artifactRepresentation = z.strictObject({ artifactId: z.string(), ...recorded });
export const subagentRepresentation = z.strictObject({ subagentId: z.string(), ...recorded });
export const subagentEndRepresentation = z.strictObject({
  subagentId: z.string(),
  runId: z.string(),
  status: z.enum(['completed', 'failed']),
  /** True when the run had ended before: it was recorded, and nothing of the run changed. */
  late: z.boolean(),
});
export type TurnRepresentation = z.infer<typeof turnRepresentation>;
export type ReasoningRepresentation = z.infer<typeof reasoningRepresentation>;
export type ArtifactRepresentation = z.infer<typeof artifactRepresentation>;
export type SubagentRepresentation = z.infer<typeof subagentRepresentation>;
export type SubagentEndRepresentation = z.infer<typeof subagentEndRepresentation>;

/** What a page about a run shows: derived, never a source. */
export const runPageRepresentation = z.strictObject({
  runId: z.string(),
  isBusy: z.boolean(),
  canStop: z.boolean(),
  canResume: z.boolean(),
  approvalBanner: z
    .strictObject({
      pending: z.int(),
      approvals: z.array(
        z.strictObject({
          approvalId: z.string(),
          toolCallId: z.string(),
          capability: z.string(),
          risk: z.string(),
          decideBy: z.string(),
          link: z.string(),
        }),
      ),
    })
    .nullable(),
  toolBadges: z.array(
    z.strictObject({
      toolCallId: z.string(),
      capability: z.string(),
      status: z.string(),
      badge: z.string(),
      waitingFor: z.string().nullable(),
    }),
  ),
  subagentProgress: z.array(z.strictObject({ subagentId: z.string(), state: z.string() })),
  artifactPanel: z.array(z.strictObject({ artifactId: z.string(), createdAt: z.string() })),
  /** Positions of the newest event and of the newest durable one. */
  positions: z.strictObject({ head: z.int(), durable: z.int() }),
});
export type RunPageRepresentation = z.infer<typeof runPageRepresentation>;

export const timelineQuery = z.strictObject({
  /** Only the story of this call, whole, with what it lacks. */
  toolCallId: id.optional(),
  after: z
    .string()
    .regex(/^(?:-1|\d{1,15})$/, 'must be a position: a whole number, or -1 for the start')
    .optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
});

const joined = z.string().nullable();
export const timelineEntryRepresentation = eventRepresentation.extend({
  /** What the event tells in the story: why, what, by whose leave, what came of it. */
  link: z.string(),
  turnId: joined,
  reasoningObjectId: joined,
  skillId: joined,
  capabilityId: joined,
  policyDecisionId: joined,
  artifactId: joined,
  feedbackId: joined,
});

export const timelineRepresentation = z.strictObject({
  runId: z.string(),
  /** In the order of their positions. */
  items: z.array(timelineEntryRepresentation),
  /** Where the next page begins; null at the end. */
  nextAfter: z.int().nullable(),
  /** With a call asked for: the links that its story lacks. */
  missing: z.array(z.string()).nullable(),
});
export type TimelineRepresentation = z.infer<typeof timelineRepresentation>;
