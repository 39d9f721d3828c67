import { z } from 'zod';
import { commandId, id, instant, reason, timestamp, verdict, words } from './fields.js';

export const policyRevision = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be the revision of a policy set')
  .describe('Names a policy set: a digest of all that its answers depend on.');

const policyFile = z.strictObject({
  name: z.string().min(1).max(255).describe('The name of the file, without a folder: `*.cedar`.'),
  text: z.string(),
});
const files = z.array(policyFile).min(1).max(500);

export const policyPreviewBody = z
  .strictObject({
    files,
    limit: z.int().min(1).max(10_000).describe('The most recorded decisions to look at; 1,000 unless told.').optional(),
    from: timestamp.describe('Decisions recorded at or after.').optional(),
    to: timestamp.describe('Decisions recorded before.').optional(),
  })
  .meta({ id: 'PolicyPreview' });
export type PolicyPreviewBody = z.infer<typeof policyPreviewBody>;

export const policyReplayBody = z
  .union([z.strictObject({ toolCallId: id }), z.strictObject({ policyDecisionId: id })])
  .meta({ id: 'PolicyReplay' });
export type PolicyReplayBody = z.infer<typeof policyReplayBody>;

export const policyShadowBody = z
  .union([
    z.strictObject({ commandId, revision: policyRevision, reason }),
    z.strictObject({ commandId, files, reason }),
  ])
  .meta({ id: 'PolicyShadowChoice' });
export type PolicyShadowBody = z.infer<typeof policyShadowBody>;

const why = words.describe('Why this set is wanted, for whoever decides. Recorded.');

export const policyActivationBody = z
  .union([
    z.strictObject({ commandId, files, reason: why }),
    z.strictObject({ commandId, folder: z.literal(true), reason: why }),
  ])
  .meta({ id: 'PolicyActivationProposal' });
export type PolicyActivationBody = z.infer<typeof policyActivationBody>;

export const policyActivationDecisionBody = z
  .strictObject({ commandId, decision: verdict, revision: policyRevision, reason })
  .meta({ id: 'PolicyActivationDecision' });
export type PolicyActivationDecisionBody = z.infer<typeof policyActivationDecisionBody>;

const policyProblem = z
  .strictObject({
    code: z.string(),
    file: z.string().nullable(),
    policyId: z.string().nullable(),
    message: z.string(),
  })
  .meta({ id: 'PolicyProblem' });

const unattendedPermit = z.strictObject({ capability: z.string(), policyId: z.string(), reason: z.string() });

const outcome = z.enum(['allow', 'deny', 'requires_confirmation']);
const side = z.strictObject({ outcome, determining: z.array(z.string()) });
const end = z
  .enum(['all', 'limit', 'time'])
  .describe('Why it ended: there is no more, as many as were asked for, or the time was up.');
const skipped = z.record(z.string(), z.int()).describe('What could not be compared, by why.');

const openActivation = z
  .strictObject({
    activationId: z.string(),
    revision: z.string(),
    basedOn: z.string().nullable(),
    author: z.string(),
    reason: z.string(),
    state: z.enum(['proposed', 'activated', 'denied', 'expired']),
    decideBy: instant,
    createdAt: instant,
  })
  .meta({ id: 'PolicyActivation' });

const shadowState = z.strictObject({
  revision: z.string(),
  state: z.enum(['starting', 'asking', 'refused']).describe('`refused`: it does not pass its check any more.'),
  setBy: z.string(),
  setAt: instant,
  dropped: z.int().describe('Decisions it was not asked about since the start of the process: too many waited.'),
  unanswered: z.int().describe('Decisions it could not be asked about, or failed on.'),
});

