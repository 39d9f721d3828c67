import { z } from 'zod';
import { instant, reason, timestamp } from './fields.js';

const word = z.string().regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 visible ASCII characters');

/** One token, or all of a subject. */
export const revokeTokenBody = z
  .union([
    z.strictObject({ jti: word.describe('The `jti` of one token.'), reason }),
    z.strictObject({
      tenant: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be the name of a tenant'),
      sub: word.describe('A person, or an agent that acts for somebody: as tokens name them here.'),
      issuedBefore: timestamp
        .optional()
        .describe('Tokens issued from then on are good. Without it: those issued until now.'),
      reason,
    }),
  ])
  .meta({ id: 'RevokeToken' });
export type RevokeTokenBody = z.infer<typeof revokeTokenBody>;

export const revocation = z
  .strictObject({
    revocationId: z.string(),
    until: instant.describe('After it such tokens have expired by themselves.'),
  })
  .meta({ id: 'Revocation' });
export type RevocationRepresentation = z.infer<typeof revocation>;

export const revokedTokens = z
  .strictObject({
    revocationId: z.string(),
    jti: z.string().nullable(),
    tenant: z.string().nullable(),
    sub: z.string().nullable(),
    issuedBefore: instant.nullable(),
    until: instant,
    reason: z.string().nullable(),
    revokedAt: instant,
  })
  .meta({ id: 'RevokedTokens' });

export const revocationList = z.strictObject({ items: z.array(revokedTokens) });
export type RevocationListRepresentation = z.infer<typeof revocationList>;
