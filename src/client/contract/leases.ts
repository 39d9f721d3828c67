import { z } from 'zod';
import { commandId, id, instant, nextCursor, pageCursor, pageLimit, reason } from './fields.js';

export const leaseStatus = z
  .enum(['issued', 'active', 'released', 'expired', 'revoked', 'refused', 'revoking', 'revoke_failed', 'irrevocable'])
  .meta({ id: 'LeaseStatus' });

export const leaseListQuery = z.strictObject({
  status: leaseStatus.optional(),
  toolCallId: id.optional(),
  runId: id.optional(),
  limit: pageLimit,
  cursor: pageCursor,
});

export const leaseRepresentation = z
  .strictObject({
    leaseId: id,
    status: leaseStatus,
    endedAs: z.string().nullable().describe('How it ended here, while a credential of a provider may still work.'),
    reason: z.string().nullable().describe('Why it ended, or the code it was refused with.'),
    endedAt: instant.nullable(),
    kind: z.enum(['act', 'probe']).describe('For the effect, or for a read-only look-up.'),
    mode: z.enum(['inject', 'sign_on_behalf', 'token']),
    toolCallId: id,
    runId: id,
    attempt: z.int(),
    agent: z.string(),
    capability: z.string(),
    capabilityVersion: z.string(),
    scopes: z.array(z.string()),
    audience: z.string().nullable(),
    executionEnvironmentId: z.string(),
    sandboxTrustLevel: z.string(),
    networkPolicy: z.record(z.string(), z.unknown()),
    dataAccessPolicy: z.record(z.string(), z.unknown()),
    maxUses: z.int(),
    uses: z.int(),
    usedAt: instant.nullable(),
    issuedAt: instant,
    expiresAt: instant.describe('When it ends here.'),
    renewableUntil: instant,
    renewsLeaseId: id.nullable(),
    approvalId: id.nullable(),
    policyRevision: z.string().nullable(),
    kid: z.string().nullable().describe('The key that signs its token.'),
    ownerEpoch: z.int(),
    upstream: z
      .strictObject({ provider: z.string(), expiresAt: instant.nullable(), revokeTries: z.int() })
      .nullable()
      .describe('A credential that a provider made for this lease: its own end, which is not ours.'),
  })
  .meta({
    id: 'Lease',
    description: 'Who may do one act, until when. Neither its token nor a credential is ever shown.',
  });
export type LeaseRepresentation = z.infer<typeof leaseRepresentation>;

export const leasePage = z
  .strictObject({ items: z.array(leaseRepresentation), nextCursor })
  .meta({ id: 'LeasePage', description: 'Newest first.' });
export type LeasePage = z.infer<typeof leasePage>;

export const leaseRevocationBody = z.strictObject({ reason, commandId }).meta({ id: 'LeaseRevocation' });
export type LeaseRevocationBody = z.infer<typeof leaseRevocationBody>;

export const leaseSelectionBody = z
  .strictObject({
    by: z.enum(['agent', 'run', 'approval', 'capability', 'policyRevision', 'kid', 'epoch']),
    value: z.string().min(1).max(256).describe('Of `epoch`: that process and all before it.'),
    reason,
    commandId,
  })
  .refine(({ by, value }) => by !== 'epoch' || /^\d{1,15}$/.test(value), {
    path: ['value'],
    message: 'must be a number',
  })
  .meta({ id: 'LeaseSelection' });
export type LeaseSelectionBody = z.infer<typeof leaseSelectionBody>;

export const leasesRevoked = z
  .strictObject({ commandId: z.string(), revoked: z.int().describe('Leases that this command ended.') })
  .meta({ id: 'LeasesRevoked' });

export const leaseRenewalBody = z
  .strictObject({
    scopes: z.array(z.string().min(1).max(128)).min(1).max(32).optional().describe('Fewer than before, never others.'),
    token: z
      .string()
      .min(1)
      .max(8192)
      .optional()
      .describe('The token of the lease: only whoever shows it is given the next.'),
    ttlSeconds: z.int().min(1).max(300).optional().describe('Never longer than the lease that it takes the place of.'),
    commandId,
  })
  .meta({ id: 'LeaseRenewal' });
export type LeaseRenewalBody = z.infer<typeof leaseRenewalBody>;

export const leaseRenewed = z
  .strictObject({
    lease: leaseRepresentation,
    token: z
      .string()
      .nullable()
      .describe('For the environment that showed the token before (role `connector`); else null.'),
  })
  .meta({ id: 'LeaseRenewed' });
export type LeaseRenewed = z.infer<typeof leaseRenewed>;

export const leaseIntrospectionBody = z
  .strictObject({
    token: z.string().min(1).max(100_000),
    use: z.boolean().default(false).describe('True burns one use: do it once, before the effect.'),
    toolCallId: id.optional(),
    attempt: z.int().min(1).max(1_000_000).optional(),
    executionEnvironmentId: z.string().min(1).max(128).optional(),
    audience: z.string().min(1).max(256).optional(),
  })
  .meta({ id: 'LeaseIntrospection' });
export type LeaseIntrospectionBody = z.input<typeof leaseIntrospectionBody>;

export const leaseIntrospected = z
  .strictObject({
    active: z.boolean().describe('False: do nothing. Whatever else is missing then.'),
    code: z.string().optional().describe('Why it is not active.'),
    used: z.boolean().optional().describe('True: this answer is the one use that was asked for.'),
    jti: z.string().optional(),
    iss: z.string().optional(),
    aud: z.string().optional(),
    sub: z.string().optional(),
    scope: z.string().optional(),
    exp: z.int().optional(),
    txn: z.string().optional().describe('The tool call.'),
    attempt: z.int().optional(),
    capability: z.string().optional(),
    args_h: z.string().optional().describe('Digest of the arguments that the call was allowed with.'),
    usesLeft: z.int().optional(),
  })
  .meta({ id: 'LeaseIntrospected', description: 'As RFC 7662 answers.' });
export type LeaseIntrospected = z.infer<typeof leaseIntrospected>;

export const keySet = z
  .strictObject({
    keys: z.array(
      z.strictObject({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string(),
        alg: z.literal('Ed25519'),
        use: z.literal('sig'),
      }),
    ),
  })
  .meta({
    id: 'LeaseKeySet',
    description: 'RFC 7517: the key in use, the next one, and old ones while a lease needs them.',
  });
export type KeySet = z.infer<typeof keySet>;

export const leaseKeyRotationBody = z.strictObject({ commandId }).meta({ id: 'LeaseKeyRotation' });
export const leaseKeyRotated = z.strictObject({ kid: z.string(), nextKid: z.string() }).meta({ id: 'LeaseKeyRotated' });
export type LeaseKeyRotated = z.infer<typeof leaseKeyRotated>;