export const policyOverview = z
  .strictObject({
    activation: z.enum(['folder', 'approved']),
    inForce: z
      .strictObject({
        revision: z.string(),
        schemaDigest: z.string(),
        engineVersion: z.string(),
        activatedAt: instant,
        policies: z.array(
          z.strictObject({
            id: z.string(),
            tier: z.enum(['permit', 'forbid.hard', 'forbid.confirm']),
            actions: z.array(z.string()).nullable().describe('The capabilities its scope names; null: every one.'),
            reason: z.string().nullable(),
          }),
        ),
        warnings: z.array(policyProblem),
        unattended: z.array(unattendedPermit),
      })
      .nullable(),
    folderDiffers: z.boolean().nullable().describe('Whether the folder holds something else; null where it decides.'),
    shadow: shadowState.nullable(),
    activations: z.array(openActivation).describe('Open proposals, the one to be decided first first.'),
    lastRefusal: z
      .strictObject({ problems: z.array(policyProblem) })
      .nullable()
      .describe('What was wrong with the last set, where that one was refused.'),
  })
  .meta({ id: 'PolicyOverview' });
export type PolicyOverview = z.infer<typeof policyOverview>;

export const storedPolicySet = z
  .strictObject({
    revision: z.string(),
    schemaDigest: z.string(),
    engineVersion: z.string(),
    policyIds: z.array(z.string()),
    approverGroups: z.array(z.string()),
    capabilities: z.array(z.string()).describe('`name@version` of those it was checked with.'),
    files: z.array(policyFile),
    firstSeen: instant,
  })
  .meta({ id: 'StoredPolicySet' });
export type StoredPolicySet = z.infer<typeof storedPolicySet>;

export const policyPreview = z
  .strictObject({
    accepted: z.boolean(),
    revision: z.string().nullable(),
    problems: z.array(policyProblem),
    warnings: z.array(policyProblem),
    unattended: z.array(unattendedPermit),
    decisions: z.strictObject({
      looked: z.int(),
      flipped: z.int(),
      flips: z.array(
        z.strictObject({
          tenant: z.string(),
          toolCallId: z.string(),
          policyDecisionId: z.string(),
          capability: z.string(),
          phase: z.string(),
          decidedAt: instant,
          from: side,
          to: side,
        }),
      ),
      skipped,
      end,
    }),
    approvals: z.strictObject({
      looked: z.int(),
      stale: z.array(
        z.strictObject({
          tenant: z.string(),
          approvalId: z.string(),
          toolCallId: z.string(),
          capability: z.string(),
          becomes: z.enum(['asked_anew', 'allowed', 'denied']),
          determining: z.array(z.string()),
        }),
      ),
      skipped,
      end,
    }),
  })
  .meta({ id: 'PolicyPreviewReport' });
export type PolicyPreviewReport = z.infer<typeof policyPreview>;

export const policyReplayReport = z
  .strictObject({
    items: z.array(
      z.strictObject({
        policyDecisionId: z.string(),
        toolCallId: z.string(),
        decidedAt: instant,
        decided: z
          .strictObject({
            phase: z.string(),
            outcome,
            policyRevision: z.string(),
            engineVersion: z.string(),
          })
          .nullable()
          .describe('Null where the record is erased.'),
        answer: z.enum(['same', 'different', 'not_replayable']),
        reason: z.enum(['erased', 'unknown_revision', 'engine_version']).nullable(),
        differences: z.array(z.strictObject({ field: z.string(), recorded: z.unknown(), replayed: z.unknown() })),
      }),
    ),
  })
  .meta({ id: 'PolicyReplayReport' });
export type PolicyReplayReport = z.infer<typeof policyReplayReport>;

export const policyShadowReport = z
  .strictObject({
    shadow: shadowState.nullable(),
    flips: z.array(z.strictObject({ from: outcome, to: outcome, count: z.int() })).describe('Agreement included.'),
    differences: z
      .array(
        z.strictObject({
          tenant: z.string(),
          toolCallId: z.string(),
          policyDecisionId: z.string(),
          capability: z.string(),
          phase: z.string(),
          decidedAt: instant,
          from: side,
          to: side,
        }),
      )
      .describe('The newest first.'),
  })
  .meta({ id: 'PolicyShadow' });
export type PolicyShadowReport = z.infer<typeof policyShadowReport>;

export const proposedActivation = z
  .strictObject({
    commandId: z.string(),
    status: z.literal('accepted'),
    activationId: z.string().describe('The same when the same command is sent again.'),
    links: z.strictObject({ self: z.string() }),
  })
  .meta({ id: 'ProposedPolicyActivation' });
export type ProposedActivation = z.infer<typeof proposedActivation>;
